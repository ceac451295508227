import Foundation
import Testing
import UndeadHeapSamples
import UndeadHostileSamples
import UndeadSystem

@testable import UndeadHeap
@testable import UndeadPage
@testable import UndeadReport

/// The page of a heap.
@Suite struct HeapPageTests {
  private func data(_ page: String) throws -> JSONValue {
    let start = try #require(page.firstRange(of: "id=\"data\">"))
    let end = try #require(page[start.upperBound...].firstRange(of: "</script>"))
    return try JSONDecoder().decode(JSONValue.self, from: Data(page[start.upperBound..<end.lowerBound].utf8))
  }

  private func lists(_ value: JSONValue?) -> [[Int]] {
    (value?.elements ?? []).map { $0.elements.map { Int($0.double ?? .nan) } }
  }

  @Test func tablesStandInThePageItself() throws {
    let page = try SampleHeap.page()
    _ = try StrictHTML(page)
    try Golden.expect(Golden.content(page), "heap.html")
  }

  @Test func dataOfTheScript() throws {
    let page = try SampleHeap.page()
    let start = try #require(page.firstRange(of: "id=\"data\">"))
    let end = try #require(page[start.upperBound...].firstRange(of: "</script>"))
    try Golden.expect(String(page[start.upperBound..<end.lowerBound]) + "\n", "heap.json")
  }

