import UndeadSystem

/// A snapshot that a replica wrote: a file in memory, which lives as long as this.
package final class ReplicaFile {
  package let descriptor: Int32
  /// What the library had to say, "" for nothing.
  package internal(set) var message = ""

  package init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// A name under which this process can read it, without copying.
  package var path: String { "/proc/self/fd/\(descriptor)" }
}
