// What timers, sources, queues, observers, errors, globals, thread-locals and stacks of waiting threads hold.
// EXPECT any
// LIBRARY Library/HeapTruth.swift
import Dispatch
import Foundation
import HeapTruth

final class Object: NSObject { let leaf = noted("object", Leaf()) }
final class Statics {
  static let shared = leaf("global")
  nonisolated(unsafe) static var variable: Leaf? = leaf("global")
  nonisolated(unsafe) static var table = ["a": leaf("static table")]
  lazy var later = leaf("lazy")
}
nonisolated(unsafe) var plain = leaf("global")
nonisolated(unsafe) var tuple = (1, leaf("global"))
nonisolated(unsafe) var any: Any = leaf("global")
nonisolated(unsafe) var function: () -> Void = { [held = leaf("global")] in held.use() }
nonisolated(unsafe) var kept: [Any] = []

struct Failure: Error {
  let leaf: Leaf
  let text = "text"
}
final class Work: Operation, @unchecked Sendable { let leaf = noted("operation", Leaf()) }
final class Ticking: @unchecked Sendable {
  let leaf = noted("timer", Leaf())
  private var timer: Timer?
  func start() { timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { [self] _ in leaf.use() } }
}

func leaf(_ name: String) -> Leaf { noted(name, Leaf()) }

@inline(never) func fillFoundation() {
  let (array, dictionary, cache) = (NSMutableArray(), NSMutableDictionary(), NSCache<NSString, Leaf>())
  array.add(leaf("NSArray"))
  dictionary["a"] = leaf("NSDictionary")
  cache.setObject(leaf("NSCache"), forKey: "a")
  kept += [array, dictionary, cache, Object(), Failure(leaf: leaf("error"))] as [Any]
  kept.append(NSError(domain: "domain", code: 1, userInfo: ["key": leaf("NSError")]))
  let ticking = Ticking()
  ticking.start()
  let observing = leaf("observer")
  kept.append(
    NotificationCenter.default.addObserver(forName: .init("x"), object: nil, queue: nil) { _ in observing.use() })
  let queue = OperationQueue()
  queue.isSuspended = true
  queue.addOperation(Work())
  let inBlock = leaf("block operation")
  queue.addOperation { inBlock.use() }
  kept += [ticking, queue] as [Any]
  Thread.current.threadDictionary["a"] = leaf("thread dictionary")
  let lazy = Statics()
  lazy.later.use()
  kept.append(lazy)
}

@inline(never) func fillDispatch() {
  let source = DispatchSource.makeTimerSource()
  let inSource = leaf("block")
  source.setEventHandler { inSource.use() }
  source.schedule(deadline: .now() + 1000)
  source.resume()
  let queue = DispatchQueue(label: "waiting")
  queue.suspend()
  let first = leaf("block")
  let second = leaf("block")
  let third = leaf("block")
  queue.async { first.use() }
  queue.async(execute: DispatchWorkItem { second.use() })
  DispatchQueue.global().asyncAfter(deadline: .now() + 1000) { third.use() }
  let key = DispatchSpecificKey<Leaf>()
  queue.setSpecific(key: key, value: leaf("specific"))
  kept += [source, queue] as [Any]
}

@inline(never) func waitInThread(_ argument: Leaf, _ started: DispatchSemaphore, _ end: DispatchSemaphore) {
  let local = leaf("frame")
  started.signal()
  end.wait()
  local.use()
  argument.use()
}

@inline(never) func fillThreads() {
  let started = DispatchSemaphore(value: 0)
  let end = DispatchSemaphore(value: 0)
  let captured = leaf("thread")
  let thread = Thread { waitInThread(captured, started, end) }
  thread.start()
  started.wait()
  kept += [thread, end] as [Any]
  var key = pthread_key_t()
  pthread_key_create(&key, nil)
  pthread_setspecific(key, Unmanaged.passRetained(leaf("thread-local")).toOpaque())
}

@inline(never) func tellAll() {
  Statics.shared.use()
  function()
  for leaf in [Statics.shared, Statics.variable!] { tellRoot(address(leaf), "Statics") }
  tellRoot(address(Statics.variable!), "variable")
  tellRoot(address(plain), "plain")
  tellRoot(address(tuple.1), "tuple")
  tellRoot(address(any as AnyObject), "any")
  _ = Statics.table
  tellNoted("HeapTruth.Leaf", borrowed: ["global", "frame", "thread-local", "block", "error"])
}
fillFoundation()
fillDispatch()
fillThreads()
tellAll()
exit(0)
