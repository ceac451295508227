import Foundation

/// How much of a sweep a test makes: a representative of it in `scripts/test`, all of it in `.ci/run --all` (`UNDEAD_THOROUGH=1`).
package enum Thorough {
  package static let isOn = ProcessInfo.processInfo.environment["UNDEAD_THOROUGH"] == "1"

  /// The first number, or the second one where everything is to be tried.
  package static func count(_ few: Int, of all: Int) -> Int { isOn ? all : few }
}
