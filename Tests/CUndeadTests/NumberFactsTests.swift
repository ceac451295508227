import CUndead
import CUndeadTestEntry
import Dispatch
import Foundation
import Testing

// Numbers of the runtime's layouts as the library has them (runtime/abi.h), each held against the runtime: where one is
// wrong, here or there, the test says which.

private func number(_ name: String) -> Int {
  let value = undead_test_number(name)
  precondition(value != .max, "runtime/abi.h has no \(name) in Tests/CUndeadTestEntry/numbers.c")
  return Int(value)
}

private func half(_ base: UnsafeRawPointer, _ offset: Int) -> UInt32 {
  base.load(fromByteOffset: offset, as: UInt32.self)
}

private func address(_ value: UInt) -> UnsafeRawPointer? { UnsafeRawPointer(bitPattern: value) }

@Suite(.timeLimit(.minutes(20))) struct NumberFactsTests {
  @Test func fixedArrays() throws {
    let type = try #require(_typeByName("$2_SiBV"))
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    #expect(word(metadata, 0) == 0x308, "the kind of a fixed array is no longer 0x308")
    #expect(word(metadata, number("FIXED_ARRAY_COUNT")) == 3)
    #expect(word(metadata, number("FIXED_ARRAY_ELEMENT")) == unsafeBitCast(Int.self as Any.Type, to: UInt.self))
  }

  @Test func continuationCanaries() async {
    let task = withUnsafeCurrentTask { unsafeBitCast($0, to: UInt.self) }
    var held: (task: UInt, label: String?) = (0, nil)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let canary = withUnsafeBytes(of: continuation) { address($0.load(as: UInt.self))! }
      held = (word(canary, number("CANARY_CONTINUATION")), describe(canary).word(at: 16)?.label)
      continuation.resume()
    }
    #expect(held.task == task, "the continuation of a canary is no longer there, or no longer the task")
    #expect(held.label == "continuation")
  }

  @Test func methodKinds() {
    let object = Accessors(item: Item())
    let descriptor = address(word(firstWord(of: object), 40))!
    var kinds: [String: [UInt32]] = [:]
    for index in 0..<Int(half(descriptor, 48)) {
      let method = descriptor + 52 + index * number("METHOD_BYTES")
      let flags = half(method, 0)
      let function = method + 4 + Int(method.load(fromByteOffset: 4, as: Int32.self))
      let suffix = String(symbolName(at: UInt(bitPattern: function)).suffix(2))
      #expect((flags & UInt32(number("METHOD_IS_DATA")) != 0) == (suffix == "Tu"), "\(suffix) has the flags \(flags)")
      kinds[suffix, default: []].append(flags & UInt32(number("METHOD_KIND_MASK")))
    }
    #expect(kinds["vM"] == [UInt32(number("METHOD_KIND_READ")) - 1])
    #expect(kinds["vr"] == [UInt32(number("METHOD_KIND_READ"))])
    #expect(kinds["vs"] == [3])
    #expect(kinds["Tu"] == [0])
  }

  @Test func closuresOfC() throws {
    let kept = opaque(Item())
    let closure: @convention(block) () -> Void = { _ = opaque(kept) }
    let symbol = try #require(dlsym(nil, "_Block_copy"))
    let copy = unsafeBitCast(symbol, to: (@convention(c) (UnsafeRawPointer) -> UnsafeRawPointer).self)
    // Never released: its count sticks at the largest one.
    let block = copy(unsafeBitCast(closure, to: UnsafeRawPointer.self))
    let flags = number("BLOCK_FLAGS")
    let mask = UInt32(number("BLOCK_COUNT_MASK"))
    let count = half(block, flags) & mask
    _ = copy(block)
    #expect(half(block, flags) & mask == count + 2, "a reference to a closure of C no longer counts 2, or elsewhere")
    for _ in 0..<0x8000 { _ = copy(block) }
    #expect(half(block, flags) & 0xFF_FFFF == mask, "the mask of the count of a closure of C")
    // What it captures is a closure of Swift: its function, and its context, which is the one object.
    let context = word(block, number("BLOCK_HEADER") + 8)
    #expect(context == UInt(bitPattern: pointer(to: kept)), "what a closure of C captures has moved")
  }

  @Test func slabsOfTasks() async throws {
    let started = AsyncStream.makeStream(of: Void.self)
    let gate = AsyncStream.makeStream(of: Void.self)
    let task = Task.detached { await descend(200, started.continuation, gate.stream) }
    for await _ in started.stream { break }
    let object = unsafeBitCast(task, to: UnsafeRawPointer.self)
    let symbol = withRuntimeLayer {
      undead_test_symbol("libswift_Concurrency.", "_swift_concurrency_debug_asyncTaskSlabMetadata")
    }
    let kind = word(try #require(address(symbol)), 0)
    let first = try #require(address(word(object, number("TASK_FIRST_SLAB"))))
    var slab: UnsafeRawPointer? = first
    var slabs = 0
    // A frame that is too large for what is left of a slab is in the next one.
    while let at = slab, slabs < 3 {
      #expect(word(at, 0) == kind, "no slab is where one should be")
      let capacity = half(at, number("SLAB_CAPACITY"))
      let used = half(at, number("SLAB_USED"))
      #expect(used > 0 && used <= capacity && capacity - used < 2048, "capacity \(capacity), used \(used)")
      let end = at + number("SLAB_HEADER") + Int(capacity)
      #expect(slabs == 0 || (0..<32).contains(usableSize(at) - at.distance(to: end)), "a slab has another end")
      slab = address(word(at, number("SLAB_NEXT")))
      slabs += 1
    }
    #expect(slabs == 3, "there is no slab behind the first ones")
    gate.continuation.finish()
    _ = await task.value
  }

  @Test func dataOfThreads() throws {
    let ownNumber = unsafeBitCast(try #require(dlsym(nil, "gettid")), to: (@convention(c) () -> Int32).self)
    let queue = DispatchQueue(label: "facts")
    let (tid, held) = queue.sync { () -> (UInt32, UInt) in
      let data = dispatchData()
      return (half(data, number("TSD_TID")), word(data, number("TSD_QUEUE")))
    }
    #expect(tid == UInt32(ownNumber()), "the thread's number has moved")
    #expect(held == wrapped(queue), "the queue that a thread works for has moved")
  }

  @Test func recycledContinuations() throws {
    let queue = DispatchQueue(label: "facts")
    let most = 32
    queue.suspend()
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var longest: [(block: UnsafeRawPointer, count: Int32)] = []
    for _ in 0..<most {
      queue.async {
        let chain = recycled()
        if chain.count > longest.count { longest = chain }
        done.signal()
      }
    }
    queue.resume()
    for _ in 0..<most { done.wait() }
    try #require(longest.count > 1, "no thread was seen to keep continuations")
    let counts = longest.map(\.count)
    #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 == $1 + 1 }, "counts of continuations: \(counts)")
    let bytes = number("CONTINUATION_BYTES")
    for (block, _) in longest {
      let usable = usableSize(block)
      #expect(usable >= bytes && usable < bytes + 32, "continuations have \(usable) bytes")
    }
  }

  /// A thread's next continuation is the one that it recycled last.
  @Test func wordsOfContinuations() throws {
    typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Void
    typealias Submit = @convention(c) (UInt, UInt, UnsafeMutableRawPointer?, Function) -> Void
    let submit = unsafeBitCast(try #require(dlsym(nil, "dispatch_group_async_f")), to: Submit.self)
    let function: Function = { _ in }
    let queue = DispatchQueue(label: "facts")
    let held = DispatchQueue(label: "facts: held")
    let group = DispatchGroup()
    held.suspend()
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var words: [UInt] = []
    queue.async {
      let block = recycled().first?.block
      submit(wrapped(group), wrapped(held), nil, function)
      if let block { words = (0..<8).map { word(block, $0 * 8) } }
      done.signal()
    }
    done.wait()
    held.resume()
    group.wait()
    try #require(!words.isEmpty, "the thread kept no continuation")
    let flags = Int(words[0])
    #expect(flags < 4096, "the flags of a continuation: \(flags)")
    #expect(
      flags & number("CONTINUATION_ALLOCATED") == number("CONTINUATION_ALLOCATED"),
      "the flags of a continuation: \(flags)")
    #expect(words[number("CONTINUATION_FUNCTION") / 8] == unsafeBitCast(function, to: UInt.self))
    #expect(words[number("CONTINUATION_DATA") / 8] == wrapped(group))
    // What only some use is the word behind it, and the last one.
    #expect(number("CONTINUATION_OTHER") == number("CONTINUATION_DATA") + 8)
    #expect(number("CONTINUATION_OTHER") + 8 == number("CONTINUATION_BYTES"))
  }
}

private final class Plate {
  var item: Item
  init(_ item: Item) { self.item = item }
}

private class Accessors {
  private let plate: Plate
  init(item: Item) { plate = Plate(item) }
  @_borrowed var item: Item {
    _read { yield plate.item }
    _modify { yield &plate.item }
  }
  func later() async {}
}

@inline(never)
private func descend(
  _ depth: Int, _ started: AsyncStream<Void>.Continuation, _ gate: AsyncStream<Void>
) async -> Int {
  if depth > 0 { return await descend(depth - 1, started, gate) + opaque(1) }
  started.yield()
  for await _ in gate {}
  return 0
}

private func dispatchData() -> UnsafeRawPointer {
  guard let data = withRuntimeLayer({ undead_test_dispatch_data() }) else {
    preconditionFailure("libdispatch's data of a thread is not found")
  }
  return data
}

/// The object of libdispatch behind one of Swift's.
private func wrapped(_ object: DispatchObject) -> UInt { word(pointer(to: object), 16) }

private func usableSize(_ block: UnsafeRawPointer) -> Int {
  let function = dlsym(nil, "malloc_usable_size")
  return unsafeBitCast(function, to: (@convention(c) (UnsafeRawPointer) -> Int).self)(block)
}

/// The continuations that this thread keeps, the newest first, each with the number of those behind it.
private func recycled() -> [(block: UnsafeRawPointer, count: Int32)] {
  var result: [(block: UnsafeRawPointer, count: Int32)] = []
  var next = address(word(dispatchData(), number("TSD_CACHE")))
  while let block = next, result.count < 64 {
    result.append((block, block.load(fromByteOffset: number("CONTINUATION_COUNT"), as: Int32.self)))
    next = address(word(block, number("CONTINUATION_NEXT")))
  }
  return result
}
