import Foundation
import Synchronization

/// What people write around continuations: caches, promises, channels, locks, executors.
struct PendingRequest {
  let id: Int
  let deadline: Date
  let continuation: CheckedContinuation<String, any Error>
}

final class BoundedCache: @unchecked Sendable {
  private var order: [Int] = []
  private var pending: [Int: PendingRequest] = [:]
  func add(_ request: PendingRequest) {
    pending[request.id] = request
    order.append(request.id)
    if order.count > 2 { pending[order.removeFirst()] = nil }
  }
}
let boundedCache = BoundedCache()

protocol LocatorDelegate: AnyObject { func located(_ x: Int) }
final class Locator: @unchecked Sendable {
  weak var delegate: (any LocatorDelegate)?
  func request() {}
}
final class LocatorBridge: LocatorDelegate, @unchecked Sendable {
  let continuation: CheckedContinuation<Int, Never>
  init(_ continuation: CheckedContinuation<Int, Never>) { self.continuation = continuation }
  func located(_ x: Int) { continuation.resume(returning: x) }
}
let locator = Locator()
nonisolated(unsafe) var erasedHandles: [any Sendable] = []
nonisolated(unsafe) var bridges: [LocatorBridge] = []

final class Promise<Value: Sendable>: @unchecked Sendable {
  enum State {
    case waiting([CheckedContinuation<Value, Never>])
    case done(Value)
  }
  private let state = Mutex<State>(.waiting([]))
  func get() async -> Value {
    await withCheckedContinuation { continuation in
      state.withLock {
        switch $0 {
        case .waiting(let list): $0 = .waiting(list + [continuation])
        case .done(let value): continuation.resume(returning: value)
        }
      }
    }
  }
  func fulfill(_ value: Value) {
    let list: [CheckedContinuation<Value, Never>] = state.withLock {
      guard case .waiting(let list) = $0 else { return [] }
      $0 = .done(value)
      return list
    }
    for one in list { one.resume(returning: value) }
  }
}
let livePromise = Promise<Int>()

actor AsyncSemaphore {
  private var count: Int
  private var waiters: [CheckedContinuation<Void, Never>] = []
  init(_ count: Int) { self.count = count }
  func wait() async {
    count -= 1
    if count >= 0 { return }
    await withCheckedContinuation { waiters.append($0) }
  }
  func signal() {
    count += 1
    if !waiters.isEmpty { waiters.removeFirst().resume() }
  }
}
actor AsyncMutex {
  private var locked = false
  private var waiters: [UnsafeContinuation<Void, Never>] = []
  func lock() async {
    if !locked {
      locked = true
      return
    }
    await withUnsafeContinuation { waiters.append($0) }
  }
  func unlock() {
    if waiters.isEmpty { locked = false } else { waiters.removeFirst().resume() }
  }
}
let theSemaphore = AsyncSemaphore(0)

final class MultiChannel<Element: Sendable>: AsyncSequence, @unchecked Sendable {
  enum State {
    case idle
    case waiting(UnsafeContinuation<Element?, Never>)
    case finished
  }
  let state = Mutex<State>(.idle)
  struct Iterator: AsyncIteratorProtocol {
    let channel: MultiChannel
    mutating func next() async -> Element? { await channel.take() }
  }
  func makeAsyncIterator() -> Iterator { Iterator(channel: self) }
  func take() async -> Element? {
    await withUnsafeContinuation { continuation in state.withLock { $0 = .waiting(continuation) } }
  }
  func send(_ element: Element) {
    let waiting: UnsafeContinuation<Element?, Never>? = state.withLock {
      guard case .waiting(let continuation) = $0 else { return nil }
      $0 = .idle
      return continuation
    }
    waiting?.resume(returning: element)
  }
}
enum Statics {
  static let channel = MultiChannel<Int>()
  static let inbox = Mutex<[String: MultiChannel<Int>.State]>([:])
  nonisolated(unsafe) static var any: [String: Any] = [:]
  nonisolated(unsafe) static var weakBoxes: [WeakBox] = []
  nonisolated(unsafe) static var subjects: [Subject] = []
  nonisolated(unsafe) static var nested: () -> Void = {}
  nonisolated(unsafe) static var ring: UnsafeMutablePointer<CheckedContinuation<Void, Never>?>!
  nonisolated(unsafe) static var context: UnsafeMutableRawPointer?
  nonisolated(unsafe) static var objects: [AnyObject] = []
  nonisolated(unsafe) static var tree: Tree = .leaf
  static let suspended = DispatchQueue(label: "suspended")
}
indirect enum Tree {
  case leaf
  case node(Tree, CheckedContinuation<Void, Never>, Tree)
}
final class WeakBox: @unchecked Sendable {
  weak var value: LocatorBridge?
  init(_ value: LocatorBridge) { self.value = value }
}
final class Subject: @unchecked Sendable {
  var subscribers: [ObjectIdentifier: (Int) -> Void] = [:]
  func subscribe(_ handler: @escaping (Int) -> Void) -> Subscription {
    let token = Subscription()
    subscribers[ObjectIdentifier(token)] = handler
    let id = ObjectIdentifier(token)
    token.cancel = { [weak self] in self?.subscribers[id] = nil }
    return token
  }
  func send(_ x: Int) { for one in subscribers.values { one(x) } }
}
final class Subscription: @unchecked Sendable {
  var cancel: (() -> Void)?
  deinit { cancel?() }
}
final class CallbackService: @unchecked Sendable {
  var completions: [(Result<Int, any Error>) -> Void] = []
  func fetch(_ completion: @escaping (Result<Int, any Error>) -> Void) { completions.append(completion) }
}
final class LeakedSession: @unchecked Sendable {
  var continuation: CheckedContinuation<Void, Never>?
  var onDone: (() -> Void)?
  func run() async {
    onDone = { self.continuation?.resume() }
    await withCheckedContinuation { continuation = $0 }
  }
}
enum Scope { @TaskLocal static var box: Box<CheckedContinuation<Void, Never>>? }

