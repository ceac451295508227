import Foundation
import UndeadHeap
import UndeadHeapSamples
import UndeadReport

/// What a corpus begins with: small inputs that are right.
enum Seeds {
  static func write(to directory: URL) throws {
    let snapshot = try snapshot()
    try write([snapshot], of: .snapshot, to: directory)
    try write([heap().encoded()], of: .heap, to: directory)
    try write(
      [try JSONRenderer.render(LeakReport(analyzing: [ReportInput(try Snapshot(decoding: snapshot))]))], of: .report,
      to: directory)
    try write(names.map { Data($0.utf8) }, of: .names, to: directory)
    try write(suppressions.map { Data($0.utf8) }, of: .suppressions, to: directory)
    try write(maps.map { Data($0.utf8) }, of: .maps, to: directory)
    try write(requests.map { Data($0.utf8) }, of: .http, to: directory)
    let decisions = [Data(), Data((0..<512).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) })]
    try write(decisions, of: .writers, to: directory)
    try write(decisions, of: .heapwriters, to: directory)
  }

  private static func write(_ inputs: [Data], of reader: Reader, to directory: URL) throws {
    let folder = directory.appending(path: reader.rawValue)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (number, input) in inputs.enumerated() { try input.write(to: folder.appending(path: "seed-\(number)")) }
  }

  private static func heap() -> HeapBuilder {
    var heap = HeapBuilder()
    let site: [HeapBuilder.Function] = [.system("swift_allocObject"), .app("App.make()", "/app/main.swift", 12)]
    let cache = heap.object("App.Cache", size: 48, at: site)
    let storage = heap.object("Swift._DictionaryStorage<Swift.String, App.Session>", size: 1024, use: (3, 24), at: site)
    heap.link(cache, "sessions", storage, type: "[Swift.String : App.Session]")
    heap.mark("warm")
    let session = heap.object("App.Session", size: 64, at: site)
    heap.link(storage, "[value]", session)
    heap.link(session, "cache", cache, strength: HeapFile.Strength.none)
    heap.global("App.cache", holds: cache)
    heap.addMemory(HeapFile.MemoryLine.liveBlocks, "live blocks", resident: 8192)
    return heap
  }

  private static func snapshot() throws -> Data { try Snapshot(decoding: heap().encoded()).encoded() }

  private static let names = [
    "$s3App5OwnerC4load4fromySS_tYaF", "$s3App5OwnerC4load4fromySS_tYaFTY0_", "$sSaMa", "_ZN5swift11swift_allocE",
    "(2) suspend resume partial function for closure #1 (Swift.Int) -> () in App.Owner.load(from: Swift.String) async -> ()",
    "generic specialization <App.A, App.B> of App.f<A, B>(A, B) -> ()",
    "protocol witness for App.P.f() -> () in conformance App.A : App.P in App",
    "closure #1 @Sendable () -> () in implicit closure #2 in App.Owner.init(name: Swift.String) -> App.Owner",
  ]

  private static let suppressions = [
    "# known\nleak:App.Cache # of the library\ntype:App.*\nfield:*.delegate\nmodule:Lib\n", "function:App.make()\n",
  ]

  private static let maps = [
    """
    55d0c0000000-55d0c0001000 r--p 00000000 08:01 1311 /app/server (deleted)
    55d0c0001000-55d0c0002000 r-xp 00001000 08:01 1311 /app/server (deleted)
    7f0000000000-7f0000021000 rw-s 00000000 00:00 0
    7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]

    """
  ]

  private static let requests = [
    "GET /debug/pprof/heap?seconds=30 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "HEAD /debug/undead/heap?type=App.%2A&top=3 HTTP/1.0\r\n\r\n",
    "POST /debug/undead/mark?name=a HTTP/1.1\r\nHost: [::1]:6060\r\nOrigin: http://[::1]:6060\r\nSec-Fetch-Site: same-origin\r\n\r\n",
  ]
}
