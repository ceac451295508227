import Glibc

/// What waitpid(2) reported of a thread.
package struct WaitStatus: Equatable, CustomStringConvertible {
  package let bits: Int32

  package var hasEnded: Bool { bits & 0x7F != 0x7F }
  package var isStopped: Bool { bits & 0xFF == 0x7F }
  package var signal: Int32 { bits >> 8 & 0x7F }
  package var event: Int32 { bits >> 16 & 0xFFFF }
  package var isSystemCall: Bool { isStopped && bits >> 8 & 0xFF == SIGTRAP | 0x80 }
  /// True in a stop that a signal for the program made, which is to be delivered later.
  package var holdsSignal: Bool { isStopped && event == 0 && !isSystemCall }

  package var description: String {
    if bits & 0x7F == 0 { return "exited with status \(bits >> 8 & 0xFF)" }
    if hasEnded { return "ended by signal \(bits & 0x7F)" }
    return event == 0 ? "stopped by signal \(signal)" : "stopped by event \(event)"
  }
}
