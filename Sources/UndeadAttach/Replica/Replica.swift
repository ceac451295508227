// What a replica is asked for, and what it answers: a copy of a program's memory in a process that nobody needs, in which the library
// runs as in the program itself.
import UndeadSystem

extension [UInt8] {
  mutating func append<Number: FixedWidthInteger>(number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
