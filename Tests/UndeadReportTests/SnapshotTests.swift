import Foundation
import Testing
import UndeadTestSupport

@testable import UndeadReport

@Suite struct SnapshotTests {
  static func sample() -> Snapshot {
    var heap = SyntheticHeap()
    let site = [SyntheticHeap.Function.system("swift_allocObject"), .app("App.make()", "/app/main.swift", 12)]
    let owner = heap.object("App.Owner", at: site)
    let child = heap.object("App.Child", at: site)
    let timer = heap.toolchain("Foundation.Timer", state: .live)
    let screen = heap.object("App.Screen", state: .suspect, at: site)
    heap.link(owner, "child", child, type: "App.Child")
    heap.link(child, "owner", owner, closure: .app("closure #1 in App.Child.start()"))
    heap.link(timer, "block", screen)
    heap.link(screen, "timer", timer)
    heap.suspect(1, screen, by: timer, root: "main run loop", path: [timer, screen])
    heap.ownerField(screen, "App.Model", "task", "Swift.Task<(), Swift.Never>")
    heap.loopItem(timer, name: "poll")
    heap.watch(screen, scope: "Detail screen", ended: site, rootKind: 5, root: "main", path: [timer, screen])
    heap.watch(owner, scope: "Detail screen")
    heap.diagnostic(
      "lateFire", "timer fired late", details: #"{"seconds":"1.5"}"#, at: site, traces: [("creation", site)])
    heap.setRunLoops(#"{"loops":[{"name":"main","fires":3,"timers":[{"name":"poll","interval":0.5}]}]}"#)
    heap.count("liveBlocks", 1000)
    heap.note("a note")
    return heap.built
  }

  /// The bytes of a file with a change after which the checksum is made right again.
  static func changed(_ data: Data, resealed: Bool = true, _ change: (inout Data) -> Void) -> Data {
    var copy = data
    change(&copy)
    guard resealed, copy.count >= 64 else { return copy }
    let checksum = copy.withUnsafeBytes { SnapshotFormat.checksum($0) }
    withUnsafeBytes(of: checksum.littleEndian) { copy.replaceSubrange(24..<32, with: $0) }
    return copy
  }

  static func error(_ data: Data) -> SnapshotError? {
    do throws(SnapshotError) {
      _ = try Snapshot(decoding: data)
      return nil
    } catch {
      return error
    }
  }

  @Test func whatIsWrittenIsRead() throws {
    let snapshot = Self.sample()
    let decoded = try Snapshot(decoding: snapshot.encoded())
    #expect(decoded.encoded() == snapshot.encoded())
    #expect(decoded.nodes == snapshot.nodes)
    #expect(decoded.edges == snapshot.edges)
    #expect(decoded.symbols == snapshot.symbols)
    #expect(decoded.metadata == snapshot.metadata)
    #expect(decoded.metadata("path") == "/app/App")
    #expect(decoded.counter("liveBlocks") == 1000)
    #expect(decoded.notes.map { decoded.strings[$0] } == ["a note"])
    #expect(decoded.watched == snapshot.watched)
    #expect(decoded.loopItems == snapshot.loopItems)
    #expect(decoded.diagnostics == snapshot.diagnostics)
    #expect(decoded.traces == snapshot.traces)
    #expect(decoded.runLoops == snapshot.runLoops)
  }

  @Test func whatLayersToldIsChecked() {
    func detail(_ change: (inout Snapshot) -> Void) -> String? {
      var snapshot = Self.sample()
      change(&snapshot)
      return Self.error(snapshot.encoded())?.detail
    }
    #expect(detail { $0.watched[0].node = 4 } == "entry 4 of NODES is meant, there are 4")
    #expect(detail { $0.watched[0].node = Snapshot.none }?.hasPrefix("entry 4294967295 of NODES") ?? false)
    #expect(detail { $0.watched[0].path = 2 } == "entry 2 of PATHS is meant, there are 2")
    #expect(detail { $0.loopItems[0].node = 9 } == "entry 9 of NODES is meant, there are 4")
    #expect(detail { $0.loopItems[0].name = 1_000_000 }?.hasPrefix("string 1000000 lies outside") ?? false)
    #expect(detail { $0.diagnostics[0].stack = 77 }?.hasPrefix("entry 77 of STACKS is meant") ?? false)
    #expect(detail { $0.traces[0].diagnostic = 1 } == "entry 1 of DIAGNOSTICS is meant, there are 1")
  }

  @Test func runLoopsThatAreNoJSONAreSaidToBe() throws {
    for text in ["{", "\u{0}", "{\"loops\":", String(repeating: "[", count: 100_000)] {
      var snapshot = Self.sample()
      snapshot.runLoops = Array(text.utf8)
      let report = LeakReport(analyzing: [ReportInput(try Snapshot(decoding: snapshot.encoded()))])
      #expect(report.runLoops == nil)
      #expect(report.summary.notes.contains("the state of the run loops is missing: it is no valid JSON"))
    }
  }

  @Test func zombiesThatAreNoJSONAreRefused() throws {
    var snapshot = Snapshot()
    snapshot.zombies.notes = ["a note that can be found"]
    var bytes = [UInt8](snapshot.encoded())
    let position = try #require(bytes.firstIndex(of: UInt8(ascii: "{")))
    bytes[position] = UInt8(ascii: "[")
    let checksum = bytes.withUnsafeBytes { SnapshotFormat.checksum($0) }
    withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(24..<32, with: $0) }
    #expect(Self.error(Data(bytes))?.detail == "the zombies are no valid JSON, or not what they should be")
  }

  @Test func headerIsAsDocumented() {
    let bytes = [UInt8](Self.sample().encoded())
    #expect(Array(bytes[0..<8]) == Array("UNDEAD\r\n".utf8))
    #expect(Array(bytes[8..<16]) == [1, 0, 0, 0, 64, 0, 0, 0])
    #expect(Array(bytes[36..<48]) == [1, 0, 0, 0, 4, 3, 2, 1, 8, 0, 0, 0])
    #expect(bytes.count % 8 == 0)
  }

  @Test func aToolCanAddFactsAndSymbols() throws {
    var snapshot = try Snapshot(decoding: Self.sample().encoded())
    snapshot.setMetadata("exitStatus", "3")
    snapshot.symbols[0x1234] = [
      Frame(symbol: "added()", module: "App", inlined: true), Frame(symbol: "b", module: "App"),
    ]
    let again = try Snapshot(decoding: snapshot.encoded())
    #expect(again.metadata("exitStatus") == "3")
    #expect(again.symbols[0x1234] == snapshot.symbols[0x1234])
  }

  @Test func addressesToLookUpAreTheBytesBeforeReturnAddresses() {
    var snapshot = Snapshot()
    snapshot.frames = [0x2000, 0x1000, 0x2000, 0]
    snapshot.nodes = [.init(address: 1, size: 1, type: Snapshot.none)]
    snapshot.edges = [.init(from: 0, to: 0, function: 0x3000)]
    #expect(snapshot.lookupAddresses == [0xfff, 0x1fff, 0x3000])
  }

  @Test func badFilesAreNamed() {
    let good = Self.sample().encoded()
    #expect(Self.error(Data())?.reason == .empty)
    #expect(Self.error(Data("\u{7f}ELF and more".utf8))?.reason == .notASnapshot)
    #expect(Self.error(good.prefix(5))?.reason == .notASnapshot)
    #expect(Self.error(good.prefix(40))?.reason == .truncated)
    #expect(Self.error(good.prefix(good.count - 8))?.reason == .truncated)
    #expect(Self.error(good + Data(count: 8))?.reason == .damaged)
    let future = Self.error(Self.changed(good) { $0[8] = 2 })
    #expect(future?.reason == .futureVersion)
    #expect(future?.description.contains("byte 8") ?? false)
    #expect(Self.error(Self.changed(good) { $0[44] = 4 })?.reason == .foreignMachine)
    #expect(Self.error(Self.changed(good) { $0[40] = 1 })?.reason == .foreignMachine)
    let flipped = Self.error(Self.changed(good, resealed: false) { $0[good.count / 2] ^= 1 })
    #expect(flipped == SnapshotError(.damaged, byte: 24, "the checksum does not match the contents"))
  }

  @Test func unreadableFileIsNamed() {
    #expect {
      try Snapshot(contentsOfFile: "/nonexistent/file.undead")
    } throws: { error in
      (error as? SnapshotError)?.reason == .unreadable
    }
  }

