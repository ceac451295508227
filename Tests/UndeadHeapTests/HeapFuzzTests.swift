import Foundation
import Testing
import UndeadHeapSamples
import UndeadReport
import UndeadTestSupport

@testable import UndeadHeap
@testable import UndeadHeapReport

/// Files of any bytes: an error that names a byte, or an answer, never a trap.
@Suite struct HeapFuzzTests {
  private static func error(_ data: Data) -> SnapshotError? {
    do throws(SnapshotError) {
      _ = try HeapFile(decoding: data).graph()
      return nil
    } catch {
      return error
    }
  }

  /// All that is ever asked of a heap.
  private static func readAll(_ data: Data) -> Bool {
    guard let file = try? HeapFile(decoding: data), let heap = try? LoadedHeap(file) else { return false }
    var options = HeapReportOptions()
    for subject in [nil, .type("*"), .type("App.Session"), .address(0x5500_4000_0000)] as [HeapSelection.Subject?] {
      options.subject = subject
      options.foldsStorage.toggle()
      guard let report = try? HeapReport(heap, options: options, symbolizer: nil) else { continue }
      for view in HeapView.allCases { _ = HeapText.render(report, by: view) }
      _ = try? report.json()
    }
    for block in 0..<heap.graph.count { _ = heap.containers.container(of: block) }
    for words in heap.graph.neighbours { _ = heap.graph.words(around: words) }
    return true
  }

  private static func sealed(_ data: Data) -> Data {
    guard data.count >= 64 else { return data }
    var data = data
    withUnsafeBytes(of: UInt64(data.count).littleEndian) { data.replaceSubrange(16..<24, with: $0) }
    let sum = data.withUnsafeBytes { SnapshotFormat.checksum($0) }
    withUnsafeBytes(of: sum.littleEndian) { data.replaceSubrange(24..<32, with: $0) }
    return data
  }

  private static let numbers: [UInt64] = [
    0, 1, 2, 0x7F, 0x80, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 47, 0x7FFF_FFFF_FFFF_FFFF, .max - 1, .max, 1 << 63,
  ]

  private static func damage(_ data: inout Data, _ random: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      let place = Int.random(in: 32..<data.count, using: &random)
      switch Int.random(in: 0...4, using: &random) {
      case 0:
        data[place] = .random(in: 0...255, using: &random)
      case 1:
        data[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
      case 2:
        // Within the section table, above all.
        let entry = 64 + Int.random(in: 0..<24, using: &random) * 8
        withUnsafeBytes(of: numbers.randomElement(using: &random)!.littleEndian) {
          data.replaceSubrange(entry..<entry + 8, with: $0)
        }
      case 3:
        let start = min(place & ~3, data.count - 4)
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: numbers.randomElement(using: &random)!).littleEndian) {
          data.replaceSubrange(start..<start + 4, with: $0)
        }
      default:
        let end = Int.random(in: 64...data.count, using: &random) & ~7
        data = data.prefix(max(end, 512))
      }
    }
  }

  @Test(arguments: 0..<UInt64(Thorough.count(1, of: 6)))
  func damagedFilesAreReadWithoutATrap(seed: UInt64) {
    let whole = HeapFileTests.sample().encoded()
    #expect(Self.readAll(whole))
    var random = SeededGenerator(seed: seed)
    var read = 0
    for _ in 0..<60 {
      var damaged = whole
      Self.damage(&damaged, &random)
      if Self.readAll(Self.sealed(damaged)) { read += 1 }
    }
    // The damage must reach what lies behind the checks of the frame.
    #expect(read > 2)
  }

  /// Damage in the graph alone, where most numbers are small.
  @Test(arguments: 0..<UInt64(Thorough.count(1, of: 6)))
  func damagedGraphsAreReadWithoutATrap(seed: UInt64) throws {
    let whole = HeapFileTests.sample().encoded()
    let sections = try whole.withUnsafeBytes { try SnapshotSections($0) }
    var random = SeededGenerator(seed: seed + 100)
    for _ in 0..<80 {
      var damaged = whole
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let kinds: [SnapshotFormat.Section] = [
          .heapGraph, .heapGraph, .heapRootEdges, .heapShapes, .heapPlaces, .heapSites, .heapRoots, .heapMemory,
        ]
        let section = sections[kinds.randomElement(using: &random)!]
        let place = section.offset + Int.random(in: 0..<section.count * section.entrySize, using: &random)
        damaged[place] =
          Bool.random(using: &random) ? .random(in: 0...20, using: &random) : .random(in: 0...255, using: &random)
      }
      _ = Self.readAll(Self.sealed(damaged))
    }
  }

  @Test func filesOfOneByteLess() {
    let whole = HeapFileTests.sample().encoded()
    for count in 0..<whole.count { #expect(Self.error(whole.prefix(count)) != nil) }
    for count in stride(from: 64, to: whole.count, by: 8) {
      #expect(Self.error(Self.sealed(whole.prefix(count))) != nil)
    }
  }

  private static func changed(_ kind: SnapshotFormat.Section, _ offset: Int, _ bytes: [UInt8]) throws -> SnapshotError?
  {
    var data = HeapFileTests.sample().encoded()
    let section = try data.withUnsafeBytes { try SnapshotSections($0) }[kind]
    data.replaceSubrange(section.offset + offset..<section.offset + offset + bytes.count, with: bytes)
    return Self.error(Self.sealed(data))
  }

  @Test func errorsNameTheByte() throws {
    let sections = try HeapFileTests.sample().encoded().withUnsafeBytes { try SnapshotSections($0) }
    let graph = sections[.heapGraph].offset
    let long = try Self.changed(.heapGraph, 0, Array(repeating: 0xFF, count: 11))
    #expect(long?.reason == .damaged && long?.byte == graph)
    let shape = try Self.changed(.heapShapes, 0, [200, 0, 0, 0])
    #expect(shape?.byte == sections[.heapShapes].offset && shape?.detail.contains("of TYPES is meant") ?? false)
    let size = try Self.changed(.heapShapes, 14, [1])
    #expect(size?.byte == sections[.heapShapes].offset + 8)
    let strength = try Self.changed(.heapPlaces, 16, [5])
    #expect(strength?.detail == "references of strength 5 are meant")
    let root = try Self.changed(.heapRootEdges, 0, [9])
    #expect(root?.byte == sections[.heapRootEdges].offset)
  }

  @Test func moreBytesThanAnAddressSpaceHas() throws {
    var heap = HeapBuilder()
    for number in 0..<1100 { _ = heap.object("App.Huge", size: 1 << 47, address: UInt64(number + 1) << 48) }
    #expect(Self.error(heap.encoded())?.detail.contains("more blocks, or bytes of them") ?? false)
  }
}
