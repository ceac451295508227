import UndeadSystem

/// What a replica is made of if none can be forked from the program: its memory, piece by piece, and its threads.
package struct ReplicaSource {
  /// Where the contents of a piece of memory come from.
  package enum Contents {
    /// Nothing was ever written to it, or it may not be accessed.
    case zero
    /// A file, from `offset` on; zero beyond its end.
    case file(BackingFile, offset: UInt64)
    /// What `read` gives, which is asked for parts of it: it fills the buffer from an address on, and returns how much.
    case reader((_ address: UInt64, _ buffer: UnsafeMutableRawBufferPointer) -> Int)
  }

  /// A piece of memory.
  package struct Region {
    package var low: UInt64
    package var high: UInt64
    /// `PROT_READ` and so on.
    package var protection: Int32
    package var contents: Contents
  }

  /// In address order; they do not overlap.
  package var regions: [Region]
  /// The program's main thread comes first.
  package var threads: [ReplicaThread]
  /// Of the program.
  package var maps: MemoryMap
  package var pid: pid_t
  /// The program's files: as it knew them, and where they are. Its own one comes first.
  package var files: [(path: String, place: String)]
  package var executable: String
  package var arguments: String
  /// Where the kernel's library (vdso) was; its functions are replaced by system calls.
  package var vdso: UInt64?
  /// Nanoseconds since 1970 when this was the memory of the program.
  package var taken: UInt64
  package var notes: [String]
}

/// A file that memory comes from.
package final class BackingFile: Sendable {
  let input: CoreInput
  init(_ input: CoreInput) { self.input = input }
}
