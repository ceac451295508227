import Foundation

// Nodes in tasks that wait, and in what tasks wait for.

/// What a waiting task and the holder have in common.
private final class Meeting: @unchecked Sendable {
  let inward = Handover()
  let outward = Handover()
  let isReady = DispatchSemaphore(value: 0)
  var checked: CheckedContinuation<Void, Never>?
  var throwing: CheckedContinuation<Void, any Error>?
  var unsafe: UnsafeContinuation<Void, Never>?

  func wait() async {
    await withCheckedContinuation {
      checked = $0
      isReady.signal()
    }
  }
  func goOn() {
    checked.take()?.resume()
    unsafe.take()?.resume()
    throwing.take()?.resume(throwing: CancellationError())
  }
}

/// A task that holds one node while it waits.
private class OnTask: Holder, @unchecked Sendable {
  private var meeting: Meeting?
  /// Starts a task that receives the node, holds it, waits and gives it back.
  fileprivate func start(_ meeting: Meeting) {}

  override func put(_ node: Node) -> Bool {
    if meeting != nil { return false }
    let meeting = Meeting()
    meeting.inward.give(node)
    start(meeting)
    meeting.isReady.wait()
    self.meeting = meeting
    return true
  }
  override func take() -> Node? {
    guard let meeting = meeting.take() else { return nil }
    meeting.goOn()
    return meeting.outward.receive()
  }
  // Nobody waits: this may be a thread of the pool that the task needs.
  deinit { meeting?.goOn() }
}

private final class InFrame: OnTask, @unchecked Sendable {
  override func start(_ meeting: Meeting) {
    Task {
      let node = meeting.inward.receive()!
      await meeting.wait()
      meeting.outward.give(node)
    }
  }
}

private final class InOuterFrame: OnTask, @unchecked Sendable {
  private static func outer(_ meeting: Meeting) async {
    let nodes = [meeting.inward.receive()!]
    let count = await middle(meeting, 3)
    meeting.outward.give(nodes[count * 0])
  }
  private static func middle(_ meeting: Meeting, _ depth: Int) async -> Int {
    if depth == 0 {
      await meeting.wait()
      return 1
    }
    let text = "depth \(depth)"
    return await middle(meeting, depth - 1) + text.count
  }
  override func start(_ meeting: Meeting) { Task.detached { await Self.outer(meeting) } }
}

private final class WithUnsafeContinuation: OnTask, @unchecked Sendable {
  override func start(_ meeting: Meeting) {
    Task(priority: .high) {
      let node = meeting.inward.receive()!
      await withUnsafeContinuation {
        meeting.unsafe = $0
        meeting.isReady.signal()
      }
      meeting.outward.give(node)
    }
  }
}

private final class WithThrowingContinuation: OnTask, @unchecked Sendable {
  override func start(_ meeting: Meeting) {
    Task {
      let node = meeting.inward.receive()!
      do {
        try await withCheckedThrowingContinuation {
          meeting.throwing = $0
          meeting.isReady.signal()
        }
      } catch {
        meeting.outward.give(node)
      }
    }
  }
}

private final class InTaskLocal: OnTask, @unchecked Sendable {
  @TaskLocal private static var local: Node?
  override func start(_ meeting: Meeting) {
    Task { await Self.run(meeting) }
  }
  private static func run(_ meeting: Meeting) async {
    await $local.withValue(meeting.inward.receive()) {
      await meeting.wait()
      meeting.outward.give(local!)
    }
  }
}

private final class InGroup: OnTask, @unchecked Sendable {
  override func start(_ meeting: Meeting) {
    Task {
      await withTaskGroup(of: Node?.self) { group in
        group.addTask {
          let node = meeting.inward.receive()!
          await meeting.wait()
          return node
        }
        group.addTask { nil }
        for await node in group where node != nil { meeting.outward.give(node!) }
      }
    }
  }
}

private final class InAsyncLet: OnTask, @unchecked Sendable {
  override func start(_ meeting: Meeting) {
    Task {
      let node = meeting.inward.receive()!
      async let other: Void = meeting.wait()
      async let number = 3
      _ = await (other, number)
      meeting.outward.give(node)
    }
  }
}

private final class InActor: OnTask, @unchecked Sendable {
  private actor Office {
    var count = 0
    func hold(_ meeting: Meeting) async {
      let node = meeting.inward.receive()!
      count += 1
      await meeting.wait()
      meeting.outward.give(node)
    }
  }
  private let office = Office()
  override func start(_ meeting: Meeting) { Task { [office] in await office.hold(meeting) } }
}

private final class InCancellationHandler: OnTask, @unchecked Sendable {
  override func start(_ meeting: Meeting) {
    Task {
      let node = meeting.inward.receive()!
      await withTaskCancellationHandler {
        await meeting.wait()
      } onCancel: {
        _ = node.id
      }
      meeting.outward.give(node)
    }
  }
}

