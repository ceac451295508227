import UndeadSystem

/// A thread of the program, as it stood.
package struct ReplicaThread {
  package var tid: pid_t
  package var isFirst: Bool
  package var isInSystemCall: Bool
  package var registers: Registers
  /// XSAVE area, standard format; empty: none.
  package var extendedState: [UInt8]
}
