import CUndead
import CUndeadTestEntry
import Dispatch
import Testing
import UndeadReport

// One fact about the runtime in each test, read with raw loads and without the library: when a toolchain moves
// something, the test that fails says what.

private class Plain {
  var first = 1
  var second = Item()
}
private final class Heir: Plain { var third = 3 }

private func half(_ base: UnsafeRawPointer, _ offset: Int) -> UInt32 {
  base.load(fromByteOffset: offset, as: UInt32.self)
}

private func address(_ value: UInt) -> UnsafeRawPointer { UnsafeRawPointer(bitPattern: value)! }

/// The target of a relative pointer.
private func relative(_ base: UnsafeRawPointer, _ offset: Int) -> UnsafeRawPointer {
  base + offset + Int(base.load(fromByteOffset: offset, as: Int32.self))
}

@Suite(.timeLimit(.minutes(20))) struct RuntimeFactsTests {
  private let plain = Plain()

  private var metadata: UnsafeRawPointer { firstWord(of: plain) }
  private var descriptor: UnsafeRawPointer { address(word(metadata, 40)) }

  @Test func classMetadata() {
    #expect(word(metadata, 0) == 0, "the kind of a class is no longer 0")
    #expect(half(metadata, 24) == 32, "the instance size is no longer at +24")
    #expect(half(metadata, 20) == 0, "the address point of instances is no longer at +20")
    #expect(word(metadata, -8) != 0, "the value witnesses are no longer at -8")
    #expect(half(descriptor, 0) & 0x1F == 16, "the descriptor is no longer at +40, or its kind is no longer 16")
    let heir = Heir()
    #expect(word(firstWord(of: heir), 8) == UInt(bitPattern: metadata), "the superclass is no longer at +8")
  }

  @Test func classDescriptor() {
    #expect(half(descriptor, 36) == 2, "the number of fields is no longer at +36")
    let vector = metadata + Int(half(descriptor, 40)) * 8
    #expect(word(vector, 0) == 16 && word(vector, 8) == 24, "the field offset vector has moved")
    #expect(String(cString: relative(descriptor, 8).assumingMemoryBound(to: CChar.self)) == "Plain")
  }

  @Test func fieldRecords() {
    let fields = relative(descriptor, 16)
    #expect(half(fields, 12) == 2, "the number of field records is no longer at +12")
    let names = [16, 28].map { String(cString: relative(fields, $0 + 8).assumingMemoryBound(to: CChar.self)) }
    #expect(names == ["first", "second"], "field records are no longer 12 bytes from +16")
  }

  @Test func ownershipSuffixes() {
    let object = Weak(Item())
    let fields = relative(address(word(firstWord(of: object), 40)), 16)
    let suffixes = (0..<5).map { index in
      var name = [UInt8]()
      var byte = relative(fields, 16 + index * 12 + 4).assumingMemoryBound(to: UInt8.self)
      while byte.pointee != 0 {
        let isReference = byte.pointee < 0x20
        if !isReference { name.append(byte.pointee) }
        byte += isReference ? 5 : 1
      }
      return String(decoding: name.suffix(2), as: UTF8.self)
    }
    #expect(suffixes == ["Xw", "Xw", "Xo", "Xo", "Xu"], "ownership is no longer the suffix of a field's type")
  }

  @Test func referenceCounts() {
    let object = Item()
    #expect(word(pointer(to: object), 8) & 0xFFFF_FFFF == 3, "a fresh object no longer has the count 3")
    let before = word(pointer(to: object), 8)
    let more = opaque([object, object])
    #expect(word(pointer(to: object), 8) >= before + 2 << 33, "strong counts no longer start at bit 33")
    _ = opaque(more)
  }

  @Test func sideTables() {
    let object = Item()
    weak let weakly = object
    withExtendedLifetime(weakly) {
      let bits = word(pointer(to: object), 8)
      #expect(bits >> 62 == 3, "the side table is no longer told by the two top bits")
      let table = address((bits & 0x3FFF_FFFF_FFFF_FFFF) << 3)
      #expect(word(table, 0) == UInt(bitPattern: pointer(to: object)), "a side table no longer starts with the object")
    }
  }

  @Test func closureContexts() {
    let holder = ClosureHolder(closureOverTwo(Item(), Pair(item: Item())))
    withExtendedLifetime(holder) {
      let isa = address(word(holder.context!, 0))
      #expect(word(isa, 0) == 0x400, "the kind of a closure context is no longer 0x400")
      #expect(half(isa, 8) == 16, "the offset of the first capture is no longer at +8")
      #expect(half(address(word(isa, 16)), 0) == 2, "the capture descriptor is no longer at +16")
    }
  }

  @Test func errorBoxes() {
    let error: any Error = ItemError(code: 77, item: Item())
    withExtendedLifetime(error) {
      let box = boxAddress(of: error)
      #expect(word(address(word(box, 0)), 0) == 0x501, "the kind of an error box is no longer 0x501")
      #expect(word(box, 16) == unsafeBitCast(ItemError.self as Any.Type, to: UInt.self), "its type is no longer at +16")
      #expect(word(box, 32) == 77, "its value is no longer at +32")
    }
  }

  @Test func enumTags() {
    let metadata = unsafeBitCast(State.self as Any.Type, to: UnsafeRawPointer.self)
    #expect(word(metadata, 0) == 0x201, "the kind of an enum is no longer 0x201")
    let witnesses = address(word(metadata, -8))
    #expect(half(witnesses, 80) & 0x20_0000 != 0, "the flag for enum witnesses has moved")
    #expect(word(witnesses, 64) == UInt(MemoryLayout<State>.size), "the size is no longer at +64")
    typealias GetTag = @convention(c) (UnsafeRawPointer, UnsafeRawPointer) -> UInt32
    let getTag = unsafeBitCast(word(witnesses, 88), to: GetTag.self)
    let states: [State] = [.loading(Item()), .failed(Pair(item: Item()), Item()), .idle]
    let tags = states.map { state in withUnsafePointer(to: state) { getTag($0, metadata) } }
    #expect(tags == [0, 1, 4], "tags no longer count the cases with payload first")
  }

  @Test func existentials() {
    // A generic function would open the existential; an optional is passed as it is.
    let value: (any Animal)? = Pair(item: Item())
    let type = withUnsafeBytes(of: value) { $0.load(fromByteOffset: 24, as: UInt.self) }
    #expect(type == unsafeBitCast(Pair.self as Any.Type, to: UInt.self), "the type of an existential is not at +24")
  }

  @Test func arrayStorage() {
    let array = opaque([Pair(item: Item(), count: 5)])
    withExtendedLifetime(array) {
      let storage = withUnsafeBytes(of: array) { address($0.load(as: UInt.self)) }
      #expect(word(storage, 16) == 1, "the count of an array is no longer at +16")
      #expect(word(storage, 40) == 5, "the elements of an array no longer start at +32")
    }
  }

  @Test func tasks() async throws {
    let started = AsyncStream.makeStream(of: Void.self)
    let gate = AsyncStream.makeStream(of: Void.self)
    let task = Task.detached { await suspendedFunction(started.continuation, gate.stream) }
    for await _ in started.stream { break }
    let object = unsafeBitCast(task, to: UnsafeRawPointer.self)
    #expect(word(address(word(object, 0)), 0) == 0x502, "the kind of a task is no longer 0x502")
    var frames = [UInt](repeating: 0, count: 64)
    var names: [String] = []
    // The task goes on until it waits for the gate. However long this test has to wait for a thread, it looks once more.
    let deadline = ContinuousClock.now + .seconds(20)
    var isLast = false
    repeat {
      isLast = ContinuousClock.now >= deadline
      let count = withRuntimeLayer { undead_test_task_frames(object, &frames, UInt32(frames.count)) }
      names = frames.prefix(Int(count)).map { symbolName(at: $0 - 1) }
      await Task.yield()
    } while !names.contains { $0.contains("suspendedFunction") } && !isLast
    #expect(
      names.contains { $0.contains("suspendedFunction") }, "the resume function or the contexts of a task have moved")
    gate.continuation.finish()
    await task.value
  }

  @Test func symbolsOfLibdispatch() {
    let names = [
      "__OS_dispatch_source_vtable", "__OS_dispatch_queue_serial_vtable", "_dispatch_source_type_timer",
      "_dispatch_worker_thread", "_dispatch_event_loop_drain", "_dispatch_mgr_q", "_dispatch_continuation_vtables",
    ]
    for name in names {
      #expect(withRuntimeLayer { undead_test_symbol("libdispatch.", name) } != 0, "libdispatch has no \(name) any more")
    }
    let slab = "_swift_concurrency_debug_asyncTaskSlabMetadata"
    #expect(withRuntimeLayer { undead_test_symbol("libswift_Concurrency.", slab) } != 0)
  }

  @Test func categories() throws {
    var ofProgram = false
    let source = DispatchSource.makeUserDataAddSource()
    source.activate()
    let category = withRuntimeLayer { undead_test_category(pointer(to: source as AnyObject), &ofProgram) }
    #expect(category == 3 && !ofProgram, "Dispatch.DispatchSource is not recognised")
    source.cancel()
    #expect(withRuntimeLayer { undead_test_category(pointer(to: plain), &ofProgram) } == 0)
    #expect(ofProgram)
    let ofThisPackage = try MappedFile(path: "/proc/self/exe")
    #expect(withRuntimeLayer { undead_test_category(pointer(to: ofThisPackage), &ofProgram) } == 0)
    #expect(!ofProgram)
  }

  @Test func imagesOfTheToolchain() {
    #expect(withRuntimeLayer { undead_test_is_toolchain(undead_test_symbol("libswiftCore.", "swift_retain")) })
    #expect(withRuntimeLayer { !undead_test_is_toolchain(UInt(bitPattern: descriptor)) })
  }

  @Test func randomWordsAreNoClasses() {
    var generator = SystemRandomNumberGenerator()
    let found = withRuntimeLayer {
      (0..<2_000).filter { _ in undead_test_kind(UInt.random(in: 0...(1 << 47), using: &generator) & ~7, 4096) != 0 }
    }
    #expect(found.isEmpty)
  }
}

@inline(never)
private func suspendedFunction(_ started: AsyncStream<Void>.Continuation, _ gate: AsyncStream<Void>) async {
  started.yield()
  for await _ in gate {}
  opaque(())
}
