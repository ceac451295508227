import Foundation
import Testing
import UndeadHeap
import UndeadHeapSamples
import UndeadReport
import UndeadTestSupport

@testable import UndeadProfile

/// Where profiles go that other programs read; nil for nowhere.
private let profilesForOthers = ProcessInfo.processInfo.environment["UNDEAD_PROFILES"]

/// Profiles, read back and written as text: sample values, labels, then the stack from the innermost function on.
@Suite struct ProfileTests {
  private func text(_ bytes: [UInt8]) throws -> [String] {
    let profile = try ReadProfile(bytes)
    func string(_ number: Int64) -> String { profile.stringTable[Int(number)] }
    #expect(profile.stringTable.first == "")
    #expect(
      profile.sampleType.map { "\(string($0.type)) \(string($0.unit))" } == [
        "inuse_objects count", "inuse_space bytes",
      ])
    #expect(string(profile.defaultSampleType) == "inuse_space")
    #expect(
      profile.function.map(\.id)
        == Array(1...UInt64(max(1, profile.function.count))).prefix(profile.function.count).map { $0 })
    return profile.sample.map { sample in
      let labels = sample.label.map { "\(string($0.key))=\(string($0.str))" }
      let frames = sample.locationID.map { id -> String in
        let location = profile.location[Int(id) - 1]
        let lines = location.line.map { line in
          let function = profile.function[Int(line.functionID) - 1]
          return "\(string(function.name)) \(string(function.filename)):\(line.line)"
        }
        let mapping = location.mappingID == 0 ? "?" : string(profile.mapping[Int(location.mappingID) - 1].filename)
        return "\(lines.joined(separator: " <- ")) [\(mapping)]"
      }
      return "\(sample.value) \(labels.joined(separator: " ")): \(frames.joined(separator: ", "))"
    }
  }

  private func sample() -> HeapBuilder {
    var heap = HeapBuilder()
    let main = HeapBuilder.Function.app("main", "/app/main.swift", 90)
    let cache = heap.object("App.Cache", size: 64, at: [.app("App.makeCache()", "/app/Cache.swift", 21), main])
    heap.global("App.cache", holds: cache)
    for number in 0..<3 {
      if number == 1 { heap.mark("warm") }
      heap.link(
        cache, "items", heap.object("App.Item", size: 96, at: [.app("App.add()", "/app/Cache.swift", 35), main]))
    }
    let block = heap.foreign(size: 128, at: [.system("foo_alloc", "libfoo.so.1"), main])
    heap.link(cache, "c", block, strength: HeapFile.Strength.raw)
    heap.link(cache, "raw", heap.raw(size: 48), strength: HeapFile.Strength.raw)
    return heap
  }

  private func render(_ builder: HeapBuilder) throws -> [UInt8] {
    let heap = try LoadedHeap(builder.file())
    return try HeapProfile.render(heap.file, symbols: heap.file.snapshot.symbols)
  }

  @Test func heap() throws {
    let main = "main /app/main.swift:90 [/app/App]"
    #expect(
      try text(render(sample())) == [
        "[2, 192] generation=1 module=App type=App.Item: App.add() /app/Cache.swift:35 [/app/App], \(main)",
        "[1, 128] generation=1 module=libfoo.so.1 type=C memory: foo_alloc :0 [/usr/lib/libfoo.so.1], \(main)",
        "[1, 96] generation=0 module=App type=App.Item: App.add() /app/Cache.swift:35 [/app/App], \(main)",
        "[1, 64] generation=0 module=App type=App.Cache: App.makeCache() /app/Cache.swift:21 [/app/App], \(main)",
        "[1, 48] generation=1 module=unknown code type=raw memory: no backtrace was recorded :0 [?]",
      ])
  }

  /// The four values of a heap profile of Go; blocks without a sample are reported by those that have one.
  @Test func aSampledHeap() throws {
    var heap = HeapBuilder()
    heap.snapshot.setMetadata("sampleBytes", "65536")
    heap.sampleMean = 65536
    let add: [HeapBuilder.Function] = [.app("App.add()", "/app/Cache.swift", 35)]
    let cache = heap.object("App.Cache", size: 48)
    heap.global("App.cache", holds: cache)
    for number in 0..<20 {
      heap.link(cache, "items", heap.object("App.Item", size: 6904, at: number % 10 == 0 ? add : []))
    }
    heap.allocations.append(.init(stack: 0, samples: 5, objects: 50, bytes: 345_200, sampledBytes: 34_520))
    heap.allocations.append(.init(stack: Snapshot.none, samples: 1, objects: 7, bytes: 100, sampledBytes: 10))
    let file = try heap.file()
    for (view, shown) in [(ProfileView.inUse, "inuse_space"), (.allocated, "alloc_space")] {
      let bytes = HeapProfile.render(
        try AllocationSites(file), symbols: file.snapshot.symbols, options: ProfileOptions(view: view))
      let profile = try ReadProfile(bytes)
      func string(_ number: Int64) -> String { profile.stringTable[Int(number)] }
      #expect(
        profile.sampleType.map { string($0.type) } == ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"])
      #expect(profile.period == 65536 && string(profile.defaultSampleType) == shown)
      #expect(profile.sample.map(\.value) == [[0, 0, 20, 138_097], [50, 345_200, 0, 0], [7, 100, 0, 0]])
    }
  }

  @Test func inlinedFunctionsShareAPlace() throws {
    var heap = HeapBuilder()
    let block = heap.object("App.A", at: [.app("App.inner()", "/app/a.swift", 1), .app("main", "/app/a.swift", 9)])
    heap.global("App.a", holds: block)
    let address = heap.address(of: .app("App.inner()", "/app/a.swift", 1))
    heap.snapshot.symbols[address]?.append(
      Frame(symbol: "App.outer()", file: "/app/a.swift", line: 5, module: "App", offset: 0))
    #expect(
      try text(render(heap)) == [
        "[1, 32] generation=0 module=App type=App.A: "
          + "App.inner() /app/a.swift:1 <- App.outer() /app/a.swift:5 [/app/App], main /app/a.swift:9 [/app/App]"
      ])
  }

  @Test func libraries() throws {
    var heap = sample()
    heap.snapshot.modules[0].buildID = "abcdef"
    let profile = try ReadProfile(render(heap))
    let app = try #require(profile.mapping.first)
    #expect(profile.stringTable[Int(app.filename)] == "/app/App")
    #expect(profile.stringTable[Int(app.buildID)] == "abcdef")
    #expect(app.memoryStart == heap.snapshot.modules[0].low && app.memoryLimit == heap.snapshot.modules[0].high)
    #expect(app.hasFunctions && app.hasLineNumbers)
    #expect(profile.timeNanos == 1_700_000_001_750_000_000 && profile.durationNanos == 1_250_000_000)
    for location in profile.location where location.mappingID > 0 {
      let mapping = profile.mapping[Int(location.mappingID) - 1]
      #expect(mapping.memoryStart <= location.address && location.address < mapping.memoryLimit)
    }
  }

  /// For `scripts/check/profile`, which reads it with another program.
  @Test(.enabled(if: profilesForOthers != nil)) func profileForOthers() throws {
    let file = URL(filePath: try #require(profilesForOthers)).appending(path: "heap.pb")
    try Data(Gzip.compress(render(sample()))).write(to: file)
    let sites = try grown()
    let options = ProfileOptions(labels: ["service_name": "shop"])
    let delta = HeapProfile.render(from: sites.before, to: sites.after, symbols: sites.symbols, options: options)
    try Data(Gzip.compress(delta)).write(to: file.deletingLastPathComponent().appending(path: "delta.pb"))
  }

  /// Two moments of a process: an item more, and a block of C code less.
  private func grown() throws -> (before: AllocationSites, after: AllocationSites, symbols: SymbolTable) {
    let before = sample()
    var after = HeapBuilder()
    let main = HeapBuilder.Function.app("main", "/app/main.swift", 90)
    let cache = after.object("App.Cache", size: 64, at: [.app("App.makeCache()", "/app/Cache.swift", 21), main])
    after.global("App.cache", holds: cache)
    for number in 0..<4 {
      if number == 1 { after.mark("warm") }
      after.link(
        cache, "items", after.object("App.Item", size: 96, at: [.app("App.add()", "/app/Cache.swift", 35), main]))
    }
    after.link(cache, "raw", after.raw(size: 48), strength: HeapFile.Strength.raw)
    let (old, new) = (try AllocationSites(before.file()), try AllocationSites(after.file()))
    var symbols = old.symbols
    symbols.frames.merge(new.symbols.frames) { known, _ in known }
    return (old, new, symbols)
  }

  @Test func differences() throws {
    let sites = try grown()
    let lines = try text(HeapProfile.render(from: sites.before, to: sites.after, symbols: sites.symbols))
    // What is as it was is not told; what is less is negative.
    #expect(lines.count == 2, "\(lines)")
    #expect(lines.first?.hasPrefix("[1, 96] generation=1 module=App type=App.Item: App.add()") == true, "\(lines)")
    #expect(lines.last?.hasPrefix("[-1, -128] generation=1 module=libfoo.so.1 type=C memory: ") == true, "\(lines)")
  }

  @Test func labelsOfTheProcess() throws {
    let heap = try LoadedHeap(sample().file())
    let sites = try AllocationSites(heap.file)
    let options = ProfileOptions(labels: ["service_name": "shop", "type": "not this"], details: [.type])
    let lines = try text(HeapProfile.render(sites, symbols: sites.symbols, options: options))
    #expect(lines.allSatisfy { $0.contains(" service_name=shop type=") && !$0.contains("not this") })
    let bare = try text(
      HeapProfile.render(sites, symbols: sites.symbols, options: ProfileOptions(labels: ["a": "b"], details: [])))
    #expect(bare.first?.hasPrefix("[3, 288] a=b: App.add()") == true, "\(bare)")
  }

  @Test func emptyHeapAndReport() throws {
    #expect(try text(render(HeapBuilder())) == [])
    #expect(try text(ReportProfile.render(LeakReport())) == [])
  }

  @Test func sameBytesForTheSameHeap() throws {
    #expect(try render(sample()) == render(sample()))
  }

  @Test func leaksAndSuspects() throws {
    let stack = Backtrace(frames: [
      Frame(symbol: "swift_allocObject", module: "libswiftCore.so", offset: 16, system: true),
      Frame(symbol: "App.make()", file: "/app/a.swift", line: 3, module: "App", offset: 32),
    ])
    let object = LeakedObject(type: "App.Owner", address: "0x10", size: 48)
    let report = LeakReport(
      leaks: [
        Leak(
          signature: "a1", kind: .retainCycle, count: 2, objectCount: 4, totalBytes: 160, objects: [object],
          allocation: stack)
      ],
      suspects: [Suspect(kind: .timer, signature: "b1", count: 3, totalBytes: .max, objects: [object])])
    #expect(
      try text(ReportProfile.render(report)) == [
        "[3, 9223372036854775807] kind=heldByTimer signature=b1 type=App.Owner: no backtrace was recorded :0 [?]",
        "[4, 160] kind=retainCycle module=App signature=a1 type=App.Owner: "
          + "swift_allocObject :0 [libswiftCore.so], App.make() /app/a.swift:3 [App]",
      ])
  }
}
