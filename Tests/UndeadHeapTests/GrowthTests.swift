import Foundation
import Testing
import UndeadHeapSamples
import UndeadReport

@testable import UndeadHeap
@testable import UndeadHeapReport

@Suite struct GrowthTests {
  /// A server with sessions in a dictionary, each with a buffer, and a log of numbers.
  struct Server {
    var sessions = 2
    var oldSessionsGone = 0
    var log: UInt64 = 100
    var requests = 3
    var framesOfConnection = 0
    var sessionBytes: UInt64 = 4096
    /// Where the program was loaded.
    var base: UInt64 = 0x5500_0000_0000
    var pid = "42"

    func heap() throws -> LoadedHeap {
      var heap = HeapBuilder(base: base)
      heap.snapshot.setMetadata("pid", pid)
      let make: [HeapBuilder.Function] = [
        .system("swift_allocObject"), .app("App.Server.login(user: Swift.String) -> ()", "/app/Server.swift", 31),
        .app("App.main() -> ()", "/app/main.swift", 5),
      ]
      let cache = heap.object("App.Cache", size: 48)
      let server = heap.object("App.Server", size: 64)
      let storage = heap.object(
        "Swift._DictionaryStorage<Swift.String, App.Session>", size: 512 + UInt64(sessions) * 32,
        use: (UInt64(sessions), UInt64(sessions) * 2))
      heap.link(cache, "sessions", storage, type: "[Swift.String : App.Session]")
      let numbers = heap.object("Swift._ContiguousArrayStorage<Swift.Int>", size: 32 + log * 8, use: (log, log))
      heap.link(server, "log", numbers, type: "[Swift.Int]")
      heap.link(server, "cache", cache)
      let connection = heap.object("App.Connection", size: 96)
      heap.link(server, "connection", connection)
      let pending = heap.object("Swift._ContiguousArrayStorage<App.Frame>", size: 64)
      heap.link(connection, "pending", pending)
      for _ in 0..<framesOfConnection { heap.link(pending, "[]", heap.object("App.Frame", size: 48)) }
      for number in oldSessionsGone..<(oldSessionsGone + sessions) {
        let address = base + 0x8000_0000 + UInt64(number) * 0x10000
        let session = heap.object("App.Session", size: 64, address: address, at: make)
        heap.link(storage, "[value]", session)
        let buffer = heap.object(
          "Swift._ContiguousArrayStorage<Swift.UInt8>", size: sessionBytes, use: (sessionBytes, sessionBytes),
          address: address + 0x1000)
        heap.link(session, "buffer", buffer)
      }
      let requests = heap.object("Swift._ContiguousArrayStorage<App.Request>", size: 128, address: base + 0x7000_0000)
      heap.link(server, "requests", requests)
      for number in 0..<self.requests {
        heap.link(
          requests, "[]", heap.object("App.Request", size: 112, address: base + 0x7100_0000 + UInt64(number) * 128))
      }
      heap.global("App.server", holds: server)
      return try LoadedHeap(heap.file())
    }
  }

  private func diff(_ old: Server, _ new: Server) throws -> HeapDiff {
    try HeapDiff(from: old.heap(), to: new.heap(), using: nil)
  }

  private static let anotherRun = Server(base: 0x5600_0000_0000, pid: "77")