  /// Every number leads somewhere: the script does not ask.
  @Test func numbersOfTheDataLeadSomewhere() throws {
    let data = try data(SampleHeap.page())
    let texts = data["texts"]?.elements.count ?? 0
    let (frames, stacks, paths) = (lists(data["frames"]), lists(data["stacks"]), lists(data["paths"]))
    let details = data["details"]?.elements ?? []
    #expect(frames.allSatisfy { $0.count == 4 && $0.prefix(3).allSatisfy { $0 < texts } })
    #expect(stacks.allSatisfy { $0.allSatisfy { $0 < frames.count } })
    #expect(paths.allSatisfy { $0.count % 2 == 1 && $0.allSatisfy { $0 < texts } })
    for row in lists(data["types"]) + lists(data["folded"]) { #expect(row[0] < texts && row[4] < details.count) }
    for (number, node) in lists(data["tree"]).enumerated() {
      #expect(node[0] < texts && node[1] < texts && node[5] < number)
    }
    for detail in details {
      for instance in detail["instances"]?.elements ?? [] {
        let values = instance.elements
        #expect(Int(values[3].double ?? -1) < paths.count && Int(values[4].double ?? 0) < stacks.count)
      }
      for site in lists(detail["sites"]) { #expect(site[0] < stacks.count) }
      for way in lists(detail["ways"]) { #expect(way[0] < paths.count) }
    }
  }

  @Test(arguments: ["</script><script>alert(1)</script>", "<!--", "\"", "\\", "a\u{2028}b\u{0}", "\u{202E}x"])
  func namesAreNoMarkup(_ text: String) throws {
    var heap = HeapBuilder()
    let block = heap.object(
      "App.\(text)", isOfProgram: true, at: [.app(text, text, 1), .app("main", "/app/main.swift", 1)])
    let other = heap.object("App.Other")
    heap.link(block, text, other, type: text)
    heap.global(text, holds: block)
    let page = try SampleHeap.page(heap)
    let markup = try StrictHTML(page)
    #expect(markup.elements.count { $0.name == "script" } == 3)
    #expect(!page.unicodeScalars.contains { $0 != "\n" && VisibleText.isHidden($0) })
    _ = try data(page)
  }

  @Test func whatIsWorthALook() throws {
    var builder = HeapBuilder()
    let cache = builder.object("App.Cache")
    builder.global("App.cache", holds: cache)
    let storage = builder.object(
      "Swift._ContiguousArrayStorage<App.Item>", size: 8 << 20, use: (used: 3, capacity: 1 << 20),
      at: [.app("App.Cache.fill()", "/app/Cache.swift", 7)])
    builder.link(cache, "items", storage, type: "Swift.Array<App.Item>")
    let page = try SampleHeap.page(builder)
    let elements = try StrictHTML(page).elements
    #expect(elements.contains { $0.attributes["id"] == "finding-1" })
    #expect(page.contains("<h2>Worth a look"))
    #expect(page.contains("<code>.items</code> of <code>App.Cache</code>"))
    #expect(page.contains("Cache.swift:7"))
  }

  /// Each has a table of its own, which a heap without them does not have.
  @Test func tasksAndOpenFiles() throws {
    var builder = HeapBuilder()
    let server = builder.object("App.<Server>", size: 48, at: [.app("App.open()", "/app/Server.swift", 7)])
    let task = builder.object("Task", size: 320, kind: .task, isOfProgram: false, strong: 1)
    builder.link(server, "task", task)
    builder.global("App.server", holds: server)
    let stack = builder.stack([.app("App.Server.run()", "/app/Server.swift", 21)])
    builder.tasks = [HeapFile.Task(address: builder.address(task), stack: stack, dependency: .continuation)]
    builder.holders = [(server, 3, "fd")]
    let file = try builder.file()
    file.resources = ProcessResources(
      descriptors: [
        .init(number: 3, kind: .file, target: "/tmp/<a>"), .init(number: 4, kind: .file, target: "/tmp/b"),
      ], threads: [])
    let heap = try LoadedHeap(file)
    let page = HeapPage.render(heap, symbols: HeapSymbols(heap, nil))
    let elements = try StrictHTML(page).elements
    for id in ["tasks", "descriptors"] { #expect(elements.count { $0.attributes["id"] == id } == 1) }
    #expect(page.contains("Server.swift:21"))
    #expect(page.contains("wait for a continuation to be resumed"))
    #expect(page.contains("3: /tmp/&lt;a&gt;") && page.contains("App.&lt;Server&gt;</span><span class=\"field\">.fd"))
    #expect(page.contains("4: /tmp/b") && page.contains("nobody: no object"))
    let without = try SampleHeap.page(HeapBuilder())
    #expect(!without.contains("id=\"tasks\"") && !without.contains("id=\"descriptors\""))
  }

  @Test func emptyHeap() throws {
    let page = try SampleHeap.page(HeapBuilder())
    _ = try StrictHTML(page)
    #expect(lists(try data(page)["tree"]).count == 1)
  }

  // MARK: The folded tree

  private func tree(_ builder: HeapBuilder, limit: Int = 3000) throws -> FoldedTree {
    let heap = try SampleHeap.heap(builder)
    return FoldedTree(heap, HeapKinds(heap), limit: limit)
  }

  @Test func whatLooksAlikeIsOne() throws {
    let nodes = try tree(SampleHeap.builder()).nodes
    let texts = nodes.map { node in
      "\(node.parent) \(node.field) \(node.count) \(node.name) \(node.bytes) \(node.retained)"
    }
    #expect(
      texts == [
        "-1  0 memory 0 6256", "0  0 stacks of threads 0 4592", "1  1 App.Queue 48 4592", "2 first 5 App.Job 320 4544",
        "3 pool 1 raw memory 4096 4224", "4 +16 1 C memory (libfoo.so.1) 128 128", "0  0 global App.cache 0 1664",
        "6  1 App.Cache 64 1664",
        "7 sessions 1 Swift._DictionaryStorage<Swift.String, App.Session> 1024 1600",
        "8 [value] 4 App.Session 384 576", "9 id 4 Swift.__StringStorage 192 192",
      ])
  }

  @Test func listsOfAnyLengthAreOneNode() throws {
    let nodes = try tree(SampleHeap.builder(jobs: 5000)).nodes
    #expect(nodes.first { $0.name == "App.Job" }?.count == 5000)
    #expect(nodes.count == 11)
  }

  @Test func theNumberOfNodesIsBounded() throws {
    var heap = HeapBuilder()
    let owner = heap.object("App.Owner")
    heap.global("App.owner", holds: owner)
    for number in 0..<500 { heap.link(owner, "f\(number)", heap.object("App.T\(number)")) }
    let nodes = try tree(heap, limit: 50).nodes
    #expect(nodes.count <= 51)
    let children = nodes.filter { $0.parent == 2 }
    #expect(children.last?.isRest == true)
    #expect(children.map(\.retained).reduce(0, +) == 500 * 32)
  }

  @Test func childrenRetainNoMoreThanTheirParents() throws {
    let nodes = try tree(SampleHeap.builder(sessions: 50, jobs: 50)).nodes
    for (number, node) in nodes.enumerated() {
      let sum = nodes.filter { $0.parent == number }.map(\.retained).reduce(0, +)
      #expect(sum <= node.retained)
    }
  }

  // MARK: Details

  @Test func detailsOfAType() throws {
    let heap = try SampleHeap.heap()
    let details = TypeDetails(heap, HeapKinds(heap))
    let session = try #require(details.details.first { details.name($0.kind) == "App.Session" })
    #expect(session.instances.count == 4)
    #expect(session.sites.map(\.count) == [4])
    #expect(session.ways.map(\.count) == [4])
    #expect(
      session.referrers == [
        .init(
          kind: "Swift._DictionaryStorage<Swift.String, App.Session>", field: "[value]", count: 4, bytes: 384)
      ])
    #expect(session.references == [.init(kind: "Swift.__StringStorage", field: "id", count: 4, bytes: 192)])
    let way = HeapWay(heap, to: session.ways[0].example)
    #expect(way.root.kind == "global" && way.root.name == "App.cache")
    #expect(way.steps == [.init(type: "App.Cache", field: "sessions[value]")] && way.end == "App.Session")
  }

  @Test func instancesThatRetainMostComeFirst() throws {
    var builder = HeapBuilder()
    let owner = builder.object("App.Owner")
    builder.global("App.owner", holds: owner)
    for number in 0..<40 {
      let item = builder.object("App.Item")
      builder.link(owner, "[]", item)
      builder.link(item, "data", builder.object("App.Data", size: UInt64(16 * (1 + number * 7 % 40))))
    }
    let heap = try SampleHeap.heap(builder)
    let details = TypeDetails(heap, HeapKinds(heap))
    let item = try #require(details.details.first { details.name($0.kind) == "App.Item" })
    let retained = item.instances.map { heap.dominators.retained[$0] }
    #expect(retained == [672, 656, 640, 624, 608, 592, 576, 560, 544, 528])
  }
}
