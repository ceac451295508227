import UndeadReport

/// How much was alive at one moment, by type.
package struct TypeCounts: Sendable, Equatable {
  /// A number of blocks and their bytes.
  package struct Amount: Sendable, Equatable {
    package var count: Double
    package var bytes: Double

    package init(count: Double = 0, bytes: Double = 0) {
      self.count = count
      self.bytes = bytes
    }
  }

  /// By the names that reports give types.
  package var amounts: [String: Amount]
  /// Names of types that the program declares.
  package var programTypes: Set<String>
  /// What the program was held up for, and how long it all took, in seconds.
  package var pause: Double
  package var duration: Double

  /// The line for all that is alive.
  package static let all = "all memory"
  /// The line for the resident memory of the process, where it is known; it has no count.
  package static let resident = "resident memory"
  /// The lines for its open files and its threads; they have no bytes.
  package static let descriptors = "open descriptors"
  package static let threads = "threads"
  /// Lines of the process, and not of a type.
  package static let ofProcess: Set = [resident, descriptors, threads]
  /// The line for what has no type: memory of C code, and raw memory of Swift code.
  package static let untyped = "memory without a type"

  /// Counts made by hand; the line for all of it is added.
  package init(_ amounts: [String: Amount], programTypes: Set<String> = [], pause: Double = 0, duration: Double = 0) {
    self.amounts = amounts
    self.programTypes = programTypes
    self.pause = pause
    self.duration = duration
    self.amounts[Self.all] = amounts.values.reduce(into: Amount()) { sum, amount in
      sum.count += amount.count
      sum.bytes += amount.bytes
    }
  }

  /// The counts in a census file.
  ///
  /// - Throws: `SnapshotError` if it is none.
  package init(census file: HeapFile) throws(SnapshotError) {
    guard file.isCensus else {
      throw SnapshotError(.damaged, byte: 0, "it is no census; the program may run with another version of the library")
    }
    let types = HeapTypes(file)
    var amounts: [String: Amount] = [:]
    for line in file.census {
      let name =
        line.type == Snapshot.none ? Self.untyped : types.groups[Int(types.groupOfType[Int(line.type)])].name
      amounts[name, default: Amount()].count += Double(line.count)
      amounts[name, default: Amount()].bytes += Double(line.bytes)
    }
    let programTypes = Set(types.groups.lazy.filter(\.isOfProgram).map(\.name))
    self.init(
      amounts, programTypes: programTypes, pause: Double(file.snapshot.counter("pauseNanoseconds")) / 1e9,
      duration: Double(file.snapshot.counter("scanNanoseconds")) / 1e9)
  }
}
