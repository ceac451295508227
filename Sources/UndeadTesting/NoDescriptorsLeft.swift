import Testing
import Undead

/// Records an issue if files, sockets or pipes that the body opens are open after it.
///
/// ```swift
/// assertNoDescriptorsLeft { _ = try? loadCatalog(at: path) }
/// ```
///
/// The issue names each descriptor with its kind and path, or with the two ends of its connection. All descriptors of the process
/// count: what another test opens meanwhile is one of them, so run it in a `.serialized` suite, or where no other test opens files.
///
/// - Parameters:
///   - grace: how long closing may take; only a failing check waits so long.
///   - comment: shown with the failure.
///   - sourceLocation: where the failure is recorded, by default the line of the call.
///   - body: the code to check.
/// - Returns: what the body returns.
/// - Throws: what the body throws.
@discardableResult
public func assertNoDescriptorsLeft<Output, Failure: Error>(
  after grace: Duration = defaultGrace, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws(Failure) -> Output
) throws(Failure) -> Output {
  try Site(location: sourceLocation, comment: comment).assertNoDescriptorsLeft(after: grace, body)
}

/// Records an issue if what the asynchronous body opens is open after it; as the synchronous one.
@discardableResult @_disfavoredOverload
public nonisolated(nonsending) func assertNoDescriptorsLeft<Output, Failure: Error>(
  after grace: Duration = defaultGrace, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  try await Site(location: sourceLocation, comment: comment).assertNoDescriptorsLeft(after: grace, body)
}

/// Records an issue for files, sockets and pipes that a test, or a test of a suite, leaves open.
///
/// ```swift
/// @Test(.noDescriptorsLeft) func clientCloses() async throws { ... }
/// ```
///
/// Tests with this trait run one at a time; other tests may still open files meanwhile.
public struct NoDescriptorsLeftTrait: TestTrait, SuiteTrait, TestScoping {
  /// True: the trait of a suite is one of all tests in it.
  public var isRecursive: Bool { true }

  /// Runs a case of a test and checks it.
  ///
  /// - Throws: what the test throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    // A test with the trait in a suite with the trait needs it once.
    if CheckedDescriptors.isRunning { return try await function() }
    let site = Site(location: test.sourceLocation)
    await CheckedDescriptors.turn.take()
    let outcome = await Result(of: { () async throws(any Error) in
      try await CheckedDescriptors.$isRunning.withValue(true) {
        try await site.assertNoDescriptorsLeft(after: defaultGrace, function)
      }
    })
    await CheckedDescriptors.turn.giveBack()
    try outcome.get()
  }
}

extension Trait where Self == NoDescriptorsLeftTrait {
  /// Records an issue for files, sockets and pipes that a test, or a test of a suite, leaves open.
  public static var noDescriptorsLeft: NoDescriptorsLeftTrait { NoDescriptorsLeftTrait() }
}

private enum CheckedDescriptors {
  @TaskLocal static var isRunning = false
  static let turn = Turn()

  /// One test at a time.
  actor Turn {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async {
      guard isTaken else {
        isTaken = true
        return
      }
      await withCheckedContinuation { waiting.append($0) }
    }

    func giveBack() {
      guard !waiting.isEmpty else {
        isTaken = false
        return
      }
      waiting.removeFirst().resume()
    }
  }
}
