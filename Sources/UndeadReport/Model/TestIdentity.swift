extension LeakReport {
  /// A test, as its library names it.
  package struct TestIdentity: Codable, Sendable, Hashable {
    /// The function: `testLoads` with XCTest, `loads(from:)` with Swift Testing.
    package var name: String
    /// The type that it belongs to, with its module; the module for a function outside of a type.
    package var suite: String
    /// The library's module: `XCTest` or `Testing`.
    package var library: String
    /// Source file of the test, if it is known.
    package var file: String?
    /// Line in `file` where the test is at when it makes what leaks, from 1; each leak of a test has its own.
    package var line: Int?

    /// Makes an identity; see the properties for the meaning of each part.
    package init(name: String, suite: String, library: String, file: String? = nil, line: Int? = nil) {
      self.name = name
      self.suite = suite
      self.library = library
      self.file = file
      self.line = line
    }

    /// Suite and function, as `swift test --filter` writes them.
    package var fullName: String { "\(suite)/\(name)" }

    /// The name of what belongs to no test alone, but to the initialiser of the suite.
    static let initializer = "init"

    /// Orders places in one test.
    func precedes(_ other: TestIdentity) -> Bool { (file ?? "", line ?? 0) < (other.file ?? "", other.line ?? 0) }
  }
}
