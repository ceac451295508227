import CUndead

/// UndeadXCTest, for UndeadTesting, which is not linked with it.
package enum OtherTestLibrary {
  /// True if the program has it.
  package static var isLinked: Bool { undead_has_xctest() }

  /// Fails the test of XCTest that runs, if one does.
  package static func fail(_ text: String, file: String, line: Int) {
    undead_fail_in_xctest(text, file, line)
  }
}
