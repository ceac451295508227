import UndeadSystem

/// What the library is asked for in a replica (`undead_replica_request`).
package struct ReplicaRequest {
  package var look = Look.leaks
  package var isCore = false
  /// No filter of system calls keeps the replica from having threads.
  package var mayHaveThreads = false
  /// Of the program.
  package var pid: pid_t = 0
  package var threads: [ReplicaThread] = []
  package var maps: [UInt8] = []
  package var smaps: [UInt8] = []
  package var executable = ""
  /// Separated by blanks.
  package var arguments = ""
  /// Nanoseconds since 1970.
  package var started: UInt64 = 0
  package var taken: UInt64 = 0
  /// Words that the kernel holds for the program; nil if there may be others.
  package var held: [UInt64]?
  /// Memory that copies of a process do not get, or share with it, is in the replica as it was.
  package var isComplete = false
  /// Nanoseconds that the program stood still.
  package var paused: UInt64 = 0
  /// Where the program's files are for the replica, its own one first; empty: where the program knows them to be.
  package var files: [(path: String, place: String)] = []
  /// In seconds; then the replica is given up.
  package var limit = 120.0

  package init() {}

  static let version: UInt32 = 1
  /// Offsets in the struct.
  static let messageOffset = 112
  static let messageBytes = 512
  static let size = messageOffset + messageBytes + 32

  /// Lays the request out for the replica.
  ///
  /// - Parameters:
  ///   - address: where the bytes will lie there.
  ///   - file: the descriptor that the snapshot goes to.
  ///   - stack: what the call itself uses.
  func encoded(at address: UInt64, file: Int32, stack: Range<UInt64>) -> [UInt8] {
    var tail: [UInt8] = []
    let tailStart = UInt64(Self.size)
    func place(_ bytes: [UInt8]) -> UInt64 {
      let alignment = 64
      while (Int(tailStart) + tail.count) % alignment != 0 { tail.append(0) }
      defer { tail += bytes }
      return address + tailStart + UInt64(tail.count)
    }
    var table: [UInt8] = []
    for thread in threads {
      let state = thread.extendedState.isEmpty ? 0 : place(thread.extendedState)
      table.append(number: UInt32(bitPattern: thread.tid))
      table.append(number: UInt32(thread.isFirst ? 1 : 0) | (thread.isInSystemCall ? 2 : 0))
      withUnsafeBytes(of: thread.registers) { table += $0 }
      table.append(number: state)
      table.append(number: UInt64(thread.extendedState.count))
    }
    let threadTable = place(table)
    let mapsText = place(maps + [0])
    let smapsText = smaps.isEmpty ? 0 : place(smaps + [0])
    let executableText = place(Array(executable.utf8) + [0])
    let argumentsText = place(Array(arguments.utf8) + [0])
    let heldWords = place((held ?? []).flatMap { word in withUnsafeBytes(of: word.littleEndian, Array.init) })
    var names: [UInt8] = []
    for file in files {
      for name in [file.path, file.place] { names += Array(name.utf8) + [0] }
    }
    let fileNames = files.isEmpty ? 0 : place(names + [0])
    var head: [UInt8] = []
    head.append(number: Self.version)
    head.append(number: UInt32(Self.size))
    head.append(number: flags)
    head.append(number: UInt32(bitPattern: file))
    head.append(number: UInt32(bitPattern: pid))
    head.append(number: UInt32(threads.count))
    for value in [
      threadTable, mapsText, UInt64(maps.count), smapsText, UInt64(smaps.count), executableText, argumentsText, started,
      taken, stack.lowerBound, stack.upperBound,
    ] { head.append(number: value) }
    precondition(head.count == Self.messageOffset)
    head += [UInt8](repeating: 0, count: Self.messageBytes)
    for value in [heldWords, UInt64(held?.count ?? 0), paused, fileNames] { head.append(number: value) }
    return head + tail
  }

  private var flags: UInt32 {
    look.rawValue | (isCore ? 2 : 0) | (held == nil ? 0 : 8) | (isComplete ? 16 : 0) | (mayHaveThreads ? 32 : 0)
  }
}
