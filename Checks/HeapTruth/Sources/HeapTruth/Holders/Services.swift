import CHeapTruth
import Foundation

// Nodes that Dispatch, Foundation or the kernel keep for later.

/// Something that gives a node back when it is run.
private class Later: Holder, @unchecked Sendable {
  fileprivate let outward = Handover()
  private var isFull = false
  /// Arranges for `give` to be called once, when `finish` is called.
  fileprivate func arrange(_ give: @escaping @Sendable () -> Void) {}
  fileprivate func finish() {}

  override func put(_ node: Node) -> Bool {
    if isFull { return false }
    isFull = true
    arrange { [outward] in outward.give(node) }
    return true
  }
  override func take() -> Node? {
    if !isFull { return nil }
    isFull = false
    finish()
    return outward.receive()
  }
  deinit { if isFull { finish() } }
}

private final class SuspendedQueue: Later, @unchecked Sendable {
  private let queue = DispatchQueue(label: "heap-truth")
  override func arrange(_ give: @escaping @Sendable () -> Void) {
    queue.suspend()
    queue.async(execute: give)
    queue.async {}
  }
  override func finish() { queue.resume() }
}

private final class BehindBarrier: Later, @unchecked Sendable {
  private let target = DispatchQueue(label: "heap-truth.target")
  private lazy var queue = DispatchQueue(label: "heap-truth", attributes: .concurrent, target: target)
  override func arrange(_ give: @escaping @Sendable () -> Void) {
    target.suspend()
    queue.async(flags: .barrier, execute: give)
  }
  override func finish() { target.resume() }
}

private final class WorkItem: Later, @unchecked Sendable {
  private var item: DispatchWorkItem?
  override func arrange(_ give: @escaping @Sendable () -> Void) { item = DispatchWorkItem(block: give) }
  override func finish() { item.take()?.perform() }
}

private final class Notified: Later, @unchecked Sendable {
  private let group = DispatchGroup()
  override func arrange(_ give: @escaping @Sendable () -> Void) {
    group.enter()
    group.notify(queue: .global(), execute: give)
  }
  override func finish() { group.leave() }
}

private final class FarTimer: Later, @unchecked Sendable {
  private var source: (any DispatchSourceTimer)?
  override func arrange(_ give: @escaping @Sendable () -> Void) {
    let source = DispatchSource.makeTimerSource()
    source.schedule(deadline: .now() + 100_000)
    source.setEventHandler {}
    source.setCancelHandler(handler: give)
    source.activate()
    self.source = source
  }
  override func finish() { source.take()?.cancel() }
}

private final class ReadSource: Later, @unchecked Sendable {
  private var source: (any DispatchSourceRead)?
  private var descriptors: [Int32] = [-1, -1]
  override func arrange(_ give: @escaping @Sendable () -> Void) {
    pipe(&descriptors)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptors[0])
    source.setEventHandler { [descriptor = descriptors[0]] in
      var byte: UInt8 = 0
      read(descriptor, &byte, 1)
      give()
    }
    source.setCancelHandler { [descriptors] in for descriptor in descriptors { close(descriptor) } }
    source.activate()
    self.source = source
  }
  override func finish() {
    var byte: UInt8 = 1
    write(descriptors[1], &byte, 1)
  }
  override func take() -> Node? {
    let node = super.take()
    source.take()?.cancel()
    return node
  }
  deinit {
    // The handler holds what it needs; the source goes when it has run.
    nonisolated(unsafe) let source = source
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.01) { source?.cancel() }
  }
}

private final class BytesOwner: Later, @unchecked Sendable {
  private var data: DispatchData?
  override func arrange(_ give: @escaping @Sendable () -> Void) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 100_000, alignment: 8)
    nonisolated(unsafe) let bytes = memory
    data = DispatchData(
      bytesNoCopy: UnsafeRawBufferPointer(memory),
      deallocator: .custom(
        .global(),
        {
          bytes.deallocate()
          give()
        }))
  }
  override func finish() { data = nil }
}

private final class DataOwner: Later, @unchecked Sendable {
  private var data: Data?
  override func arrange(_ give: @escaping @Sendable () -> Void) {
    let memory = malloc(1000)!
    data = Data(
      bytesNoCopy: memory, count: 1000,
      deallocator: .custom({ bytes, _ in
        free(bytes)
        give()
      }))
  }
  override func finish() { data = nil }
}

private final class Operations: Later, @unchecked Sendable {
  private let queue = OperationQueue()
  override func arrange(_ give: @escaping @Sendable () -> Void) {
    queue.isSuspended = true
    let operation = BlockOperation(block: give)
    queue.addOperation(operation)
    let last = BlockOperation {}
    last.addDependency(operation)
    queue.addOperation(last)
  }
  override func finish() { queue.isSuspended = false }
}

private final class Observer: Later, @unchecked Sendable {
  private let center: NotificationCenter
  private var token: (any NSObjectProtocol)?
  private let name = Notification.Name("heap-truth \(UUID())")
  init(_ center: NotificationCenter) {
    self.center = center
    super.init()
  }
  override func arrange(_ give: @escaping @Sendable () -> Void) {
    token = center.addObserver(forName: name, object: nil, queue: nil) { _ in give() }
  }
  override func finish() {
    center.post(name: name, object: nil)
    center.removeObserver(token.take()!)
  }
}

