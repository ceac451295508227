import Foundation
import Testing
import UndeadHeapSamples
import UndeadReport

@testable import UndeadHeap
@testable import UndeadHeapReport

@Suite struct HeapTextTests {
  private static func report(
    _ builder: HeapBuilder = HeapFileTests.sample(), _ change: (inout HeapReportOptions) -> Void = { _ in }
  ) throws -> HeapReport {
    var options = HeapReportOptions()
    options.foldsStorage = true
    change(&options)
    return try HeapReport(LoadedHeap(builder.file()), options: options, symbolizer: nil)
  }

  private static func text(_ subject: HeapSelection.Subject, _ builder: HeapBuilder) throws -> String {
    HeapText.render(try report(builder) { $0.subject = subject })
  }

  @Test func tableOfTypes() throws {
    var heap = HeapFileTests.sample()
    heap.addMemory(HeapFile.MemoryLine.mallocFree, "malloc", resident: 1024)
    heap.addMemory(HeapFile.MemoryLine.files, "/app/App", resident: 2048)
    heap.addMemory(HeapFile.MemoryLine.files, "/usr/lib/libc.so.6", resident: 2048)
    heap.note("a note")
    let text = HeapText.render(try Self.report(heap), rows: 3)
    #expect(
      text == """
        App (pid 42) after 1.3 s: 10 live blocks, 5.7 KB

        8.0 KB of 13.0 KB are in use, 1.0 KB are free in malloc: neither leaked nor wasted
          advice: nothing has to be done

             13.0 KB  resident memory, of which
              8.0 KB  in use: live blocks
              1.0 KB  free in malloc, and its overhead
              4.0 KB  code and data of the program and its libraries

            retained   own bytes       count  type
              4.3 KB   256 bytes           1  raw memory
              4.0 KB      4.0 KB           1  C memory (App)
              1.5 KB      1.0 KB           1  App.Cache
          ... 1 more (--top)

        note: a note

        undead: 8 objects of 4 types (1.5 KB), 2 blocks without a type (4.3 KB)

        """)
  }

  @Test func otherTables() throws {
    let report = try Self.report()
    func table(_ view: HeapView) -> [Substring] {
      let lines = HeapText.render(report, by: view).split(separator: "\n")
      return Array(lines.drop { !$0.hasPrefix("    retained ") }.prefix { !$0.hasPrefix("undead:") })
    }
    #expect(
      table(.root) == [
        "    retained      blocks  root", "      4.3 KB           2  [stack] thread 1",
        "      1.5 KB           8  [global] App.cache",
      ])
    #expect(table(.site).contains { $0.hasSuffix("C memory in App.parse() (App)") })
    #expect(table(.generation).last == "      4.7 KB      4.7 KB           8  1 warm")
    #expect(table(.module)[1] == "      5.5 KB      4.2 KB           5  App")
  }

  @Test func detailOfAType() throws {
    let text = try Self.text(.type("Session"), HeapFileTests.sample())
    #expect(
      text == """
        3 \u{D7} App.Session  (192 bytes own, 432 bytes retained)

        held by  (3 of 3, the shortest path of its shape)
            [global] App.cache
            App.Cache
              .sessions[value] \u{2192} App.Session

        referred to by
                   3  App.Cache .sessions[value]

        refers to
                   3  .name \u{2192} Swift.__StringStorage (240 bytes)
                   3  .cache \u{2192} App.Cache (weak)

        allocated
                   3  in App.make() at /app/main.swift:12

        those that retain most
           144 bytes  0x550040000450  64 bytes own, 1 strong reference
           144 bytes  0x550040000500  64 bytes own, 1 strong reference
           144 bytes  0x5500400005b0  64 bytes own, 1 strong reference

        """)
  }

  @Test func detailOfAnAddress() throws {
    var heap = HeapFileTests.sample()
    heap.setStrong(0, 3)
    let text = try Self.text(.address(0x5500_4000_0008), heap)
    #expect(
      text == """
        1 \u{D7} App.Cache  (48 bytes own, 1.5 KB retained)

        held by
            [global] App.cache
            App.Cache

        referred to by
                   1  global App.cache
                   1  stack of thread 1
                   3  App.Session .cache (weak)

        refers to
                   1  .sessions \u{2192} Swift._DictionaryStorage<Swift.String, App.Session> (1.0 KB)

        allocated
                   1  in App.make() at /app/main.swift:12

              1.5 KB  0x550040000000  48 bytes own, 3 strong references, 1 found; named by stack of thread 1

        """)
  }

  @Test func whatIsMeantByAType() throws {
    var builder = HeapBuilder()
    for name in ["App.Session", "App.SessionStore", "Other.Session", "App.Box<App.Session>"] {
      builder.global(name, holds: builder.object(name))
    }
    let heap = try LoadedHeap(builder.file())
    func names(_ pattern: String) throws -> [String] {
      try HeapSelection(heap, .type(pattern)).groups.map { heap.types.groups[$0].name }
    }
    #expect(try names("App.Session") == ["App.Session"])
    #expect(try names("Session") == ["App.Session", "Other.Session"])
    #expect(try names("Box") == ["App.Box<App.Session>"])
    #expect(try names("App.*") == ["App.Session", "App.SessionStore", "App.Box<App.Session>"])
    #expect(try names("Store") == ["App.SessionStore"])
    #expect(
      throws: HeapQuestionError.noType(
        "App.session", similar: ["App.Box<App.Session>", "App.Session", "App.SessionStore", "Other.Session"])
    ) {
      try HeapSelection(heap, .type("App.session"))
    }
    #expect(throws: HeapQuestionError.noBlock(16)) { try HeapSelection(heap, .address(16)) }
  }

  @Test func patterns() {
    #expect(HeapPattern("a*c").matches("abc") && HeapPattern("*").matches("") && HeapPattern("a*b*c").matches("axbyc"))
    #expect(!HeapPattern("ab*ba").matches("aba") && !HeapPattern("a*").matches("ba") && !HeapPattern("a").matches("ab"))
  }

  @Test func jsonHasTheKeysOfItsSchema() throws {
    let report = try Self.report { $0.subject = .type("Session") }
    let data = try report.json()
    #expect(data == (try Self.report { $0.subject = .type("Session") }.json()))
    let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(json["kind"] as? String == "heap" && json["schemaVersion"] as? Int == 1)
    func keys(_ name: String, _ object: [String: Any]) -> Set<String> {
      Set((object[name] as? [[String: Any]])?.first?.keys.map { $0 } ?? [])
    }
    let summary = try #require(json["summary"] as? [String: Any])
    #expect(
      Set(summary.keys).isSuperset(of: [
        "objects", "objectBytes", "rawBlocks", "rawBytes", "types", "residentBytes", "mallocFreeBytes",
        "pauseMilliseconds", "writeMilliseconds", "fileBytes", "complete", "notes",
      ]))
    #expect(json["takenAt"] as? String == "2023-11-14T22:13:21.750Z")
    #expect(keys("types", json).isSuperset(of: ["type", "count", "bytes", "retainedBytes"]))
    #expect(keys("sites", json).isSuperset(of: ["type", "count", "bytes", "allocation"]))
    #expect(keys("roots", json) == ["kind", "name", "retainedBytes", "count"])
    let detail = try #require(json["detail"] as? [String: Any])
    #expect(Set(detail.keys).isSuperset(of: ["type", "count", "bytes", "retainedBytes"]))
    #expect(
      keys("instances", detail).isSuperset(of: ["address", "size", "retainedBytes", "allocation", "retainPath"]))
    #expect(keys("referrers", detail) == ["type", "field", "count"])
    #expect(keys("references", detail).isSuperset(of: ["type", "field", "count", "bytes"]))
    #expect(try JSONDecoder().decode(HeapReport.self, from: data) == report)
  }

  /// A list of a hundred thousand has a path that no one reads.
  @Test func longPathsLoseTheirMiddle() throws {
    var heap = HeapBuilder()
    var last: Int?
    for _ in 0..<2000 {
      let node = heap.object("App.Node", size: 48)
      if let last { heap.link(last, "next", node) } else { heap.global("App.list", holds: node) }
      last = node
    }
    let address = heap.address(last!)
    let report = try Self.report(heap) { $0.subject = .address(address) }
    #expect(report.detail?.instances.first?.retainPath.count == 401)
    #expect(report.detail?.instances.first?.dominators.count == 30)
  }
}
