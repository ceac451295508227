import CHeapTruth
import Foundation

// Nodes that a waiting thread holds.

/// Where a node goes to and comes back from another thread or task.
final class Handover: @unchecked Sendable {
  private var node: Node?
  private let given = DispatchSemaphore(value: 0)

  func give(_ node: Node) {
    self.node = node
    given.signal()
  }
  func receive() -> Node? {
    given.wait()
    return node.take()
  }
}

/// A thread that holds one node while it waits.
private class OnThread: Holder, @unchecked Sendable {
  fileprivate let inward = Handover()
  fileprivate let outward = Handover()
  fileprivate var descriptors: [Int32] = [-1, -1]
  private let ready = DispatchSemaphore(value: 0)
  private var isFull = false

  /// Runs on the thread: holds the object until `wait` or a byte in `descriptors[0]`.
  fileprivate final class Place {
    let descriptor: Int32
    let isReady: DispatchSemaphore
    init(_ descriptor: Int32, _ isReady: DispatchSemaphore) {
      self.descriptor = descriptor
      self.isReady = isReady
    }
    func wait() {
      isReady.signal()
      var byte: UInt8 = 0
      while read(descriptor, &byte, 1) < 0 {}
    }
  }
  fileprivate typealias Body = @Sendable (consuming Node, Place) -> Node?
  fileprivate var body: Body { { _, _ in nil } }

  override func put(_ node: Node) -> Bool {
    if isFull { return false }
    isFull = true
    pipe(&descriptors)
    let (inward, outward, body) = (inward, outward, body)
    let (ready, descriptor) = (ready, descriptors[0])
    let thread = Thread {
      let place = Place(descriptor, ready)
      Self.run(inward, outward, body, place)
    }
    thread.stackSize = 512 << 10
    thread.start()
    inward.give(node)
    ready.wait()
    return true
  }

  private static func run(_ inward: Handover, _ outward: Handover, _ body: Body, _ place: Place) {
    if let node = body(inward.receive()!, place) { outward.give(node) }
  }

  override func take() -> Node? {
    if !isFull { return nil }
    isFull = false
    var byte: UInt8 = 1
    write(descriptors[1], &byte, 1)
    let node = outward.receive()
    close(descriptors[0])
    close(descriptors[1])
    return node
  }
  deinit { _ = take() }
}

@inline(never) private func raw(_ node: consuming Node) -> UnsafeMutableRawPointer {
  Unmanaged.passRetained(node).toOpaque()
}
private func node(_ pointer: UnsafeMutableRawPointer?) -> Node? {
  pointer.map { Unmanaged<Node>.fromOpaque($0).takeRetainedValue() }
}
/// Likewise, but for functions of C that decode the address where they hold it: no other frame holds it.
@inline(never) private func masked(_ node: consuming Node) -> UInt {
  let pointer = raw(node)
  truth_keep_on_the_way(pointer)
  return UInt(bitPattern: pointer) ^ UInt(TRUTH_MASK)
}
@inline(never) private func node(_ masked: UInt) -> Node? {
  defer { truth_keep_on_the_way(nil) }
  return node(UnsafeMutableRawPointer(bitPattern: masked ^ UInt(TRUTH_MASK)))
}

private final class InSwiftFrame: OnThread, @unchecked Sendable {
  override var body: Body {
    { node, place in
      place.wait()
      return node
    }
  }
}

private final class InArrayOfFrame: OnThread, @unchecked Sendable {
  override var body: Body {
    { node, place in
      var nodes = [node, node]
      place.wait()
      return nodes.removeLast()
    }
  }
}

private final class InCFrame: OnThread, @unchecked Sendable {
  override var body: Body {
    { object, place in
      let pointer = masked(object)
      place.isReady.signal()
      return node(truth_wait_in_frame(pointer, place.descriptor))
    }
  }
}

private final class InRegister: OnThread, @unchecked Sendable {
  override var body: Body {
    { object, place in
      let pointer = masked(object)
      place.isReady.signal()
      return node(truth_wait_in_register(pointer, place.descriptor))
    }
  }
}

private final class BeyondSwitch: OnThread, @unchecked Sendable {
  override var body: Body {
    { object, place in
      let pointer = masked(object)
      let stack = malloc(64 << 10)!
      defer { free(stack) }
      place.isReady.signal()
      return node(truth_wait_beyond_switch(pointer, place.descriptor, stack, 64 << 10))
    }
  }
}

private final class BelowFiber: OnThread, @unchecked Sendable {
  override var body: Body {
    { object, place in
      let pointer = masked(object)
      place.isReady.signal()
      return node(truth_wait_below_fiber(pointer, place.descriptor))
    }
  }
}

private final class BelowSignalStack: OnThread, @unchecked Sendable {
  override var body: Body {
    { object, place in
      let pointer = masked(object)
      place.isReady.signal()
      return node(truth_wait_below_signal_stack(pointer, place.descriptor))
    }
  }
}

private final class InCondition: OnThread, @unchecked Sendable {
  override var body: Body {
    { node, place in
      let condition = NSCondition()
      let descriptor = place.descriptor
      let helper = Thread {
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) < 0 {}
        condition.withLock { condition.signal() }
      }
      condition.lock()
      helper.start()
      place.isReady.signal()
      condition.wait()
      condition.unlock()
      return node
    }
  }
}

