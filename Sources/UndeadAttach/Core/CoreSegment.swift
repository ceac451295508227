/// A piece of the program's memory in a core file.
package struct CoreSegment: Equatable, Sendable {
  package var address: UInt64
  package var size: UInt64
  /// Where its contents are in the core file, and how much of them was dumped; the rest is zero, or in the file
  /// that was mapped.
  package var offset: UInt64
  package var dumped: UInt64
  /// How much of that is in the core file: less if it was cut off.
  package var present: UInt64
  package var isReadable: Bool
  package var isWritable: Bool
  package var isExecutable: Bool

  package var end: UInt64 { address + size }
}
