import Foundation
import Testing
import UndeadHeap
import UndeadHeapReport
import UndeadHeapSamples
import UndeadReport

/// `undead heap`.
@Suite(.timeLimit(.minutes(20))) struct HeapCommandTests {
  private let sandbox: Sandbox

  init() throws {
    sandbox = try Sandbox()
    var heap = HeapBuilder()
    let cache = heap.object("App.Cache", size: 48)
    let storage = heap.object("Swift._ContiguousArrayStorage<App.Session>", size: 4096)
    heap.link(cache, "sessions", storage)
    for _ in 0..<3 { heap.link(storage, "[]", heap.object("App.Session", size: 64, at: [.app("App.make()")])) }
    heap.global("App.cache", holds: cache)
    try heap.encoded().write(to: sandbox.directory.appending(path: "heap.undead"))
    try sandbox.write(SampleSnapshot.clean(), to: "leaks.undead")
  }

  @Test func showsATable() throws {
    let folded = try sandbox.undead("heap", "heap.undead")
    #expect(folded.status == 0 && folded.error == "")
    #expect(folded.out.contains("4.2 KB      4.0 KB           1  App.Cache\n"), "\(folded.out)")
    let plain = try sandbox.undead("heap", "--no-fold-storage", "heap.undead").out
    #expect(plain.contains("Swift._ContiguousArrayStorage<App.Session>\n"))
    #expect(try sandbox.undead("heap", "heap.undead", "--by", "root").out.contains("[global] App.cache\n"))
    let top = try sandbox.undead("heap", "heap.undead", "--top", "1").out
    #expect(top.contains("App.Cache\n") && !top.contains("App.Session\n") && top.contains("... 1 more (--top)"))
  }

  @Test func tellsOfATypeOrAnAddress() throws {
    let type = try sandbox.undead("heap", "heap.undead", "--type", "Session").out
    #expect(type.hasPrefix("3 \u{D7} App.Session  (192 bytes own, 192 bytes retained)\n"), "\(type)")
    #expect(type.contains(".sessions[] \u{2192} App.Session\n"))
    let address = try sandbox.undead("heap", "heap.undead", "--address", "0x550040000010").out
    #expect(address.hasPrefix("1 \u{D7} App.Cache"), "\(address)")
  }

  @Test func writesJSONToAFile() throws {
    let output = try sandbox.undead("heap", "heap.undead", "--format", "json", "--output", "heap.json")
    #expect(output.status == 0 && output.out == "")
    let report = try JSONDecoder().decode(
      HeapReport.self, from: Data(contentsOf: URL(filePath: sandbox.path("heap.json"))))
    #expect(report.kind == "heap" && report.types.map(\.count) == [1, 1, 3])
  }

  @Test(arguments: [
    (["none.undead"], "undead: there is no file 'none.undead': No such file or directory; name a heap file, or the id"),
    (
      ["leaks.undead"], "undead: 'leaks.undead' holds no heap: it is a snapshot of leaks, for 'undead leaks'; take one"
    ),
    (["."], "undead: '.' is a directory; name a heap file"),
    (["/dev/null"], "undead: '/dev/null' is no regular file"),
    (["heap.undead", "--type", "Sesion"], "undead: no type in this heap matches 'Sesion'"),
    (["heap.undead", "--type", "session"], "undead: no type in this heap matches 'session'; there are 'App.Session'"),
    (["heap.undead", "--address", "0x10"], "undead: no live block contains the address 0x10"),
    (["99999999"], "undead: no such process: 99999999"),
    (["heap.undead", "--top", "0"], "Error: --top 0"),
    (["heap.undead", "--type", "a", "--address", "1"], "Error: --type and --address: give one of them"),
  ])
  func refuses(_ arguments: [String], _ message: String) throws {
    let output = try sandbox.command([sandbox.path("bin/undead"), "heap"] + arguments)
    #expect(output.status == 64)
    #expect(output.out == "" && output.error.hasPrefix(message), "\(output.error)")
  }

  @Test func damagedFilesAreTold() throws {
    let whole = try Data(contentsOf: sandbox.directory.appending(path: "heap.undead"))
    try whole.prefix(500).write(to: sandbox.directory.appending(path: "cut.undead"))
    var newer = whole
    newer[8] = 2
    try newer.write(to: sandbox.directory.appending(path: "newer.undead"))
    var changed = whole
    changed[whole.count - 20] ^= 1
    try changed.write(to: sandbox.directory.appending(path: "changed.undead"))
    for (name, words) in [
      ("cut", "the snapshot is cut off at byte 500"), ("newer", "written by a newer undead (byte 8)"),
      ("changed", "the snapshot is damaged at byte 24: the checksum does not match"),
    ] {
      let output = try sandbox.undead("heap", "\(name).undead")
      #expect(output.status == 64 && output.error.hasPrefix("undead: cannot read '\(name).undead': "))
      #expect(output.error.contains(words), "\(output.error)")
    }
  }
}