private final class InSpecific: OnThread, @unchecked Sendable {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()
  override var body: Body {
    { object, place in
      pthread_setspecific(Self.key, raw(object))
      place.wait()
      defer { pthread_setspecific(Self.key, nil) }
      return node(pthread_getspecific(Self.key))
    }
  }
}

private final class InDictionary: OnThread, @unchecked Sendable {
  override var body: Body {
    { node, place in
      Thread.current.threadDictionary["node"] = node
      place.wait()
      let found = Thread.current.threadDictionary["node"] as? Node
      Thread.current.threadDictionary.removeObject(forKey: "node")
      return found
    }
  }
}

private final class InThreadLocal: OnThread, @unchecked Sendable {
  override var body: Body {
    { object, place in
      truth_set_thread_local(raw(object))
      place.wait()
      defer { truth_set_thread_local(nil) }
      return node(truth_thread_local())
    }
  }
}

private final class InLibrarysThreadLocal: OnThread, @unchecked Sendable {
  override var body: Body {
    { object, place in
      Library.slot()[0] = raw(object)
      place.wait()
      defer { Library.slot()[0] = nil }
      return node(Library.slot()[0])
    }
  }
}

/// The library that is loaded when it is needed.
private enum Library {
  private static let handle: Int = {
    let directory = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let handle = dlopen(directory.appending(path: "libHeapTruthPlugin.so").path, RTLD_NOW)
    precondition(handle != nil, "heap-truth: libHeapTruthPlugin.so is missing")
    return Int(bitPattern: handle)
  }()
  typealias Slots = @convention(c) () -> UnsafeMutablePointer<UnsafeMutableRawPointer?>
  static let slot = unsafeBitCast(
    dlsym(UnsafeMutableRawPointer(bitPattern: handle), "truth_plugin_thread_local"), to: Slots.self)
  static let globals = unsafeBitCast(
    dlsym(UnsafeMutableRawPointer(bitPattern: handle), "truth_plugin_globals"), to: Slots.self)
}

private final class InLibrary: Holder, @unchecked Sendable {
  nonisolated(unsafe) private static var free = Array(0..<64)
  private static let lock = NSLock()
  private var slots: [Int] = []

  override func put(_ node: Node) -> Bool {
    guard let slot = Self.lock.withLock({ Self.free.popLast() }) else { return false }
    slots.append(slot)
    Library.globals()[slot] = raw(node)
    return true
  }
  override func take() -> Node? {
    guard let slot = slots.popLast() else { return nil }
    let found = node(Library.globals()[slot])
    Library.globals()[slot] = nil
    Self.lock.withLock { Self.free.append(slot) }
    return found
  }
  deinit { while take() != nil {} }
}

/// A fiber that is switched out with a node in a frame of its stack.
private final class Fiber: Holder, @unchecked Sendable {
  private let isMapped: Bool
  private let stack: UnsafeMutableRawPointer
  private var fiber: OpaquePointer?

  init(isMapped: Bool) {
    self.isMapped = isMapped
    stack =
      isMapped
      ? mmap(nil, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : malloc(65536)
    super.init()
  }
  override func put(_ node: Node) -> Bool {
    if fiber != nil { return false }
    fiber = truth_fiber_start(masked(node), stack, 65536)
    return true
  }
  override func take() -> Node? { fiber.take().flatMap { node(truth_fiber_finish($0)) } }
  deinit {
    _ = take()
    if isMapped { munmap(stack, 65536) } else { free(stack) }
  }
}

// A forked child does not have the registers of other threads.
let threadKinds: [Kind] = [
  Kind(name: "thread.frame", isRoot: true, isLostInFork: true, limit: 4) { InSwiftFrame() },
  Kind(name: "thread.array", isRoot: true, limit: 4) { InArrayOfFrame() },
  Kind(name: "thread.frameOfC", isRoot: true, limit: 4) { InCFrame() },
  Kind(name: "thread.register", isRoot: true, isLostInFork: true, limit: 4) { InRegister() },
  Kind(name: "thread.beyondSwitch", isRoot: true, limit: 4) { BeyondSwitch() },
  Kind(name: "thread.belowFiber", isRoot: true, limit: 4) { BelowFiber() },
  Kind(name: "thread.belowSignalStack", isRoot: true, limit: 4) { BelowSignalStack() },
  Kind(name: "thread.condition", isRoot: true, isLostInFork: true, limit: 4) { InCondition() },
  Kind(name: "thread.specific", isRoot: true, limit: 4) { InSpecific() },
  Kind(name: "thread.dictionary", isRoot: true, limit: 4) { InDictionary() },
  Kind(name: "thread.local", isRoot: true, limit: 4) { InThreadLocal() },
  Kind(name: "thread.localOfLibrary", isRoot: true, limit: 4) { InLibrarysThreadLocal() },
  Kind(name: "library.global", isRoot: true, limit: 4) { InLibrary() },
  Kind(name: "fiber.block") { Fiber(isMapped: false) },
  Kind(name: "fiber.mapping", isRoot: true, limit: 6) { Fiber(isMapped: true) },
]
