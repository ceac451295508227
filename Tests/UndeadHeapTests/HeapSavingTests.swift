import Foundation
import Testing
import UndeadHeapSamples
import UndeadReport
import UndeadSystem

@testable import UndeadHeap
@testable import UndeadHeapFile
@testable import UndeadHeapReport

@Suite struct HeapSavingTests {
  /// Without a symbolizer: the files that the samples name are not there.
  private static let nothing = Symbolizer { _ in nil }

  private func withDirectory(_ body: (String) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: directory) }
    try body(directory.path)
  }

  @Test func namesAndFactsAreAdded() throws {
    try withDirectory { directory in
      var heap = HeapFileTests.sample()
      let names = heap.snapshot.symbols
      heap.snapshot.symbols = SymbolTable()
      try heap.encoded().write(to: URL(filePath: "\(directory)/raw"))
      try HeapFile.save(
        "\(directory)/raw", to: "\(directory)/saved", metadata: [("exitStatus", "3"), ("pid", "43")],
        using: Self.nothing)
      let saved = try HeapFile(path: "\(directory)/saved")
      #expect(saved.snapshot.metadata("exitStatus") == "3" && saved.snapshot.metadata("pid") == "43")
      #expect(saved.snapshot.metadata.filter { $0.key == "pid" }.count == 1)
      #expect(Set(saved.snapshot.symbols.frames.keys) == Set(names.frames.keys))
      let (old, new) = (try HeapFile(path: "\(directory)/raw").graph(), try saved.graph())
      #expect(Array(old.targets) == Array(new.targets) && Array(old.addresses) == Array(new.addresses))
      #expect(saved.places == old.file.places && saved.memory == old.file.memory)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == ["raw", "saved"])
    }
  }

  /// What a process had beside memory goes into the copy; the objects that have it are in the heap.
  @Test func descriptorsAndThreads() throws {
    try withDirectory { directory in
      var heap = HeapBuilder()
      let connection = heap.object("App.Connection")
      let source = heap.foreign(size: 96)
      heap.global("App.connection", holds: connection, source)
      heap.holders = [(source, 5, "source of libdispatch"), (connection, 5, "fd"), (connection, 9, "other")]
      let kept = heap.object("App.Kept", size: 4096)
      heap.root(HeapFile.Root.stack, "stack of thread 2", thread: 12, holds: [kept])
      heap.threadStacks = [.init(thread: 12, frames: Snapshot.none, resident: 8192, reserved: 1 << 20)]
      try heap.encoded().write(to: URL(filePath: "\(directory)/raw"))
      let resources = ProcessResources(
        descriptors: [
          .init(number: 4, kind: .pipe, target: "pipe:[1]"), .init(number: 5, kind: .socket, target: "TCP a \u{1B}[0m"),
        ], threads: [.init(id: 11, name: "App"), .init(id: 12, name: "worker")])
      try HeapFile.save("\(directory)/raw", to: "\(directory)/saved", resources: resources, using: Self.nothing)
      let file = try HeapFile(path: "\(directory)/saved")
      #expect(file.resources == resources)
      let report = try HeapReport(LoadedHeap(file), symbolizer: nil)
      #expect(report.descriptors?.map(\.type) == [nil, "App.Connection"])
      #expect(report.descriptors?.last?.field == "fd")
      #expect(report.descriptors?.last?.retainPath.first?.root?.name == "App.connection")
      #expect(report.threads?.map(\.name) == ["worker", "App"])
      let worker = try #require(report.threads?.first)
      #expect(worker.retainedBytes == 4096 && worker.residentBytes == 8192 && worker.stackBytes == 1 << 20)
      let text = HeapText.render(report, by: .descriptor)
      #expect(text.contains("1 \u{D7} pipe  nobody") && text.contains("socket  App.Connection.fd"))
      #expect(!text.contains("\u{1B}"))
      #expect(HeapText.render(report, by: .thread).contains("12 worker"))
      // What is not in the heap, or was not asked for, is not guessed.
      #expect(try HeapReport(LoadedHeap(HeapFile(path: "\(directory)/raw")), symbolizer: nil).descriptors == nil)
      let diff = try HeapDiff(
        from: LoadedHeap(HeapFile(path: "\(directory)/saved")), to: LoadedHeap(file), using: nil)
      #expect(diff.resources.isEmpty)
    }
  }

  /// A record of libdispatch is shown by the object that has its source, if there is one, and one only.
  @Test(arguments: [1, 2]) func ownersOfSources(_ count: Int) throws {
    try withDirectory { directory in
      var heap = HeapBuilder()
      let record = heap.foreign(size: 96)
      let source = heap.object("dispatch source", size: 120, kind: .other, isOfProgram: false)
      let wrapper = heap.object("Dispatch.DispatchSource")
      heap.link(source, "refs", record, strength: HeapFile.Strength.raw)
      heap.link(wrapper, "__wrapped", source, strength: HeapFile.Strength.raw)
      for number in 0..<count {
        let server = heap.object("App.Server")
        heap.link(server, "readSource", wrapper)
        heap.global("App.server\(number)", holds: server)
      }
      heap.holders = [(record, 5, "source of libdispatch")]
      try heap.encoded().write(to: URL(filePath: "\(directory)/raw"))
      let resources = ProcessResources(descriptors: [.init(number: 5, kind: .pipe, target: "pipe:[1]")], threads: [])
      try HeapFile.save("\(directory)/raw", to: "\(directory)/saved", resources: resources, using: Self.nothing)
      let row = try #require(
        HeapReport(LoadedHeap(HeapFile(path: "\(directory)/saved")), symbolizer: nil).descriptors?.first)
      #expect(row.type == (count == 1 ? "App.Server" : "source of libdispatch"))
      #expect(row.field == (count == 1 ? "readSource" : nil))
      #expect(row.retainPath.first?.root?.name.hasPrefix("App.server") == true)
    }
  }

  @Test func knownNamesStay() throws {
    try withDirectory { directory in
      let heap = HeapFileTests.sample()
      try heap.encoded().write(to: URL(filePath: "\(directory)/heap"))
      #expect(try HeapFile.save("\(directory)/heap", to: "\(directory)/heap", using: Self.nothing) == [])
      #expect(try HeapFile(path: "\(directory)/heap").snapshot.symbols == heap.snapshot.symbols)
    }
  }

  @Test func sectionsThatAreNotKnownStay() throws {
    try withDirectory { directory in
      var data = HeapFileTests.sample().encoded()
      // The kind of the last section of the table becomes one of a later version.
      let count = Int(data[32])
      data[64 + 32 * (count - 1)] = 99
      let sum = data.withUnsafeBytes { SnapshotFormat.checksum($0) }
      withUnsafeBytes(of: sum.littleEndian) { data.replaceSubrange(24..<32, with: $0) }
      try data.write(to: URL(filePath: "\(directory)/heap"))
      try HeapFile.save("\(directory)/heap", to: "\(directory)/heap", using: Self.nothing)
      let saved = try Data(contentsOf: URL(filePath: "\(directory)/heap"))
      #expect((0..<Int(saved[32])).contains { saved[64 + 32 * $0] == 99 })
      _ = try HeapFile(path: "\(directory)/heap").graph()
    }
  }

  @Test func aFullDiskLeavesNothing() throws {
    try withDirectory { directory in
      try HeapFileTests.sample().encoded().write(to: URL(filePath: "\(directory)/heap"))
      #expect(throws: HeapSavingError.unwritable(path: "/dev/full", code: ENOSPC)) {
        try HeapFile.save("\(directory)/heap", to: "/dev/full", using: nil)
      }
      #expect(throws: HeapSavingError.unwritable(path: "\(directory)/none/heap", code: ENOENT)) {
        try HeapFile.save("\(directory)/heap", to: "\(directory)/none/heap", using: nil)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["heap"])
    }
  }

  @Test func aLinkStaysALink() throws {
    try withDirectory { directory in
      try HeapFileTests.sample().encoded().write(to: URL(filePath: "\(directory)/heap"))
      try Data().write(to: URL(filePath: "\(directory)/target"))
      try FileManager.default.createSymbolicLink(atPath: "\(directory)/link", withDestinationPath: "target")
      try HeapFile.save("\(directory)/heap", to: "\(directory)/link", using: nil)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/link") == "target")
      _ = try HeapFile(path: "\(directory)/target").graph()
    }
  }
}
