import Undead
import UndeadHeapFile
import UndeadReport
import UndeadSystem

extension UndeadDebugService {
  /// A heap file of this moment, and what its directory lives by.
  package func keptHeap() async throws -> (path: String, kept: PrivateDirectory) {
    try await lookAtHeap { path, directory in (path, directory) }
  }

  package func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await OwnThread.run { Result(catching: work) }.get()
  }

  /// `/debug/undead/heap?file=1`: the file for `undead heap`, with the names of its code unless `names=0` asks for less work here.
  func heapFile(_ request: Request) async throws -> Response {
    let symbolizer = request.value("names") == "0" ? nil : names.symbolizer
    let (path, kept) = try await keptHeap()
    defer { kept.remove() }
    let file = try await onOwnThread {
      guard let symbolizer else { return try OpenFile(takingNameOf: path) }
      let named = kept.file("named.undead")
      try HeapFile.save(path, to: named, resources: ProcessResources(of: "self"), using: symbolizer)
      return try OpenFile(takingNameOf: named)
    }
    return .init(
      contentType: "application/octet-stream",
      headers: [.init(name: "Content-Disposition", value: "attachment; filename=\"heap.undead\"")], body: Body(file))
  }
}
