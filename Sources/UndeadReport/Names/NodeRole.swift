/// How much a block says to the programmer.
package enum NodeRole: UInt8, Sendable {
  /// An object of a type that the program declares.
  case program
  /// An object of the toolchain.
  case toolchain
  case task
  /// Element storage of an array, set or dictionary.
  case storage
  /// A closure context or the box of a captured variable.
  case context
  /// The box of an indirect enum payload, existential or error.
  case box
  /// Raw memory, or a block of C code.
  case memory

  /// False for what the compiler makes between two objects: it is folded into the reference.
  package var isVisible: Bool { self == .program || self == .toolchain || self == .task }

  /// An object of the program, or what it has: no library keeps it among its records.
  package var isOfProgram: Bool { self == .program || self == .context || self == .box || self == .storage }

  /// False for memory that no reference count keeps alive.
  var isCounted: Bool { self != .memory }
}
