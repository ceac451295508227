import Foundation
import UndeadSystem

/// Where assertions tell what fails no test: standard output stays that of the tests.
package enum StandardError {
  /// Writes lines, in which names are made visible. May be called from any thread.
  package static func write(_ text: String) {
    FileHandle.standardError.write(Data(VisibleText.lines(text).utf8))
  }
}
