import UndeadSystem

/// A function or object that the symbol table of a file names.
package struct ELFSymbol: Equatable {
  package let name: String
  /// As linked; add the load bias for the address in a process.
  package let address: UInt64
  /// In bytes; 0 if the file does not say.
  package let size: UInt64
}

extension ELFFile {
  static let sectionSymbols: UInt32 = 2
  private static let sectionDynamicSymbols: UInt32 = 11

  /// Calls `visit` with the name, type, address and size of each symbol that the file defines. A file has one table of each type;
  /// a hostile one may have any number, over the same bytes. A table whose words are not aligned, as the format has them, has none.
  ///
  /// A test bundle has hundreds of thousands, and tests are not optimised: there a loop over words takes a tenth of the time of one
  /// with calls of generic functions.
  func eachSymbol(
    inSectionsOf type: UInt32, _ visit: (_ name: UInt64, _ type: UInt8, _ address: UInt64, _ size: UInt64) -> Bool
  ) {
    guard let table = sections.first(where: { $0.type == type }), table.entrySize >= 24,
      Int(table.link) < sections.count, let start = Int(exactly: table.offset), start < file.bytes.count,
      let base = file.bytes.baseAddress, start % 8 == 0, table.entrySize % 8 == 0
    else { return }
    let strings = sections[Int(table.link)]
    // The name is 4 bytes; then there are a byte of type and binding, one that says who sees it, and the section, which takes 2.
    let words = (base + start).assumingMemoryBound(to: UInt64.self)
    let step = Int(clamping: table.entrySize / 8)
    let end = Int(clamping: min(table.size, UInt64(file.bytes.count - start)) / table.entrySize) * step
    var word = 0
    while word < end {
      let first = UInt64(littleEndian: words[word])
      let address = UInt64(littleEndian: words[word + 1])
      let size = UInt64(littleEndian: words[word + 2])
      word += step
      let name = first & 0xFFFF_FFFF
      let isDefined = first >> 48 != 0
      if isDefined, name < strings.size,
        !visit(strings.offset &+ name, UInt8(truncatingIfNeeded: first >> 32) & 0xF, address, size)
      {
        return
      }
    }
  }

  /// Which of `names` the file itself defines.
  package func defined(among names: Set<String>) -> Set<String> {
    var found: Set<String> = []
    let lengths = Set(names.map(\.utf8.count))
    // The dynamic table is the smaller one, and a stripped program has no other.
    for type in [Self.sectionDynamicSymbols, Self.sectionSymbols] where found.count < names.count {
      eachSymbol(inSectionsOf: type) { name, _, _, _ in
        if let name = file.text(at: name, lengths: lengths), names.contains(name) { found.insert(name) }
        return found.count < names.count
      }
    }
    return found
  }

  /// All functions that the file names, by address; of several at one address the longest.
  package func functions() -> ELFFunctionTable {
    var entries: [ELFFunctionTable.Entry] = []
    let function: UInt8 = 2
    let indirectFunction: UInt8 = 10
    for type in [Self.sectionSymbols, Self.sectionDynamicSymbols] where entries.isEmpty {
      eachSymbol(inSectionsOf: type) { name, type, address, size in
        if type == function || type == indirectFunction {
          entries.append(.init(address: address, size: size, name: name))
        }
        return true
      }
    }
    return ELFFunctionTable(file: file, entries: entries)
  }
}

extension ELFFile {
  /// Addresses of the functions with the given names, as far as the file has them.
  package func addresses(ofFunctions names: Set<String>) -> [String: UInt64] {
    var found: [String: UInt64] = [:]
    guard !names.isEmpty else { return found }
    let lengths = Set(names.map(\.utf8.count))
    eachSymbol(inSectionsOf: Self.sectionSymbols) { name, type, address, _ in
      if type == 2, let name = file.text(at: name, lengths: lengths), names.contains(name) { found[name] = address }
      return found.count < names.count
    }
    return found
  }
}

extension ELFFile {
  /// Most code that is searched.
  private static let mostCode: UInt64 = 256 << 20

  /// Where the code takes the address of each of `targets` (x86-64: `lea target(%rip)`).
  func places(thatLoad targets: Set<UInt64>) -> [UInt64: [UInt64]] {
    let x86: UInt16 = 62
    var found: [UInt64: [UInt64]] = [:]
    guard !targets.isEmpty, header.machine == x86 else { return found }
    for segment in segments where segment.kind == ELFSegment.Kind.load && segment.isExecutable {
      let code = file.bytes.dropFirst(Int(clamping: segment.offset)).prefix(
        Int(clamping: min(segment.fileSize, Self.mostCode)))
      guard let start = UnsafeRawBufferPointer(rebasing: code).baseAddress, code.count > 7 else { continue }
      var at = 0
      while at + 7 <= code.count, let next = memchr(start + at, 0x8D, code.count - at) {
        let opcode = UnsafeRawPointer(next) - start
        at = opcode + 1
        guard opcode > 0, opcode + 6 <= code.count,
          start.load(fromByteOffset: opcode - 1, as: UInt8.self) & 0xFB == 0x48,
          start.load(fromByteOffset: opcode + 1, as: UInt8.self) & 0xC7 == 0x05
        else { continue }
        let distance = Int64(Int32(littleEndian: start.loadUnaligned(fromByteOffset: opcode + 2, as: Int32.self)))
        let place = segment.address &+ UInt64(opcode) &- 1
        let target = place &+ 7 &+ UInt64(bitPattern: distance)
        if targets.contains(target) { found[target, default: []].append(place) }
      }
    }
    return found
  }
}

extension ELFFile {
  /// Names of functions, mangled, that hold one of `parts`.
  package func functionNames(containing parts: [String]) -> [String] {
    var names: [String] = []
    eachSymbol(inSectionsOf: Self.sectionSymbols) { name, type, _, _ in
      if type == 2, file.text(at: name, holdsOneOf: parts), let name = file.text(at: name) { names.append(name) }
      return true
    }
    return names
  }
}

/// Finds the function that contains an address.
package struct ELFFunctionTable {
  struct Entry {
    let address: UInt64
    let size: UInt64
    let name: UInt64

    func isBefore(_ other: Entry) -> Bool {
      if address != other.address { return address < other.address }
      return size != other.size ? size < other.size : other.name < name
    }
  }

  private let file: MappedFile
  private let entries: [Entry]

  init(file: MappedFile, entries: [Entry]) {
    self.file = file
    var entries = entries
    #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
      // Swift's own is generic code, which takes five times as long where it is not optimised.
      entries.withUnsafeMutableBufferPointer { entries in
        guard let first = entries.baseAddress else { return }
        qsort(first, entries.count, MemoryLayout<Entry>.stride) { first, second in
          let entry = first!.assumingMemoryBound(to: Entry.self)
          let other = second!.assumingMemoryBound(to: Entry.self)
          return entry.pointee.isBefore(other.pointee) ? -1 : other.pointee.isBefore(entry.pointee) ? 1 : 0
        }
      }
    #else
      entries.sort { $0.isBefore($1) }
    #endif
    self.entries = entries
  }

  /// The function that contains `address` (as linked), or nil if no symbol covers it.
  package func function(at address: UInt64) -> ELFSymbol? {
    let next = entries.partitioningIndex { $0.address > address }
    guard next > 0 else { return nil }
    let entry = entries[next - 1]
    // Hand-written assembly has no size: such a symbol reaches to the next one.
    guard entry.size == 0 || address - entry.address < entry.size, let name = file.text(at: entry.name), !name.isEmpty
    else { return nil }
    return ELFSymbol(name: name, address: entry.address, size: entry.size)
  }
}
