/// What is known about code addresses: for each one its frames, innermost inlined first.
///
/// The key is the address that is looked up: the return address minus 1 for the frames of a backtrace, the exact
/// address for the function of a closure. `LeakSnapshot.lookupAddresses` lists all that a report needs.
package struct SymbolTable: Sendable, Equatable {
  /// Frames by looked-up address, innermost inlined first.
  package var frames: [UInt64: [LeakReport.Frame]]
  /// Which functions are tests: with it, findings are grouped by the test that made them.
  package var tests: TestCatalog?
  /// Names of what closures capture by function value, first of all, as far as debug information has them.
  package var variables: [UInt64: [String]] = [:]

  /// Makes a table of the given frames.
  package init(_ frames: [UInt64: [LeakReport.Frame]] = [:], tests: TestCatalog? = nil) {
    self.frames = frames
    self.tests = tests
  }

  /// The frames of a looked-up address; nil if nothing is known about it.
  package subscript(address: UInt64) -> [LeakReport.Frame]? {
    get { frames[address] }
    set { frames[address] = newValue }
  }
}
