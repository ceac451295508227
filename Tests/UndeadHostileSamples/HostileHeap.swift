import UndeadHeap
import UndeadHeapSamples
import UndeadReport

/// Heap files that the reader takes, with names, sizes, counts, generations and cycles that are up to the input.
package enum HostileHeap {
  package static func make(_ input: inout HostileInput) -> LoadedHeap? {
    var heap = HeapBuilder()
    var blocks: [HeapBuilder.Block] = []
    let main = HeapBuilder.Function.app("main", "/app/main.swift", 90)
    for number in 0..<(2 + Int(input.byte() % 12)) {
      let stack: [HeapBuilder.Function] = [
        .system("swift_allocObject"),
        .app(input.string("App.make\(number)()"), input.string("/app/File.swift"), input.number(number)), main,
      ]
      // The reader refuses more: then the rest of the heap would meet no writer.
      let size = min(input.size(48), 1 << 47)
      switch input.byte() % 8 {
      case 0: blocks.append(heap.raw(size: size, reached: input.byte() % 2 == 0, at: stack))
      case 1: blocks.append(heap.foreign(size: size, reached: input.byte() % 2 == 0, at: stack))
      case 2:
        let name = ["Swift._ContiguousArrayStorage<App.Item>", "Swift._DictionaryStorage<Swift.String, App.Item>"]
        let use = (input.size(3), input.size(24))
        blocks.append(heap.object(input.string(name[number % 2]), size: size, use: use, at: stack))
      case 3:
        blocks.append(
          heap.object("Swift.__StringStorage", size: size, use: (input.size(3), input.size(24)), hash: 7, at: stack))
      default:
        blocks.append(
          heap.object(
            input.string("App.Item\(number % 3)"), size: size,
            strong: input.byte() % 3 == 0 ? UInt32(truncatingIfNeeded: input.size(1)) : nil, at: stack))
      }
      if input.byte() % 8 == 0 { heap.mark(input.string("mark"), time: input.size(1_700_000_000_000_000_000)) }
    }
    for _ in 0..<(input.byte() % 32) {
      let (from, to) = (Int(input.byte()) % blocks.count, Int(input.byte()) % blocks.count)
      let strengths = [HeapFile.Strength.counted, HeapFile.Strength.none, HeapFile.Strength.raw]
      heap.link(
        blocks[from], input.string("next"), blocks[to], strength: strengths[Int(input.byte()) % 3],
        type: input.string("App.Item"), offset: UInt32(truncatingIfNeeded: input.size(16)),
        closure: input.byte() % 5 == 1 ? .app(input.string("closure #1 in App.f()"), "/app/c.swift", 3) : nil)
    }
    for _ in 0..<(1 + input.byte() % 4) {
      let held = blocks[Int(input.byte()) % blocks.count]
      _ = heap.root(
        UInt32(input.byte() % 7), input.string("App.global"), thread: UInt32(input.byte()), holds: [held])
    }
    if input.byte() % 2 == 1 { heap.note(input.string("a note")) }
    if input.byte() % 2 == 1 {
      heap.addMemory(UInt32(input.byte() % 8), input.string("App"), resident: input.size(8000))
      heap.addMemory(HeapFile.MemoryLine.liveBlocks, "", resident: input.size(8000))
    }
    if input.byte() % 2 == 1 {
      for key in ["liveBlocks", "liveBytes", "pauseNanoseconds", "scanNanoseconds", "heapBlocks", "sampleBytes"] {
        heap.count(key, input.size(10))
      }
    }
    if input.byte() % 2 == 1 {
      for (key, plain) in [
        ("path", "/app/App"), ("pid", "42"), ("startedAt", "1700000000.5"), ("durationSeconds", "1.25"),
        ("argument", "-v"),
      ] { heap.snapshot.setMetadata(key, input.string(plain)) }
    }
    return try? LoadedHeap(HeapFile(decoding: heap.encoded()))
  }
}
