import Foundation

/// Where assertions tell what fails no test: standard output stays that of the tests.
package enum StandardError {
  /// Writes the text as it is. May be called from any thread.
  package static func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