  @Test func sectionOutsideOfTheFileNamesTheByteOfItsEntry() {
    let good = Self.sample().encoded()
    // Offset of the first section: entry at 64, field at 8.
    let error = Self.error(Self.changed(good) { $0[64 + 8 + 7] = 0x7f })
    #expect(error?.reason == .damaged)
    #expect(error?.byte == 64 + 8)
    // A count of entries whose product overflows.
    let count = Self.error(Self.changed(good) { $0[64 + 32 + 24 + 7] = 0xff })
    #expect(count?.byte == 64 + 32 + 4)
  }

  @Test func referenceOutsideOfItsSectionNamesTheByte() throws {
    var snapshot = Self.sample()
    snapshot.edges[0].to = 1000
    let error = try #require(Self.error(snapshot.encoded()))
    #expect(error.detail == "entry 1000 of NODES is meant, there are 4")
    snapshot = Self.sample()
    snapshot.edges.reverse()
    #expect(Self.error(snapshot.encoded())?.detail == "the edges are not sorted by node and offset")
    snapshot = Self.sample()
    snapshot.stacks[0].count = .max
    #expect(Self.error(snapshot.encoded())?.detail.contains("entries of FRAMES") ?? false)
    snapshot = Self.sample()
    snapshot.types[0].name = 1_000_000
    #expect(Self.error(snapshot.encoded())?.detail.hasPrefix("string 1000000 lies outside") ?? false)
  }