private final class UnstartedThread: Later, @unchecked Sendable {
  private var thread: Thread?
  override func arrange(_ give: @escaping @Sendable () -> Void) { thread = Thread(block: give) }
  override func finish() { thread.take()?.start() }
}

private final class Specific: Holder, @unchecked Sendable {
  private static let key = DispatchSpecificKey<Node>()
  private let queue = DispatchQueue(label: "heap-truth")
  override func put(_ node: Node) -> Bool {
    if queue.getSpecific(key: Self.key) != nil { return false }
    queue.setSpecific(key: Self.key, value: node)
    return true
  }
  override func take() -> Node? {
    defer { queue.setSpecific(key: Self.key, value: nil) }
    return queue.getSpecific(key: Self.key)
  }
}

private final class Containers: Holder, @unchecked Sendable {
  private let array = NSMutableArray()
  private let dictionary = NSMutableDictionary()
  private let set = NSMutableSet()
  private let cache = NSCache<NSString, Node>()
  private var turn = 0
  override func put(_ node: Node) -> Bool {
    turn += 1
    switch turn % 4 {
    case 0: array.add(node)
    case 1: dictionary["key \(turn)"] = node
    case 2: set.add(node)
    default:
      if cache.object(forKey: "key") != nil { array.add(node) } else { cache.setObject(node, forKey: "key") }
    }
    return true
  }
  override func take() -> Node? {
    if let node = array.lastObject as? Node {
      array.removeLastObject()
      return node
    }
    if let key = dictionary.allKeys.first, let node = dictionary[key] as? Node {
      dictionary.removeObject(forKey: key)
      return node
    }
    if let node = set.anyObject() as? Node {
      set.remove(node)
      return node
    }
    defer { cache.removeObject(forKey: "key") }
    return cache.object(forKey: "key")
  }
}

// Not the attributes of an NSAttributedString: Foundation never releases them.
private final class UserInfo: Holder, @unchecked Sendable {
  private var error: NSError?
  private var notification: Notification?
  override func put(_ node: Node) -> Bool {
    if error == nil {
      error = NSError(domain: "heap-truth", code: 1, userInfo: ["node": node])
    } else if notification == nil {
      notification = Notification(name: .init("heap-truth"), object: node, userInfo: [1: 2])
    } else {
      return false
    }
    return true
  }
  override func take() -> Node? {
    if let error = error.take() { return error.userInfo["node"] as? Node }
    if let notification = notification.take() { return notification.object as? Node }
    return nil
  }
}

/// What only the kernel knows; a masked copy shows us.
private final class Kernel: Holder, @unchecked Sendable {
  private let isTimer: Bool
  private var descriptors: [Int32] = []
  private var timer: Int32?
  private var masked: UInt = 0

  init(isTimer: Bool) {
    self.isTimer = isTimer
    super.init()
  }
  override func put(_ node: Node) -> Bool {
    if masked != 0 { return false }
    let pointer = Unmanaged.passRetained(node).toOpaque()
    masked = UInt(bitPattern: pointer) ^ UInt(TRUTH_MASK)
    if isTimer {
      timer = truth_timer_with(pointer)
    } else {
      descriptors = [0, 0]
      truth_epoll_with(pointer, &descriptors)
    }
    return true
  }
  override func take() -> Node? {
    if masked == 0 { return nil }
    let node = Unmanaged<Node>.fromOpaque(
      UnsafeRawPointer(bitPattern: masked ^ UInt(TRUTH_MASK))!
    ).takeRetainedValue()
    masked = 0
    for descriptor in descriptors { close(descriptor) }
    descriptors = []
    if let timer { truth_timer_delete(timer) }
    timer = nil
    return node
  }
  deinit { _ = take() }
}

let serviceKinds: [Kind] = [
  Kind(name: "dispatch.suspendedQueue") { SuspendedQueue() },
  Kind(name: "dispatch.barrier") { BehindBarrier() },
  Kind(name: "dispatch.workItem") { WorkItem() },
  Kind(name: "dispatch.group") { Notified() },
  Kind(name: "dispatch.timer", isRoot: true, limit: 20) { FarTimer() },
  Kind(name: "dispatch.readSource", isRoot: true, limit: 10) { ReadSource() },
  Kind(name: "dispatch.data") { BytesOwner() },
  Kind(name: "dispatch.specific") { Specific() },
  Kind(name: "foundation.data") { DataOwner() },
  Kind(name: "foundation.operation") { Operations() },
  Kind(name: "foundation.observer") { Observer(NotificationCenter()) },
  Kind(name: "foundation.observerOfDefault", isRoot: true, limit: 20) { Observer(.default) },
  Kind(name: "foundation.thread") { UnstartedThread() },
  Kind(name: "foundation.containers") { Containers() },
  Kind(name: "foundation.userInfo") { UserInfo() },
  Kind(name: "kernel.epoll", isRoot: true, isLostInFork: false, limit: 4) { Kernel(isTimer: false) },
  Kind(name: "kernel.timer", isRoot: true, isLostInFork: true, limit: 4) { Kernel(isTimer: true) },
]
