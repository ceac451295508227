import Foundation
import Testing
import UndeadTestSupport

@testable import UndeadReport
@testable import UndeadTool

/// Programs and libraries whose files were damaged: whatever they say, their readers end with what can be known.
@Suite struct DamagedFileTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  /// Reads all that is ever read of a file.
  private func readAll(_ path: String) throws {
    guard let file = try ELFFile(path: path) else { return }
    _ = (file.interpreter, file.neededLibraries, file.buildID, file.isStaticProgram)
    let functions = file.functions()
    for address in [0, 0x1000, 0x1130, 0x4000, .max] as [UInt64] {
      _ = (functions.function(at: address), file.code(of: address))
    }
    _ = file.defined(among: ["main", "malloc"])
    _ = file.addresses(ofFunctions: ["main"])
    _ = file.functionNames(containing: ["ma"])
    _ = try? Preflight(program: path, preloaded: "")
  }

  /// Numbers that are wrong in ways that matter: at the ends of their range, or just a little off.
  private static let numbers: [UInt64] = [
    0, 1, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 0x7FFF_FFFF_FFFF_FFFF, .max - 1, .max, .max - 7, 1 << 63,
  ]

  private static func damage(_ file: inout Data, _ random: inout SeededGenerator) {
    // Most of what is read is at both ends: the headers, the dynamic section, the section table.
    let places = [16..<64, 64..<1024, max(64, file.count - 2500)..<file.count, 16..<file.count]
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      let place = Int.random(in: places.randomElement(using: &random)!, using: &random)
      guard Bool.random(using: &random) else {
        file[place] = .random(in: 0...255, using: &random)
        continue
      }
      let start = place & ~7
      withUnsafeBytes(of: numbers.randomElement(using: &random)!.littleEndian) { bytes in
        for (offset, byte) in bytes.enumerated() where start + offset < file.count { file[start + offset] = byte }
      }
    }
  }

  @Test(arguments: 0..<4)
  func areReadWithoutATrap(seed: UInt64) throws {
    try sandbox.compile("int main() { return 0; }", to: "whole", "-g")
    let whole = try Data(contentsOf: sandbox.directory.appending(path: "whole"))
    try readAll(sandbox.path("whole"))
    var random = SeededGenerator(seed: seed)
    for round in 0..<Thorough.count(60, of: 250) {
      var damaged = whole
      Self.damage(&damaged, &random)
      if round % 3 == 0 { damaged = damaged.prefix(Int.random(in: 0..<damaged.count, using: &random)) }
      try damaged.write(to: sandbox.directory.appending(path: "damaged"))
      try readAll(sandbox.path("damaged"))
    }
  }

  /// A table that is said to lie at the end of the address space.
  @Test(arguments: numbers)
  func tablesThatLieNowhere(place: UInt64) throws {
    try sandbox.compile("int main() { return 0; }", to: "whole")
    let whole = try Data(contentsOf: sandbox.directory.appending(path: "whole"))
    for field in [32, 40] {
      var file = whole
      withUnsafeBytes(of: place.littleEndian) { file.replaceSubrange(field..<field + 8, with: $0) }
      try file.write(to: sandbox.directory.appending(path: "damaged"))
      try readAll(sandbox.path("damaged"))
    }
  }

  @Test func suppressionsOfAnyBytes() {
    var random = SeededGenerator(seed: 5)
    let words = [
      "leak:", "type:", "field:", "module:", "*", "**", "?", "#", " ", "\n", "\r\n", "a", ":", "\u{0}", "é", "[", "\\",
    ]
    for _ in 0..<2000 {
      let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in words.randomElement(using: &random)! }.joined()
      var suppressions = Suppressions()
      try? suppressions.add(text, file: "file")
      var report = LeakReport(leaks: [Leak(signature: "0", kind: .unreferenced, totalBytes: 1)])
      report.apply(ReportOptions(suppressions: suppressions))
    }
  }

  /// Each of its sections is a table of symbols that takes the whole file: read one by one they would take hours.
  @Test(.timeLimit(.minutes(5))) func fileOfManySymbolTables() throws {
    let count = 60_000
    var words = [UInt64](repeating: 0, count: 8 + 8 * count)
    (words[0], words[1]) = (0x0001_0102_464C_457F, 0)  // 64 bits, little end first
    words[2] = 3 | 62 << 16 | 1 << 32  // a library for x86-64
    words[5] = 64  // where the sections are
    words[7] = 64 << 16 | UInt64(count) << 32
    words[6] = 64 << 32
    for section in 0..<count {
      words[8 + 8 * section] = 2 << 32  // symbols
      words[8 + 8 * section + 4] = UInt64(words.count * 8)
      words[8 + 8 * section + 7] = 24
    }
    try words.withUnsafeBytes { Data($0) }.write(to: sandbox.directory.appending(path: "tables"))
    let file = try #require(try ELFFile(path: sandbox.path("tables")))
    _ = file.defined(among: ["main"])
    #expect(file.functions().function(at: 0x1000) == nil)
  }
}
