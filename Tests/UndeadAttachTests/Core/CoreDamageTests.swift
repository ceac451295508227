import Foundation
import Testing
import UndeadTestSupport

@testable import UndeadAttach

/// Damaged core files: whatever they say, they are read or refused, with bounded memory.
@Suite struct CoreDamageTests {
  private static let numbers: [UInt64] = [
    0, 1, 0xFFF, 0x1000, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 0x7FFF_FFFF_F000, 0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000, .max - 4095, .max - 7, .max,
  ]

  private static func damage(_ file: inout [UInt8], headers: Int, _ random: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      let place = Int.random(in: 4..<(Bool.random(using: &random) ? headers : file.count), using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: file[place] = .random(in: 0...255, using: &random)
      case 1: file[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2 where place + 12 < file.count:
        file.put(UInt32(truncatingIfNeeded: numbers.randomElement(using: &random)!), at: place & ~3)
      default:
        if place + 16 < file.count { file.put(numbers.randomElement(using: &random)!, at: place & ~7) }
      }
    }
    if Int.random(in: 0..<6, using: &random) == 0 { file.removeLast(Int.random(in: 0..<file.count, using: &random)) }
  }

  /// Asks for all that is ever asked; true if the file can be used.
  private static func readAll(_ path: String, _ binaries: String) -> Bool {
    do throws(AttachError) {
      let core = try CoreFile(path: path)
      for segment in core.segments.prefix(20) { _ = core.memory(at: segment.end - 8, count: 64) }
      _ = (core.executable, core.mainThread.stackPointer)
      let source = try ReplicaSource(core: core, search: BinarySearch(directories: [binaries]))
      for (one, next) in zip(source.regions, source.regions.dropFirst()) {
        #expect(one.low < one.high && one.high <= next.low && next.high <= CoreFile.userEnd)
      }
      return true
    } catch {
      #expect(!error.message.isEmpty)
      return false
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>) func areReadWithoutATrap(seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    let image = CoreFileTests.image(buildID: [1, 2, 3])
    try Data(image + image).write(to: directory.url.appending(path: "program"))
    var builder = CoreFileTests.sample()
    builder.segments[0].dumped = image
    builder.countsInSection = seed % 2 == 1
    let whole = builder.encoded()
    let path = directory.path("core")
    try Data(whole).write(to: URL(filePath: path))
    #expect(Self.readAll(path, directory.path))
    var random = SeededGenerator(seed: seed)
    var usable = 0
    for _ in 0..<1500 {
      var damaged = whole
      Self.damage(&damaged, headers: 64 + 9 * 56 + builder.notes.count, &random)
      try Data(damaged).write(to: URL(filePath: path))
      if Self.readAll(path, directory.path) { usable += 1 }
    }
    // Some damage matters, some does not: both must have been tried.
    #expect(usable > 100 && usable < 1400)
  }
}
