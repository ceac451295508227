import Foundation
import UndeadReport
import UndeadSystem

/// Files, sockets and pipes that a body opens and does not close.
///
/// All of the process count, so that what another thread opens meanwhile looks like one of the body's. What libdispatch and the run
/// loops open once for themselves does not count.
package struct DescriptorsLeft {
  private let before: Set<OpenDescriptor>

  package init() {
    // A run loop opens some when it is first asked for.
    _ = (RunLoop.main, RunLoop.current)
    before = Self.open()
  }

  private static func open() -> Set<OpenDescriptor> {
    #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
      Set(OpenDescriptor.links(of: "self").filter { !$0.target.hasPrefix("/memfd:undead") })
    #else
      []
    #endif
  }

  /// What is open now, and was not before.
  private func opened() -> Set<OpenDescriptor> { Self.open().subtracting(before) }

  /// A sentence for a failure, or nil; waits until everything is closed, but no longer than the time of grace.
  package func failure(after grace: Duration) -> String? {
    let opened = opened()
    if opened.isEmpty { return nil }
    return Patience.wait(grace) { opened.isDisjoint(with: Self.open()) } ? nil : failure(opened)
  }

  /// The same, while other tasks run.
  package nonisolated(nonsending) func failure(after grace: Duration) async -> String? {
    let opened = opened()
    if opened.isEmpty { return nil }
    return await Patience.wait(grace) { opened.isDisjoint(with: Self.open()) } ? nil : failure(opened)
  }

  private func failure(_ opened: Set<OpenDescriptor>) -> String? {
    #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
      let numbers = Set(opened.intersection(Self.open()).map(\.number))
      let left = OpenDescriptor.all(of: "self").filter { numbers.contains($0.number) }
      guard !left.isEmpty else { return nil }
      let lines = left.map { "\n  \(Quantity.right("\($0.number)", 4)) \($0.kind.rawValue)  \($0.target)" }
      return "\(Quantity.of(left.count, "descriptor")) left open:\(lines.prefix(Self.most).joined())"
        + (left.count > Self.most ? "\n  ... \(left.count - Self.most) more" : "")
    #else
      return nil
    #endif
  }

  private static let most = 20
}

extension AssertionSite {
  /// Fails if something that the body opens is open after it.
  package func assertNoDescriptorsLeft<Output, Failure: Error>(
    after grace: Duration, _ body: () throws(Failure) -> Output
  ) throws(Failure) -> Output {
    let descriptors = DescriptorsLeft()
    defer { if let text = descriptors.failure(after: grace) { fail(text) } }
    return try body()
  }

  /// The same for an asynchronous body.
  package nonisolated(nonsending) func assertNoDescriptorsLeft<Output, Failure: Error>(
    after grace: Duration, _ body: () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    let descriptors = DescriptorsLeft()
    let outcome = await Result(of: { () async throws(Failure) in try await body() })
    if let text = await descriptors.failure(after: grace) { fail(text) }
    return try outcome.get()
  }
}
