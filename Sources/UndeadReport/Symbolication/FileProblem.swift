import UndeadSystem

/// Why a file could not be read.
package struct FileProblem: Error, Equatable {
  package let path: String
  /// The `errno` of the call that failed.
  package let code: Int32

  /// The system's own words for `code`.
  package var reason: String { SystemError.text(code) }
}