final class ManualExecutor: SerialExecutor, @unchecked Sendable {
  var jobs: [UnownedJob] = []
  func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }
  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
final class ThreadExecutor: SerialExecutor, @unchecked Sendable {
  let condition = NSCondition()
  var jobs: [UnownedJob] = []
  init() {
    let condition = self.condition
    Thread.detachNewThread { [unowned self] in
      while true {
        condition.lock()
        while jobs.isEmpty { condition.wait() }
        let job = jobs.removeFirst()
        condition.unlock()
        job.runSynchronously(on: asUnownedSerialExecutor())
      }
    }
  }
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    condition.withLock {
      jobs.append(job)
      condition.signal()
    }
  }
  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
actor OnExecutor {
  let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  init(_ executor: any SerialExecutor) { self.executor = executor }
  var waiting: [CheckedContinuation<Void, Never>] = []
  func work() async { await withCheckedContinuation { waiting.append($0) } }
  func lose() async { await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in } }
}
let threadExecutor = ThreadExecutor()
let onThread = OnExecutor(threadExecutor)
final class QueueExecutor: TaskExecutor, @unchecked Sendable {
  let queue = DispatchQueue(label: "tasks")
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
let queueExecutor = QueueExecutor()

final class Ticker: @unchecked Sendable {
  var ticks = 0
  var other: Ticker?
  func start() {
    Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(nanoseconds: 1_000_000_000_000)
        guard let self else { continue }
        self.ticks += 1
      }
    }
  }
  func startGuarded() {
    Task { [weak self] in
      while true {
        try? await Task.sleep(for: .seconds(1000))
        guard let self else { return }
        self.ticks += 1
      }
    }
  }
  func observe(_ notes: Notes) {
    Task { [weak self] in
      for await note in notes.named("tick") { self?.ticks += note }
    }
  }
  func manual(_ stream: AsyncStream<Int>) {
    Task { [weak self] in
      var iterator = stream.makeAsyncIterator()
      while let x = await iterator.next() { self?.add(x) }
    }
  }
  func add(_ x: Int) { ticks += x }
  func unfold() {
    Task { [weak self] in
      let stream = AsyncStream<Int>(unfolding: {
        try? await Task.sleep(for: .seconds(1000))
        return 1
      })
      for await x in stream { self?.add(x) }
    }
  }
  func both(_ other: Ticker) {
    Task { [weak self, weak other] in
      while true {
        try? await Task.sleep(for: .seconds(1000))
        self?.add(1)
        other?.add(1)
      }
    }
  }
  func method() { Task { [weak self] in await self?.forever() } }
  func forever() async {
    while true {
      try? await Task.sleep(for: .seconds(1000))
      add(1)
    }
  }
  func timers() {
    Task { [weak self] in
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 {
          group.addTask { [weak self] in
            while true {
              try? await Task.sleep(for: .seconds(1000))
              self?.add(1)
            }
          }
        }
      }
    }
  }
  var stored: Task<Void, Never>?
  func strong() {
    stored = Task {
      while true {
        try? await Task.sleep(for: .seconds(1000))
        self.add(1)
      }
    }
  }
}
final class Notes: @unchecked Sendable {
  private var continuations: [String: [UUID: AsyncStream<Int>.Continuation]] = [:]
  private let lock = NSLock()
  func named(_ name: String) -> AsyncStream<Int> {
    let id = UUID()
    return AsyncStream { continuation in
      continuation.onTermination = { [weak self] _ in
        self?.lock.withLock { _ = self?.continuations[name]?.removeValue(forKey: id) }
      }
      lock.withLock { continuations[name, default: [:]][id] = continuation }
    }
  }
  func post(_ name: String, _ x: Int) {
    for one in lock.withLock({ continuations[name] ?? [:] }).values { one.yield(x) }
  }
}
let notes = Notes()
func lost() async { await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in } }
func settle() { usleep(30_000) }
struct Failure: Error {}

let heldMutex = AsyncMutex()
final class LazyHolder: @unchecked Sendable {
  let c: CheckedContinuation<Void, Never>
  lazy var finish: () -> Void = { [c] in c.resume() }
  init(_ c: CheckedContinuation<Void, Never>) {
    self.c = c
    _ = finish
  }
}
enum Pipe0 {
  static func make() -> Int32 {
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    return ends[0]
  }
  static let read = make()
}
