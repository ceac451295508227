/// Why a file could not be read as a zombie log: what is wrong, and at which byte.
package struct ZombieLogError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Where in the file, in bytes from its start.
  package var byte: Int
  /// What is wrong there.
  package var detail: String

  package var description: String {
    "the log of zombies is damaged at byte \(byte): \(detail); run the program again"
  }
}