  @Test func theContainerOfWhatGrewIsTold() throws {
    let text = try HeapDiffText.render(
      diff(Server(requests: 40), Server(sessions: 1002, oldSessionsGone: 1)), options: ReportTextOptions())
    #expect(
      text == """
        The heap of App grew by 4.0 MB (14.3 KB -> 4.0 MB), +1,963 blocks
        One process, pid 42: 2,005 blocks came and 42 went.

        1. .sessions of App.Cache: +4.0 MB, +1,000 App.Session (2 -> 1,002)
                      1,001 came, 1 went
           kept by    global App.server -> App.Server .cache -> App.Cache .sessions[value] -> App.Session
           allocated  in App.Server.login(user: Swift.String) at /app/Server.swift:31
           with       +1,000 Array<Swift.UInt8> (3.9 MB), Dictionary<Swift.String, App.Session> (31.3 KB)

        LESS   App.Request: 40 -> 3, -4.0 KB

        undead: grew by 4.0 MB in 1 container

        """)
  }

  /// A block that a stray word lifts out of its owner is no container for what the other owners have.
  @Test func oneBlockThatHangsElsewhereTakesNothingAlong() throws {
    func heap(_ sessions: Int, stray: Bool) throws -> LoadedHeap {
      var heap = HeapBuilder()
      let cache = heap.object("App.Cache", size: 48)
      let storage = heap.object(
        "Swift._ContiguousArrayStorage<App.Session>", size: 32 + UInt64(sessions) * 8,
        use: (UInt64(sessions), UInt64(sessions)))
      heap.link(cache, "sessions", storage)
      for number in 0..<sessions {
        let session = heap.object("App.Session", size: 64)
        heap.link(storage, "[]", session)
        let basket = heap.object("Swift._ContiguousArrayStorage<App.Item>", size: 64, use: (1, 2))
        heap.link(session, "basket", basket)
        let item = heap.foreign(size: 4096)
        heap.link(basket, "[]", item, strength: HeapFile.Strength.raw)
        if stray, number == sessions / 2 { heap.global("stray", holds: item) }
      }
      heap.global("App.cache", holds: cache)
      return try LoadedHeap(heap.file())
    }
    let found = try HeapDiff(from: heap(100, stray: false), to: heap(1100, stray: true), using: nil)
    #expect(
      found.growth.first.map { "\($0.containerType).\($0.field) \($0.type) \($0.count)" }
        == "App.Cache.sessions App.Session 1000")
  }

  /// In another run everything has another address.
  @Test func twoRunsAreMatchedByNames() throws {
    var other = Self.anotherRun
    other.sessions = 1002
    let found = try diff(Server(), other)
    #expect(!found.sameProcess && found.turnover == nil)
    #expect(
      found.growth.map { "\($0.containerType).\($0.field) \($0.type) \($0.count)" } == [
        "App.Cache.sessions App.Session 1000"
      ])
    #expect(found.growth.first?.sites.map { $0.after.count } == [1002])
  }

  @Test func whatGrewAsSARIF() throws {
    func results(_ diff: HeapDiff) throws -> [JSONValue] {
      var options = ReportTextOptions()
      options.directory = "/app"
      let log = try JSONDecoder().decode(JSONValue.self, from: HeapDiffSARIF.render(diff, options: options))
      return log["runs"]?.elements.first?["results"]?.elements ?? []
    }
    let found = try results(diff(Server(), Server(sessions: 1002)))
    #expect(found.count == 1)
    let result = try #require(found.first)
    #expect(result["ruleId"]?.text == "growth" && result["level"]?.text == "warning")
    let text = try #require(result["message"]?["text"]?.text)
    #expect(text.hasPrefix(".sessions of App.Cache: +") && text.contains("\n   kept by    "), "\(text)")
    let name = result["locations"]?.elements[0]["logicalLocations"]?.elements[0]["fullyQualifiedName"]?.text
    #expect(name == "App.Cache.sessions")
    #expect(result["locations"]?.elements[0]["physicalLocation"]?["artifactLocation"]?["uri"] != nil)
    let steps = result["codeFlows"]?.elements[0]["threadFlows"]?.elements[0]["locations"]?.elements ?? []
    #expect(steps.last?["location"]?["message"]?["text"]?.text?.hasSuffix("\u{2192} App.Session") == true)
    let print = try #require(result["partialFingerprints"]?["undeadGrowth/v1"])
    #expect(try results(diff(Server(), Server(sessions: 50)))[0]["partialFingerprints"]?["undeadGrowth/v1"] == print)
    #expect(try results(diff(Server(), Server())).isEmpty)
  }

  @Test func numbersThatGrowAreToldByTheirElements() throws {
    let found = try diff(Server(), Server(log: 100_000))
    #expect(found.growth.count == 1)
    #expect(found.growth[0].elements == .init(before: 100, after: 100_000))
    #expect(
      HeapDiffText.render(found).contains(
        "1. .log of App.Server: +780.5 KB, Array<Swift.Int> of 100 -> 100,000 elements\n"))
  }

  /// One connection more does not explain a million frames of one of them.
  @Test func whatGrowsInsideOfOneObjectIsToldByItsField() throws {
    let found = try diff(Server(), Server(sessions: 4, framesOfConnection: 50_000))
    #expect(found.growth.map { "\($0.containerType).\($0.field)" } == ["App.Connection.pending", "App.Cache.sessions"])
    #expect(found.growth.map(\.count) == [50_000, 2])
  }

  /// As many sessions as before, with larger buffers.
  @Test func objectsThatBecameLarger() throws {
    let found = try diff(Server(sessions: 20), Server(sessions: 20, sessionBytes: 16384))
    #expect(found.growth.map { "\($0.containerType).\($0.field) \($0.count)" } == ["App.Cache.sessions 0"])
    #expect(found.growth.first?.bytes == 20 * 12288)
  }

  @Test func nothingGrows() throws {
    let found = try diff(Server(), Server())
    #expect(found.growth.isEmpty && found.types.isEmpty && found.turnover == .init(came: 0, went: 0))
    #expect(try diff(Server(), Self.anotherRun).growth.isEmpty)
    #expect(
      HeapDiffText.render(found) == """
        The heap of App is as large as before: 10.2 KB
        One process, pid 42: 0 blocks came and 0 went.
        Nothing grew.

        undead: nothing grew

        """)
  }

  @Test func typesTellContainersAndSites() throws {
    let found = try diff(Server(), Server(sessions: 12))
    let session = try #require(found.types.first { $0.type == "App.Session" })
    #expect(session.before == .init(count: 2, bytes: 128) && session.after == .init(count: 12, bytes: 768))
    #expect(session.turnover == .init(came: 10, went: 0))
    let container = try #require(session.containers.first)
    #expect(session.containers.count == 1 && container.type == "App.Cache" && container.field == "sessions")
    #expect(container.count == 10 && container.retainPath.map(\.type) == ["App.Server", "App.Cache", "App.Session"])
    #expect(session.sites.map { [$0.before.count, $0.after.count] } == [[2, 12]])
    let json = String(decoding: try JSONRenderer.encode(found), as: UTF8.self)
    #expect(json.contains("\"kind\" : \"growth\"") && json.contains("\"schemaVersion\" : 1"))
    #expect(try JSONDecoder().decode(HeapDiff.self, from: Data(json.utf8)) == found)
  }

  /// Born after a mark, a block is another one than that which was at its address before.
  @Test func generationsTellBlocksApart() throws {
    func heap(marked: Bool) throws -> LoadedHeap {
      var heap = HeapBuilder()
      let kept = heap.object("App.Item", at: [.app("App.make()")])
      if marked { heap.mark("after warm-up") }
      let other = heap.object("App.Item", at: [.app("App.make()")])
      heap.global("App.items", holds: kept, other)
      return try LoadedHeap(heap.file())
    }
    #expect(try HeapDiff(from: heap(marked: false), to: heap(marked: false), using: nil).turnover?.came == 0)
    let found = try HeapDiff(from: heap(marked: false), to: heap(marked: true), using: nil)
    #expect(found.turnover == .init(came: 1, went: 1) && found.growth.isEmpty)
  }

  /// A variable's collection and what is in it are one.
  @Test func variablesAreContainers() throws {
    func heap(_ lines: Int) throws -> LoadedHeap {
      var heap = HeapBuilder()
      let log = heap.object(
        "Swift._ContiguousArrayStorage<Swift.String>", size: UInt64(32 + lines * 16),
        use: (UInt64(lines), UInt64(lines)))
      for _ in 0..<lines { heap.link(log, "[]", heap.object("Swift.__StringStorage", size: 80, use: (40, 47))) }
      heap.global("static App.Log.lines", holds: log)
      return try LoadedHeap(heap.file())
    }
    let found = try HeapDiff(from: heap(10), to: heap(1000), using: nil)
    #expect(
      found.growth.map { "\($0.containerType) \($0.type) \($0.count) \($0.bytes)" } == [
        "static App.Log.lines Swift.__StringStorage 990 95040"
      ])
  }

  /// What a collection of Foundation holds is named by the field that has the collection, and by its own type.
  @Test func collectionsOfFoundation() throws {
    func heap(_ entries: Int) throws -> LoadedHeap {
      var heap = HeapBuilder()
      let cache = heap.object("App.Cache")
      let dictionary = heap.object("Foundation.NSMutableDictionary", size: 48)
      let storage = heap.object("Swift._DictionaryStorage<Foundation.NSObject, Swift.AnyObject>", size: 4096)
      heap.link(cache, "table", dictionary)
      heap.link(dictionary, "_storage", storage)
      for _ in 0..<entries {
        let box = heap.object("Foundation.__SwiftValue", size: 48)
        heap.link(storage, "[value]", box)
        heap.link(box, "value", heap.object("App.Entry", size: 64))
      }
      heap.global("App.cache", holds: cache)
      return try LoadedHeap(heap.file())
    }
    let found = try HeapDiff(from: heap(10), to: heap(1000), using: nil)
    #expect(
      found.growth.map { "\($0.containerType).\($0.field) \($0.type) \($0.count) \($0.bytes)" } == [
        "App.Cache.table._storage App.Entry 990 110880"
      ])
  }

  /// A list of nodes is where its first one is.
  @Test func listsAreWhereTheyBegin() throws {
    func heap(_ nodes: Int) throws -> LoadedHeap {
      var heap = HeapBuilder()
      let list = heap.object("App.List", size: 48)
      var last = list
      for number in 0..<nodes {
        let node = heap.object("App.Node", size: 48)
        heap.link(last, number == 0 ? "head" : "next", node)
        last = node
      }
      heap.global("App.list", holds: list)
      return try LoadedHeap(heap.file())
    }
    let found = try HeapDiff(from: heap(10), to: heap(1000), using: nil)
    #expect(
      found.growth.map { "\($0.containerType).\($0.field) \($0.type) \($0.count)" } == [
        "App.List.head App.Node 990"
      ])
  }

  /// In a tree each type grows because the other one does. What grew on top is reported all the same.
  @Test func treesGrowWhereTheyBegin() throws {
    func heap(_ observers: Int) throws -> LoadedHeap {
      var heap = HeapBuilder()
      func core(_ observers: Int) -> HeapBuilder.Block {
        let owner = heap.object("App.Core", size: 40)
        let storage = heap.object(
          "Swift._ContiguousArrayStorage<App.Observer>", size: 32 + UInt64(observers) * 8,
          use: (UInt64(observers), UInt64(observers)))
        heap.link(owner, "observers", storage)
        for _ in 0..<observers {
          let observer = heap.object("App.Observer", size: 32)
          heap.link(storage, "[]", observer)
          if observers > 1 { heap.link(observer, "inner", core(1)) }
        }
        return owner
      }
      heap.global("App.root", holds: core(observers))
      return try LoadedHeap(heap.file())
    }
    let found = try HeapDiff(from: heap(20), to: heap(520), using: nil)
    #expect(found.growth.map(\.type) == ["App.Observer"])
    #expect(found.growth.map(\.containerType) == ["App.Core"])
    #expect(found.growth.map(\.field) == ["observers"])
  }

  @Test func rules() throws {
    func broken(_ rule: String, _ old: Server, _ new: Server, seconds: Double? = 60) throws -> Bool {
      var found = try diff(old, new)
      found.after.process.durationSeconds = found.before.process.durationSeconds + (seconds ?? 0)
      return try found.broken(of: [GrowthRule(rule)]) != nil
    }
    let (old, new) = (Server(), Server(sessions: 102))
    #expect(try broken("any", old, new) && broken("App.Session", old, new) && broken("Session>99/min", old, new))
    #expect(try !broken("Session>100/min", old, new) && !broken("App.Request", old, new) && !broken("any", old, old))
    #expect(try broken("400KB/min", old, new) && !broken("500KB/min", old, new) && broken("App.*>0/h", old, new))
    // Less than 4 KB comes and goes.
    #expect(try !broken("any", old, Server(requests: 5)) && broken("Request", old, Server(requests: 5)))
    var other = Self.anotherRun
    other.sessions = 102
    #expect(try broken("App.Session", old, other))
    #expect(throws: GrowthRuleError.self) { try broken("Session>99/min", old, other) }
  }

  @Test func otherProgramsAndBuildsAreNoted() throws {
    func heap(_ path: String, build: String) throws -> LoadedHeap {
      var heap = HeapBuilder()
      heap.snapshot.setMetadata("path", path)
      heap.snapshot.setMetadata("pid", path + build)
      heap.snapshot.modules[0].path = path
      heap.snapshot.modules[0].buildID = build
      heap.global("App.x", holds: heap.object("App.X"))
      return try LoadedHeap(heap.file())
    }
    #expect(
      try HeapDiff(from: heap("/app/A", build: "1"), to: heap("/app/B", build: "1"), using: nil).notes == [
        "the files are of different programs, 'A' and 'B'"
      ])
    #expect(
      try HeapDiff(from: heap("/app/A", build: "1"), to: heap("/app/A", build: "2"), using: nil).notes == [
        "the files are of different builds of 'A': types and sites are matched by their names"
      ])
  }
}
