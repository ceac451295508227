import UndeadSystem

/// The code of a program's file (x86-64), and what the words hold that it calls through; all addresses as linked.
///
/// Not thread-safe.
package final class ELFCode {
  private let elf: ELFFile
  private lazy var functions = elf.functions()
  private lazy var references = elf.references()

  /// The code of a module of the program; nil if its file is not the one that the program ran.
  package init?(_ module: Snapshot.Module, files: (String) -> String) {
    guard module.path.hasPrefix("/"), let elf = try? ELFFile(path: files(module.path)) else { return nil }
    guard elf.header.machine == ELFHeader.Machine.x86, !module.buildID.isEmpty, elf.buildID == module.buildID else {
      return nil
    }
    self.elf = elf
  }

  /// True for a function value that is the address of code, and not that of the record of an async function.
  package func isCode(_ address: UInt64) -> Bool { elf.code(of: address) == address }

  /// The function that contains an address; nil if no symbol says where it ends.
  package func function(at address: UInt64) -> ELFSymbol? {
    functions.function(at: address).flatMap { $0.size > 0 ? $0 : nil }
  }

  /// The bytes from an address on, as far as the file has them.
  package func bytes(at address: UInt64) -> UnsafeRawBufferPointer? {
    guard let offset = elf.fileOffset(of: address), offset < UInt64(elf.file.bytes.count) else { return nil }
    return UnsafeRawBufferPointer(rebasing: elf.file.bytes[Int(offset)...])
  }

  /// What the word at an address refers to; nil if it is a number.
  package func reference(at address: UInt64) -> ELFReference? { references[address] }

  /// Addresses of the variables with names that end so, by name, demangled.
  package func variables(endingWith ends: [String], containing part: String) -> [String: UInt64] {
    elf.variables(endingWith: ends, containing: part)
  }

  /// A number in the data of the file.
  package func number(at address: UInt64) -> UInt64? {
    elf.fileOffset(of: address).flatMap { elf.file.read(UInt64.self, at: $0) }
  }
}

extension ELFFile {
  private enum Relocation {
    static let table: UInt32 = 4
    static let word: UInt32 = 1
    static let global: UInt32 = 6
    static let jump: UInt32 = 7
    static let relative: UInt32 = 8
  }

  /// By address of the word. Tables do not overlap but in a hostile file: together they have no more than the file.
  fileprivate func references() -> [UInt64: ELFReference] {
    var found: [UInt64: ELFReference] = [:]
    var left = file.bytes.count / 24
    for table in sections where table.type == Relocation.table && Int(table.link) < sections.count {
      let symbols = sections[Int(table.link)]
      for index in 0..<table.size / 24 {
        let start = table.offset &+ index &* 24
        left -= 1
        guard left >= 0, let address = file.read(UInt64.self, at: start),
          let info = file.read(UInt64.self, at: start &+ 8),
          let addend = file.read(UInt64.self, at: start &+ 16)
        else { break }
        switch UInt32(truncatingIfNeeded: info) {
        case Relocation.relative: found[address] = .address(addend)
        case Relocation.word, Relocation.global, Relocation.jump:
          found[address] = symbol(info >> 32, of: symbols).map { symbol in
            // A word of a table may refer to what lies behind the symbol: no function is there.
            symbol.address == 0 ? .name(addend == 0 ? symbol.name : "") : .address(symbol.address &+ addend)
          }
        default: break
        }
      }
    }
    return found
  }

  /// nil for one that is too long for the name of a function that is known here.
  private func shortText(at offset: UInt64) -> String? {
    file.text(at: offset, limit: offset < .max - 4096 ? offset + 4096 : .max)
  }

  private func symbol(_ index: UInt64, of table: Section) -> ELFSymbol? {
    let start = table.offset &+ index &* 24
    guard Int(table.link) < sections.count, index < table.size / 24, let name = file.read(UInt32.self, at: start),
      let address = file.read(UInt64.self, at: start &+ 8),
      let text = shortText(at: sections[Int(table.link)].offset &+ UInt64(name))
    else { return nil }
    return ELFSymbol(name: text, address: address, size: 0)
  }

  fileprivate func variables(endingWith ends: [String], containing part: String) -> [String: UInt64] {
    var found: [String: UInt64] = [:]
    let variable: UInt8 = 1
    eachSymbol(inSectionsOf: Self.sectionSymbols) { name, type, address, _ in
      if type == variable, file.text(at: name, holdsOneOf: [part]), let text = file.text(at: name),
        ends.contains(where: text.hasSuffix)
      {
        found[Demangler.readable(text)] = address
      }
      return true
    }
    return found
  }
}
