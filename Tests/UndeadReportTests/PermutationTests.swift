import Foundation
import Testing
import UndeadTestSupport

@testable import UndeadReport

/// The report on a heap must not depend on where its blocks lie, nor on the order in which they were found.
@Suite struct PermutationTests {
  /// Where the same heap would lie in another run.
  static func permuted(_ snapshot: Snapshot, _ random: inout SeededGenerator) -> Snapshot {
    var result = snapshot
    let order = snapshot.nodes.indices.shuffled(using: &random)
    var place = [UInt32](repeating: 0, count: order.count)
    for (new, old) in order.enumerated() { place[old] = UInt32(new) }
    let addresses = order.map { _ in UInt64.random(in: 1...1 << 43, using: &random) << 4 }.sorted()
    result.nodes = order.enumerated().map { new, old in
      var node = snapshot.nodes[old]
      node.address = addresses[new]
      return node
    }
    // What a hashed collection holds comes in another order in every run.
    var offsets: [UInt32: [UInt32]] = [:]
    for edge in snapshot.edges { offsets[edge.from, default: []].append(edge.offset) }
    for node in offsets.keys.sorted() { offsets[node]?.shuffle(using: &random) }
    let edges = snapshot.edges.map { edge in
      var edge = edge
      edge.offset = offsets[edge.from]?.popLast() ?? 0
      (edge.from, edge.to) = (place[Int(edge.from)], place[Int(edge.to)])
      return edge
    }
    let sorted = edges.enumerated().sorted {
      ($0.element.from, $0.element.offset) < ($1.element.from, $1.element.offset)
    }
    result.edges = sorted.map(\.element)
    var edgePlace = [UInt32](repeating: 0, count: edges.count)
    for (new, old) in sorted.enumerated() { edgePlace[old.offset] = UInt32(new) }
    result.steps = snapshot.steps.map { edgePlace[Int($0)] }
    for index in result.paths.indices {
      result.paths[index].firstNode = place[Int(result.paths[index].firstNode)]
      result.paths[index].endNode = place[Int(result.paths[index].endNode)]
    }
    for index in result.suspects.indices {
      result.suspects[index].node = place[Int(result.suspects[index].node)]
      let mechanism = result.suspects[index].mechanism
      if mechanism != Snapshot.none { result.suspects[index].mechanism = place[Int(mechanism)] }
    }
    result.suspects.shuffle(using: &random)
    return result
  }

  /// The findings in order, without the addresses in them.
  static func findings(_ snapshot: Snapshot, details: Bool) -> [String] {
    let report = LeakReport(analyzing: [ReportInput(snapshot)])
    let leaks = report.leaks.map { leak in
      var leak = leak
      for object in leak.objects.indices { leak.objects[object].address = "" }
      // What hangs off one leak of a group may look otherwise than with the next one.
      return details ? "\(leak)" : "\(leak.signature) \(leak.count) \(leak.totalBytes) \(leak.cycle ?? [])"
    }
    let suspects = report.suspects.map { suspect in
      var suspect = suspect
      for object in suspect.objects.indices { suspect.objects[object].address = "" }
      return "\(suspect)"
    }
    return leaks + suspects
  }

  static func check(_ snapshot: Snapshot, _ random: inout SeededGenerator, times: Int = 3, details: Bool = true) {
    let expected = findings(snapshot, details: details)
    for _ in 0..<times {
      let found = findings(permuted(snapshot, &random), details: details)
      if let wrong = zip(found, expected).first(where: { $0 != $1 }) {
        let same = wrong.0.commonPrefix(with: wrong.1).count
        Issue.record("\(wrong.0.dropFirst(same - 60).prefix(200)) instead of \(wrong.1.dropFirst(same).prefix(140))")
      }
      #expect(found.count == expected.count)
    }
  }

  private static let sites = [Scenario.site("App.first()", 1), Scenario.site("App.second()", 2)]
  private static let closures = [Scenario.closure("App.first()", 3), Scenario.closure("App.second()", 4)]

