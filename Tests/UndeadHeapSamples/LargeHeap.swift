import Foundation
import UndeadHeap
import UndeadReport
import UndeadTestSupport

/// A heap of any size, as a server has it: a dictionary of sessions, each with a name, a buffer and a closure, and with
/// references across. About two references an object.
package enum LargeHeap {
  private static let session = 0
  private static let text = 1
  private static let buffer = 2
  private static let closure = 3

  /// The bytes of a heap file of about so many blocks, the same for the same number.
  package static func encoded(blocks: Int) -> Data {
    let sessions = max(blocks / 4, 1)
    var base = HeapBuilder()
    let types = ["App.Session", "Swift.__StringStorage", "Swift._ContiguousArrayStorage<Swift.String>", "closure"]
    let kinds: [Snapshot.Kind] = [.object, .object, .object, .context]
    let indices = zip(types, kinds).map { base.type($0, $1, $0.hasPrefix("App")) }
    let cache = base.type("App.Cache", .object, true)
    let table = base.type("Swift._DictionaryStorage<Swift.String, App.Session>", .object, false)
    let stacks = (0..<4).map { base.stack([.app("App.make\($0 as Int)()", "/app/main.swift", $0), .app("main")]) }
    let labels = ["sessions", "[value]", "name", "buffer", "handler", "peer", "captured self", "[]"]
      .map { base.intern($0) }
    let holders = [cache, table, indices[0], indices[0], indices[0], indices[0], indices[3], indices[2]]
    let sites = stacks.map { HeapFile.Site(stack: $0) }
    let sizes: [UInt64] = [48, UInt64(sessions) * 24, 64, 80, 96, 48]
    let shapes = Array(zip([cache, table] + indices, sizes))
    var graph = ByteWriter()
    graph.bytes.reserveCapacity(sessions * 64)
    graph.varint(0x5500_4000_0000 / 16)
    add(&graph, shape: 0, links: [(0, 1)])
    graph.varint(4)
    add(&graph, shape: 1, count: sessions) { (1, 1 + 4 * $0) }
    var random = SeededGenerator(seed: 1)
    for number in 0..<sessions {
      let rank = 2 + 4 * number
      let peer = 2 + 4 * Int(random.next() % UInt64(sessions))
      let other = 2 + 4 * Int(random.next() % UInt64(sessions)) + 1
      graph.varint(number == 0 ? UInt64(sessions) * 2 + 4 : 4)
      add(&graph, shape: 2, site: 1, links: [(2, 1), (3, 2), (4, 3), (5, peer - rank)])
      graph.varint(5)
      add(&graph, shape: 3, site: 2, links: [])
      graph.varint(6)
      add(&graph, shape: 4, site: 3, links: [(7, other - (rank + 2))])
      graph.varint(7)
      add(&graph, shape: 5, site: 4, links: [(6, -3)])
    }
    var entries = (shapes: ByteWriter(), sites: ByteWriter(), places: ByteWriter(), roots: ByteWriter())
    for (type, size) in shapes {
      entries.shapes.u32(type, HeapFile.Shape.reached)
      entries.shapes.u64(size)
    }
    for site in sites { entries.sites.u32(site.stack, 0, 0, 0) }
    for (number, label) in labels.enumerated() {
      let strength = number == 6 ? HeapFile.Strength.none : HeapFile.Strength.counted
      entries.places.u32(holders[number], 16, label, 0, strength, number == 1 || number == 7 ? 1 : 0)
      entries.places.u64(0)
    }
    entries.roots.u32(HeapFile.Root.global, base.intern("App.cache"))
    entries.roots.u64(0x9000)
    entries.roots.u32(0, 0)
    var edges = ByteWriter()
    edges.zigzag(0)
    edges.varint(0)
    base.count("heapBlocks", UInt64(2 + 4 * sessions))
    base.count("heapEdges", UInt64(1 + 7 * sessions))
    base.count("heapRootEdges", 1)
    var snapshot = base.snapshot
    snapshot.strings = base.strings.table
    return snapshot.encoded(with: [
      (.heapGraph, graph.bytes), (.heapShapes, entries.shapes.bytes), (.heapSites, entries.sites.bytes),
      (.heapPlaces, entries.places.bytes), (.heapRoots, entries.roots.bytes), (.heapRootEdges, edges.bytes),
    ])
  }

  private static func add(
    _ writer: inout ByteWriter, shape: UInt64, site: UInt64 = 0, links: [(place: UInt64, distance: Int)]
  ) {
    writer.varint(shape)
    writer.varint(site)
    writer.varint(UInt64(links.count))
    for link in links {
      writer.varint(link.place)
      writer.zigzag(link.distance)
    }
  }

  private static func add(
    _ writer: inout ByteWriter, shape: UInt64, count: Int, _ link: (Int) -> (place: UInt64, distance: Int)
  ) {
    writer.varint(shape)
    writer.varint(0)
    writer.varint(UInt64(count))
    for number in 0..<count {
      writer.varint(link(number).place)
      writer.zigzag(link(number).distance)
    }
  }
}
