import Foundation

/// What becomes of a text of an assertion.
package enum AssertionOutcome: String {
  /// Fails the running test.
  case failure
  /// Something that may be a mistake in the program; fails no test.
  case warning
  /// Something about the check itself; fails no test.
  case note
}