  @Test func unknownSectionsAndLongerEntriesAreRead() throws {
    let good = Self.sample().encoded()
    // Kind 14, the symbols, becomes one that nobody knows.
    let sections = (0..<Int(good[32])).map { 64 + 32 * $0 }
    let symbols = try #require(sections.first { good[$0] == 14 })
    let decoded = try Snapshot(decoding: Self.changed(good) { $0[symbols] = 200 })
    #expect(decoded.symbols.frames.isEmpty)
    #expect(decoded.nodes.count == 4)
  }

  /// Changes of one to eight bytes anywhere, the checksum made right: an error or a snapshot that can be reported on.
  @Test func mutatedFilesNeverTrap() {
    let good = Self.sample().encoded()
    var random = SeededGenerator(seed: 1)
    var errors = 0
    let turns = Thorough.count(400, of: 3000)
    for _ in 0..<turns {
      let mutated = Self.changed(good) { data in
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          let place = Int.random(in: 8..<data.count, using: &random)
          data[place] =
            Bool.random(using: &random)
            ? .random(in: 0...255, using: &random) : [0, 0xff].randomElement(using: &random)!
        }
      }
      if let snapshot = try? Snapshot(decoding: mutated) {
        let report = LeakReport(analyzing: [ReportInput(snapshot)])
        #expect(TextRenderer.render(report).contains("undead: ") || !report.summary.complete)
      } else {
        errors += 1
      }
    }
    #expect(errors > turns / 6)
  }

  @Test func randomBytesAreNoSnapshot() {
    var random = SeededGenerator(seed: 2)
    for _ in 0..<1000 {
      let size = Int.random(in: 1...512, using: &random)
      var bytes = Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
      #expect(Self.error(bytes) != nil)
      if size > 8 { bytes.replaceSubrange(0..<8, with: SnapshotFormat.magic) }
      #expect(Self.error(bytes) != nil)
    }
  }

  @Test func truncationIsAlwaysNoticed() {
    let good = Self.sample().encoded()
    for length in 0..<good.count { #expect(Self.error(good.prefix(length)) != nil) }
  }

  /// A sample may have no backtrace of what is listed: that is not for lack of recording.
  @Test func aProcessIsBareUnlessItIsRecordedSinceItRan() {
    var snapshot = Snapshot()
    #expect(!snapshot.isBare)
    snapshot.setMetadata("recorded", "attach")
    #expect(snapshot.isBare)
    snapshot.setMetadata("recordedSince", "2026-01-01T00:00:00Z")
    #expect(!snapshot.isBare)
  }
}
