import UndeadHeap
import UndeadHeapSamples
import UndeadPage
import UndeadReport

/// A heap of a cache with sessions, a list of jobs, memory of C code, and a leak.
enum SampleHeap {
  static func builder(sessions: Int = 4, jobs: Int = 5) -> HeapBuilder {
    var heap = HeapBuilder()
    let main = HeapBuilder.Function.app("main", "/app/main.swift", 90)
    let cache = heap.object("App.Cache", size: 64, at: [.app("App.makeCache()", "/app/Cache.swift", 21), main])
    heap.global("App.cache", holds: cache)
    let storage = heap.object(
      "Swift._DictionaryStorage<Swift.String, App.Session>", size: 1024,
      at: [.system("Swift.Dictionary.init()"), .app("App.Cache.add()", "/app/Cache.swift", 34), main])
    heap.link(cache, "sessions", storage, type: "Swift.Dictionary<Swift.String, App.Session>")
    for _ in 0..<sessions {
      let session = heap.object("App.Session", size: 96, at: [.app("App.Cache.add()", "/app/Cache.swift", 35), main])
      heap.link(storage, "[value]", session)
      let name = heap.object(
        "Swift.__StringStorage", size: 48, at: [.app("App.Session.init()", "/app/S.swift", 12), main])
      heap.link(session, "id", name)
    }
    let queue = heap.object("App.Queue", size: 48, at: [main])
    _ = heap.root(HeapFile.Root.stack, "", thread: 1, holds: [queue])
    var last = queue
    for _ in 0..<jobs {
      let job = heap.object("App.Job", size: 64, at: [.app("App.Queue.push()", "/app/Queue.swift", 8), main])
      heap.link(last, last == queue ? "first" : "next", job)
      last = job
    }
    let pool = heap.raw(size: 4096, at: [.app("App.Pool.init()", "/app/Pool.swift", 5), main])
    heap.link(last, "pool", pool, strength: HeapFile.Strength.raw)
    let block = heap.foreign(size: 128, at: [.system("foo_alloc", "libfoo.so.1"), main])
    heap.link(pool, "", block, strength: HeapFile.Strength.raw)
    heap.addMemory(HeapFile.MemoryLine.liveBlocks, "", resident: 8000)
    heap.addMemory(HeapFile.MemoryLine.files, "App", resident: 24000)
    return heap
  }

  static func heap(_ builder: HeapBuilder = builder()) throws -> LoadedHeap {
    try LoadedHeap(builder.file())
  }

  static func page(_ builder: HeapBuilder = builder()) throws -> String {
    let heap = try heap(builder)
    return HeapPage.render(heap, symbols: HeapSymbols(heap, nil))
  }
}
