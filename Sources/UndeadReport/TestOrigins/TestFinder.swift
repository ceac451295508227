/// Finds the test that made what leaked, from the functions that took part.
struct TestFinder {
  let catalog: TestCatalog

  /// The test on a stack: its function, or a closure or task inside of it.
  func test(in backtrace: Backtrace) -> TestIdentity? {
    // A test that calls another one is the outer one.
    for (number, frame) in backtrace.frames.enumerated().reversed() where !frame.system {
      let outer = backtrace.frames[(number + 1)...]
      if let test = test(frame, outer: outer) {
        return test.line == nil ? located(test, in: backtrace.frames[..<number]) : test
      }
    }
    return nil
  }

  /// The same test with a line, if one of the frames inside of it has one.
  private func located(_ test: TestIdentity, in frames: ArraySlice<Frame>) -> TestIdentity {
    let function = "\(test.suite).\(test.name)"
    let place = frames.last { frame in
      frame.line != nil && FunctionName(frame.symbol).qualified.hasPrefix(function)
    }
    return place.map { TestIdentity(name: test.name, suite: test.suite, library: test.library, at: $0) } ?? test
  }

  /// The test that a frame belongs to, such as the function of a closure, without the stack around it.
  func test(of frame: Frame) -> TestIdentity? {
    test(frame, outer: [])
  }

  private func test(_ frame: Frame, outer: ArraySlice<Frame>) -> TestIdentity? {
    let function = FunctionName(frame.symbol)
    guard !function.arguments.isEmpty, let name = function.path.last else { return nil }
    let (base, arguments) = (function.scope, function.arguments)
    let suite = function.path.dropLast().joined(separator: ".")
    guard !suite.isEmpty else { return nil }
    if catalog.functions.contains(base) || outer.first.flatMap({ TestCatalog.expandedTest(in: $0.symbol) }) == base {
      return TestIdentity(name: name + arguments, suite: suite, library: "Testing", at: frame)
    }
    if let test = test(inInitializer: name, arguments, of: suite, at: frame) { return test }
    guard suite.contains("."), isXCTest(name, arguments, module: suite.prefix { $0 != "." }, outer: outer) else {
      return nil
    }
    return TestIdentity(name: name, suite: suite, library: "XCTest", at: frame)
  }

  /// What a suite makes before its tests: it is made anew for each of them.
  private func test(
    inInitializer name: String, _ arguments: String, of suite: String, at frame: Frame
  ) -> TestIdentity? {
    guard name == "init" || name == "__allocating_init" else { return nil }
    // The initialiser that XCTest calls.
    if arguments.hasPrefix("(name:testClosure:)") {
      return TestIdentity(name: TestIdentity.initializer, suite: suite, library: "XCTest", at: frame)
    }
    guard catalog.suites.contains(suite) else { return nil }
    return TestIdentity(name: TestIdentity.initializer, suite: suite, library: "Testing", at: frame)
  }

  private static let fixtures: Set<String> = ["setUp", "setUpWithError", "tearDown", "tearDownWithError"]

  private func isXCTest(
    _ name: String, _ arguments: String, module: Substring, outer: ArraySlice<Frame>
  ) -> Bool {
    guard name.hasPrefix("test") || Self.fixtures.contains(name), arguments == "()" else { return false }
    if outer.contains(where: { $0.module.hasPrefix("libXCTest") }) { return true }
    // Asynchronous ones: the test library is on no stack.
    return catalog.modules.contains(String(module)) || (catalog.modules.isEmpty && module.hasSuffix("Tests"))
  }

  // MARK: Names

  /// The function that a frame is in, with module and type; that around a closure, too.
  static func qualifiedFunction(of frame: Frame) -> String {
    FunctionName(frame.symbol).qualified
  }
}

extension TestFinder {
  /// The test of a finding, by its stacks first, then by the closures on its way.
  func test(stacks: [Backtrace], references: [Reference]) -> TestIdentity? {
    for stack in stacks {
      if let test = test(in: stack) { return test }
    }
    for closure in references.lazy.compactMap(\.closure) {
      if let test = test(of: closure) { return test }
    }
    return nil
  }
}

extension TestIdentity {
  fileprivate init(name: String, suite: String, library: String, at frame: Frame) {
    // Optimised code of a test may carry the place of the code that SwiftPM generated to call it.
    let isGenerated = frame.file?.contains(".derived/") ?? false
    self.init(
      name: name, suite: suite, library: library, file: isGenerated ? nil : frame.file,
      line: isGenerated ? nil : frame.line)
  }
}
