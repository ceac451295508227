import Testing
import UndeadHeapSamples
import UndeadReport

@testable import UndeadHeap
@testable import UndeadHeapFile
@testable import UndeadHeapReport

@Suite struct GrowthFindingsTests {
  /// A service for a minute: sessions that nobody removes, a cache that is emptied now and then, buffers.
  private static func series(seconds: Int = 60) -> CountSeries {
    var series = CountSeries()
    for second in 0..<seconds {
      let cached = Double(second % 10 * 30)
      series.add(
        TypeCounts(
          [
            "App.Session": .init(count: 100 + 2 * Double(second), bytes: 48 * (100 + 2 * Double(second))),
            "Swift.__StringStorage": .init(count: 100 + 2 * Double(second), bytes: 2048 * (100 + 2 * Double(second))),
            "App.Cached": .init(count: cached, bytes: cached * 64), "App.Server": .init(count: 1, bytes: 96),
            "App.Slow": .init(count: 10 + Double(second / 20), bytes: 160),
          ], programTypes: ["App.Session", "App.Cached", "App.Server", "App.Slow"], pause: second == 7 ? 0.0023 : 0.001,
          duration: 0.02), at: Double(second))
    }
    return series
  }

  private static let origins = GrowthOrigins([
    "App.Session": .init(
      containers: [.init(text: "`.sessions` of `App.Cache`", count: 1200), .init(text: "stack thread 42", count: 2)],
      sites: [.init(text: "App.handle(_:) at server.swift:12", count: 1202)])
  ])