/// A task that waits for the next element of a stream.
private final class InStreamConsumer: Holder, @unchecked Sendable {
  private var continuation: AsyncStream<Int>.Continuation?
  private let outward = Handover()

  override func put(_ node: Node) -> Bool {
    if continuation != nil { return false }
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let (inward, ready, outward) = (Handover(), DispatchSemaphore(value: 0), outward)
    inward.give(node)
    Task {
      let node = inward.receive()!
      ready.signal()
      for await _ in stream {}
      outward.give(node)
    }
    ready.wait()
    self.continuation = continuation
    return true
  }
  override func take() -> Node? {
    guard let continuation = continuation.take() else { return nil }
    continuation.finish()
    return outward.receive()
  }
  deinit { continuation?.finish() }
}

/// The buffer of a stream whose elements nobody has asked for yet.
private final class InStream: Holder, @unchecked Sendable {
  private let stream: AsyncStream<Node>
  private let continuation: AsyncStream<Node>.Continuation
  private var count = 0

  override init() {
    (stream, continuation) = AsyncStream.makeStream(of: Node.self)
    super.init()
  }
  override func put(_ node: Node) -> Bool {
    continuation.yield(node)
    count += 1
    return true
  }
  override func take() -> Node? {
    if count == 0 { return nil }
    count -= 1
    let (stream, outward) = (stream, Handover())
    Task {
      var elements = stream.makeAsyncIterator()
      outward.give(await elements.next()!)
    }
    return outward.receive()
  }
}

/// The result of a task that has ended.
private final class InResult: Holder, @unchecked Sendable {
  private var task: Task<Node, Never>?

  override func put(_ node: Node) -> Bool {
    if task != nil { return false }
    let (inward, ended) = (Handover(), DispatchSemaphore(value: 0))
    inward.give(node)
    let task = Task { inward.receive()! }
    Task {
      _ = await task.value
      ended.signal()
    }
    ended.wait()
    self.task = task
    return true
  }
  override func take() -> Node? {
    guard let task = task.take() else { return nil }
    let outward = Handover()
    Task { outward.give(await task.value) }
    return outward.receive()
  }
}

/// Jobs that an executor of the program has not run yet.
private final class InExecutor: Holder, @unchecked Sendable {
  private final class Executor: SerialExecutor, @unchecked Sendable {
    var jobs: [UnownedJob] = []
    let isEnqueued = DispatchSemaphore(value: 0)
    func enqueue(_ job: consuming ExecutorJob) {
      jobs.append(UnownedJob(job))
      isEnqueued.signal()
    }
    func run() { while let job = jobs.popLast() { job.runSynchronously(on: asUnownedSerialExecutor()) } }
  }
  private actor Desk {
    let executor: Executor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    init(_ executor: Executor) { self.executor = executor }
    func hand(_ node: Node, to outward: Handover) { outward.give(node) }
  }
  private let executor = Executor()
  private lazy var desk = Desk(executor)
  private let outward = Handover()
  private var isFull = false

  override func put(_ node: Node) -> Bool {
    if isFull { return false }
    isFull = true
    let (desk, outward, inward) = (desk, outward, Handover())
    inward.give(node)
    Task { await desk.hand(inward.receive()!, to: outward) }
    executor.isEnqueued.wait()
    return true
  }
  override func take() -> Node? {
    if !isFull { return nil }
    isFull = false
    executor.run()
    return outward.receive()
  }
  deinit { if isFull { executor.run() } }
}

private final class Sleeping: Holder, @unchecked Sendable {
  private var task: Task<Void, Never>?
  private let outward = Handover()

  override func put(_ node: Node) -> Bool {
    if task != nil { return false }
    let (inward, ready, outward) = (Handover(), DispatchSemaphore(value: 0), outward)
    inward.give(node)
    task = Task {
      let node = inward.receive()!
      ready.signal()
      try? await Task.sleep(for: .seconds(100_000))
      outward.give(node)
    }
    ready.wait()
    return true
  }
  override func take() -> Node? {
    guard let task = task.take() else { return nil }
    task.cancel()
    return outward.receive()
  }
  deinit { task?.cancel() }
}

let concurrencyKinds: [Kind] = [
  Kind(name: "task.frame") { InFrame() },
  Kind(name: "task.outerFrame") { InOuterFrame() },
  Kind(name: "task.unsafeContinuation") { WithUnsafeContinuation() },
  Kind(name: "task.throwingContinuation") { WithThrowingContinuation() },
  Kind(name: "task.local") { InTaskLocal() },
  Kind(name: "task.group") { InGroup() },
  Kind(name: "task.asyncLet") { InAsyncLet() },
  Kind(name: "task.actor") { InActor() },
  Kind(name: "task.cancellationHandler") { InCancellationHandler() },
  Kind(name: "task.result") { InResult() },
  Kind(name: "task.sleeping", isRoot: true, limit: 20) { Sleeping() },
  Kind(name: "stream.consumer") { InStreamConsumer() },
  Kind(name: "stream.buffer") { InStream() },
  Kind(name: "executor.job") { InExecutor() },
]