  /// Few types, fields, functions and closures, so that much looks alike.
  static func heap(_ random: inout SeededGenerator, nodes count: Int, edges: Int) -> SyntheticHeap {
    var heap = SyntheticHeap()
    let nodes = (0..<count).map { _ in
      let site = sites.randomElement(using: &random)!
      return switch Int.random(in: 0..<6, using: &random) {
      case 0: heap.context()
      case 1: heap.toolchain("Swift._DictionaryStorage<Swift.Int, App.B>", at: site)
      case 2: heap.node("", kind: .other, state: .support, at: site)
      case 3: heap.object("App.B", size: 48, at: site)
      default: heap.object("App.A", size: 32, at: site)
      }
    }
    for _ in 0..<edges {
      let isClosure = Int.random(in: 0..<4, using: &random) == 0
      heap.link(
        nodes.randomElement(using: &random)!, ["next", "owner", "items"].randomElement(using: &random)!,
        nodes.randomElement(using: &random)!, closure: isClosure ? closures.randomElement(using: &random)! : nil)
    }
    return heap
  }

  @Test(arguments: 0..<Thorough.count(40, of: 120))
  func smallHeaps(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let count = Int.random(in: 1...12, using: &random)
    let edges = Int.random(in: 0...(2 * count), using: &random)
    Self.check(Self.heap(&random, nodes: count, edges: edges).built, &random)
  }

  /// In components of that size the search cannot start from each node.
  @Test(arguments: 0..<Thorough.count(2, of: 6))
  func hugeComponents(seed: Int) {
    var random = SeededGenerator(seed: UInt64(1000 + seed))
    Self.check(Self.heap(&random, nodes: 800, edges: 1300).built, &random, times: 2, details: false)
  }

  /// Two objects of one type that different functions made hold each other by equal fields.
  @Test func twoObjectsOfOneType() {
    var random = SeededGenerator(seed: 7)
    var heap = SyntheticHeap()
    let nodes = Self.sites.map { heap.object("App.Node", at: $0) }
    heap.link(nodes[0], "other", nodes[1])
    heap.link(nodes[1], "other", nodes[0])
    Self.check(heap.built, &random, times: 10)
  }

  /// An object that holds several closures which capture it, in a dictionary: its order changes with each run.
  @Test func closuresInADictionary() {
    var random = SeededGenerator(seed: 8)
    var heap = SyntheticHeap()
    let owner = heap.object("App.Owner", at: Self.sites[0])
    let storage = heap.toolchain("Swift._DictionaryStorage<Swift.String, () -> ()>")
    heap.link(owner, "handlers", storage)
    for line in 1...4 {
      let closure = SyntheticHeap.Function.app("closure #\(line) in App.Owner.start()", "/app/main.swift", line)
      heap.link(storage, "[value]", owner, closure: closure)
    }
    Self.check(heap.built, &random, times: 10)
  }

  /// Two leaks hold a third object: to which of them it belongs must not change.
  @Test func whatTwoLeaksHold() {
    var random = SeededGenerator(seed: 9)
    var heap = SyntheticHeap()
    let roots = [heap.object("App.A", at: Self.sites[0]), heap.object("App.B", at: Self.sites[1])]
    let shared = heap.object("App.Shared", size: 4096)
    for root in roots { heap.link(root, "shared", shared) }
    Self.check(heap.built, &random, times: 10)
  }

  /// Calls of one line from several places of the code: the same one is reported whenever a snapshot is shown.
  @Test func placesOfOneLine() {
    var heap = SyntheticHeap()
    let places = (0..<8).map { SyntheticHeap.Function.app("App.make()", "/app/main.swift", 100 + $0) }
    for place in places { _ = heap.object("App.A", at: [place]) }
    var snapshot = heap.built
    for (address, found) in snapshot.symbols.frames {
      snapshot.symbols[address] = found.map {
        Frame(symbol: $0.symbol, file: $0.file, line: 7, module: $0.module, offset: $0.offset)
      }
    }
    let reports = (0..<30).map { _ in LeakReport(analyzing: [ReportInput(snapshot)]) }
    #expect(reports[0].leaks.map(\.count) == [8])
    #expect(reports.allSatisfy { $0 == reports[0] })
  }

  @Test func suspects() {
    var random = SeededGenerator(seed: 10)
    Self.check(Scenario.suspects().built, &random, times: 10)
    Self.check(Scenario.cyclesOfFrames().built, &random, times: 10)
  }
}