  @Test func wholeText() throws {
    let rules = try ["App.Session>100/min", "App.Cached", "1GB/h"].map { text throws in try GrowthRule(text) }
    let findings = GrowthFindings(Self.series(), rules: rules)
    #expect(
      GrowthText.render(findings, Self.origins, notes: ["the program ended after 59 s, before its time"]) == """
        undead: watched for 59 s, 60 censuses of at most 2.3 ms pause, 20 ms in all; the first 14.8 s are taken for a warm-up

          App.Session: now 218, 10.2 KB
            +120/min (120 to 120) objects
            held by `.sessions` of `App.Cache`: 1,200
            held by stack thread 42: 2
            allocated at App.handle(_:) at server.swift:12: 1,202

          String: now 218, 436.0 KB
            +120/min (120 to 120) objects
            +240.0 KB/min (240.0 KB to 240.0 KB)

        All memory: +245.6 KB/min (233.1 KB to 264.4 KB); now 719, 463.3 KB

        rule 'App.Session>100/min' is broken: App.Session
        note: the program ended after 59 s, before its time

        undead: 2 types grow, 1 of 3 rules broken

        """)
    #expect(findings.broken == [.init(text: "App.Session>100/min", types: ["App.Session"])])
  }

  @Test func wholeJSON() throws {
    var findings = GrowthFindings(Self.series(), rules: [try GrowthRule("App.Session>100/min")])
    findings.types.removeLast()
    findings.types[0].bytes.interval = -Double.infinity...1
    findings.all = nil
    let json = try GrowthJSON.render(findings, Self.origins, notes: ["one note"])
    #expect(
      String(decoding: json, as: UTF8.self) == """
        {
          "brokenRules" : [
            {
              "rule" : "App.Session>100/min",
              "types" : [
                "App.Session"
              ]
            }
          ],
          "censuses" : 60,
          "judged" : false,
          "kind" : "watch",
          "longestCensusMilliseconds" : 20,
          "longestPauseMilliseconds" : 2.3,
          "notes" : [
            "one note"
          ],
          "schemaVersion" : 1,
          "types" : [
            {
              "bytes" : 10464,
              "bytesPerHour" : {
                "grows" : false,
                "high" : 3600,
                "slope" : 345600
              },
              "containers" : [
                {
                  "count" : 1200,
                  "name" : "`.sessions` of `App.Cache`"
                },
                {
                  "count" : 2,
                  "name" : "stack thread 42"
                }
              ],
              "count" : 218,
              "countPerHour" : {
                "grows" : true,
                "high" : 7200,
                "low" : 7200,
                "slope" : 7200
              },
              "sites" : [
                {
                  "count" : 1202,
                  "name" : "App.handle(_:) at server.swift:12"
                }
              ],
              "type" : "App.Session"
            }
          ],
          "warmUpSeconds" : 14.75,
          "watchedSeconds" : 59
        }

        """)
  }

  @Test func aServiceThatOnlySwingsIsQuiet() throws {
    var series = CountSeries()
    for second in 0..<40 {
      series.add(TypeCounts(["App.A": .init(count: Double(second % 5), bytes: 64)]), at: Double(second))
    }
    let findings = GrowthFindings(series, rules: [try GrowthRule("any")])
    #expect(findings.types.isEmpty && findings.broken.isEmpty && findings.isJudged)
    #expect(
      GrowthText.render(findings, GrowthOrigins()) == """
        undead: watched for 39 s, 40 censuses; the first 9.8 s are taken for a warm-up

        All memory: no certain growth; now 4, 64 bytes

        undead: nothing grows, 0 of 1 rule broken

        """)
  }

  @Test func tooLittleIsNotJudged() throws {
    let findings = GrowthFindings(Self.series(seconds: 20), rules: [try GrowthRule("any")])
    #expect(!findings.isJudged && findings.broken.isEmpty)
    #expect(
      GrowthText.render(findings, GrowthOrigins()) == """
        undead: watched for 19 s, 20 censuses of at most 2.3 ms pause, 20 ms in all

        undead: too little was seen to judge growth: 15 censuses after the warm-up, 16 are needed; watch for longer \
        (--for) or more often (--every)

        """)
    #expect(!GrowthFindings(CountSeries()).isJudged)
  }

  /// A few objects more are no finding, however steadily they came.
  @Test func growthOfNextToNothingIsNone() {
    #expect(!GrowthFindings(Self.series()).types.map(\.name).contains("App.Slow"))
  }

  @Test func theWarmUpIsNotJudged() {
    var series = CountSeries()
    for second in 0..<60 {
      series.add(TypeCounts(["A": .init(count: Double(min(second, 30)) * 10)]), at: Double(second))
    }
    #expect(GrowthFindings(series, warmUp: 30).types.isEmpty)
    #expect(GrowthFindings(series, warmUp: 30).judged == 30)
  }

  @Test func aCensusFileIsRead() throws {
    var builder = HeapBuilder()
    let session = builder.type("App.Session", .object, true)
    let twin = builder.type("App.Session", .context, true)
    builder.census = [
      .init(type: session, count: 10, bytes: 480), .init(type: twin, count: 1, bytes: 32),
      .init(type: Snapshot.none, count: 3, bytes: 100),
    ]
    builder.snapshot.setMetadata("census", "1")
    let counts = try TypeCounts(census: HeapFile(decoding: builder.encoded()))
    #expect(
      counts.amounts == [
        "App.Session": .init(count: 11, bytes: 512), TypeCounts.untyped: .init(count: 3, bytes: 100),
        TypeCounts.all: .init(count: 14, bytes: 612),
      ])
    #expect(counts.programTypes == ["App.Session"])
    builder.snapshot.setMetadata("census", "0")
    #expect(throws: SnapshotError.self) { try TypeCounts(census: HeapFile(decoding: builder.encoded())) }
  }

  @Test func originsAreContainersAndSites() throws {
    var builder = HeapBuilder()
    let handle = HeapBuilder.Function.app("App.handle(_:)", "/app/server.swift", 12)
    let cache = builder.object("App.Cache")
    let storage = builder.object("Swift._ContiguousArrayStorage<App.Session>", kind: .object)
    builder.link(cache, "sessions", storage)
    for _ in 0..<5 {
      let session = builder.object("App.Session", at: [.system("swift_allocObject"), handle])
      builder.link(storage, "[]", session)
    }
    _ = builder.global("App.cache", holds: cache)
    let heap = try LoadedHeap(HeapFile(decoding: builder.encoded()))
    let origins = GrowthOrigins(
      of: ["App.Session", "App.Other"], in: heap, symbolizer: nil, options: ReportTextOptions())
    #expect(
      origins.origins == [
        "App.Session": .init(
          containers: [.init(text: "`.sessions` of `App.Cache`", count: 5)],
          sites: [.init(text: "App.handle(_:) at /app/server.swift:12", count: 5)], owner: "App.Cache")
      ])
  }

  /// The process grows, and what is alive does not: malloc keeps what is free.
  @Test(arguments: [true, false]) func residentMemory(_ blocksGrow: Bool) throws {
    var series = CountSeries()
    for second in 0..<60 {
      let bytes = 1e6 + (blocksGrow ? 1e5 * Double(second) : 0)
      var counts = TypeCounts(["App.Session": .init(count: 100, bytes: bytes)])
      counts.amounts[TypeCounts.resident] = .init(bytes: 1e7 + 1e5 * Double(second))
      series.add(counts, at: Double(second))
    }
    let rules = try ["resident>1MB/min", "resident>1GB/min", "resident", "1MB/h"].map { text throws in
      try GrowthRule(text)
    }
    let findings = GrowthFindings(series, rules: rules)
    #expect(findings.resident?.bytesGrow == true && findings.growsBesideBlocks == !blocksGrow)
    #expect(!findings.types.contains { $0.name == TypeCounts.resident })
    let broken = findings.broken.map(\.text)
    #expect(broken == ["resident>1MB/min", "resident"] + (blocksGrow ? ["1MB/h"] : []))
    let text = GrowthText.render(findings, GrowthOrigins([:]))
    #expect(text.contains("Resident memory: +5.7 MB/min"))
    #expect(text.contains("No block that is alive accounts for it") == !blocksGrow)
  }

  /// What each object of a growing type has grows with it: that is one cause.
  @Test func partsOfAGrowingTypeAreNoOtherCause() {
    let storage = "Swift._ContiguousArrayStorage<App.Session>"
    let origins = GrowthOrigins([
      "App.Request": .init(owner: "App.Session"), "App.Header": .init(owner: "App.Request"),
      "App.Left": .init(owner: "App.Right"), "App.Right": .init(owner: "App.Left"),
      "App.Log": .init(owner: "App.Cache"),
    ])
    let growing: Set = ["App.Session", "App.Request", "App.Header", "App.Left", "App.Right", "App.Log", storage]
    for part in ["App.Request", "App.Header", storage] {
      #expect(origins.owner(of: part, among: growing) == "App.Session")
    }
    for cause in ["App.Session", "App.Left", "App.Log"] { #expect(origins.owner(of: cause, among: growing) == nil) }
  }
}
