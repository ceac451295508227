import Foundation

/// What waits for its turn: somebody can and will resume the task.
nonisolated(unsafe) var waiting: [CheckedContinuation<Void, Never>] = []
nonisolated(unsafe) var requests: [String: UnsafeContinuation<Void, Never>] = [:]
nonisolated(unsafe) var one: UnsafeContinuation<Void, Never>?
nonisolated(unsafe) var feeds: [AsyncStream<Int>.Continuation] = []
nonisolated(unsafe) var timers: [any DispatchSourceTimer] = []
nonisolated(unsafe) var models: [Model] = []
let lock = NSLock()

actor Queue {
  private var waiting: [CheckedContinuation<Void, Never>] = []
  func wait() async { await withCheckedContinuation { waiting.append($0) } }
  func wake() { waiting.popLast()?.resume() }
}
let queue = Queue()

func add(_ continuation: CheckedContinuation<Void, Never>) { lock.withLock { waiting.append(continuation) } }

let ordinary: [(String, Body)] = [
  ("continuation", { await withCheckedContinuation { add($0) } }),
  (
    "request",
    { await withUnsafeContinuation { continuation in lock.withLock { requests[UUID().uuidString] = continuation } } }
  ),
  (
    "global",
    {
      await withUnsafeContinuation { continuation in
        lock.withLock { if one == nil { one = continuation } else { continuation.resume() } }
      }
    }
  ),
  ("sleep", { try? await Task.sleep(for: .seconds(1000)) }),
  (
    "stream",
    {
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      lock.withLock { feeds.append(continuation) }
      for await _ in stream {}
    }
  ),
  (
    "callback",
    {
      await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + 1000) { continuation.resume() }
      }
    }
  ),
  (
    "timer",
    {
      await withCheckedContinuation { continuation in
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { continuation.resume() }
        timer.schedule(deadline: .now() + 1000)
        timer.resume()
        lock.withLock { timers.append(timer) }
      }
    }
  ),
  (
    "thread",
    {
      await withCheckedContinuation { continuation in
        Thread {
          sleep(1000)
          continuation.resume()
        }.start()
      }
    }
  ),
  ("queue", { await queue.wait() }),
  (
    "cancellable",
    {
      let box = Box<CheckedContinuation<Void, Never>>()
      lock.withLock { boxes.append(box) }
      await withTaskCancellationHandler {
        await withCheckedContinuation { box.value = $0 }
      } onCancel: {
        box.value?.resume()
      }
    }
  ),
]
nonisolated(unsafe) var boxes: [Box<CheckedContinuation<Void, Never>>] = []

let peaceful: [(String, () -> Void)] = [
  (
    "owner-lives",
    {
      let model = Model()
      models.append(model)
      model.poll()
    }
  ),
  (
    "owner-follows",
    {
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      feed = continuation
      models.append(Model())
      models[0].follow(stream)
    }
  ),
  (
    "producer",
    {
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      Task {
        while true {
          try? await Task.sleep(for: .seconds(1000))
          continuation.yield(1)
        }
      }
      Task { for await _ in stream {} }
    }
  ),
  (
    "let-wakes-parent",
    {
      Task {
        let box = Box<CheckedContinuation<Void, Never>>()
        async let child: Void = {
          try? await Task.sleep(for: .seconds(1000))
          box.value?.resume()
        }()
        await withCheckedContinuation { box.value = $0 }
        await child
      }
    }
  ),
  (
    "channel",
    {
      let channel = Channel<Int>()
      Task { while true { _ = await channel.receive() } }
      Task {
        while true {
          try? await Task.sleep(for: .seconds(1000))
          await channel.send(1)
        }
      }
    }
  ),
  (
    "pipeline",
    {
      let (first, second) = (AsyncStream.makeStream(of: Int.self), AsyncStream.makeStream(of: Int.self))
      feed = first.continuation
      Task { for await number in first.stream { second.continuation.yield(number) } }
      Task { for await _ in second.stream {} }
    }
  ),
  (
    "cancelled",
    {
      let task = Task { try await Task.sleep(for: .seconds(1000)) }
      task.cancel()
      handles.append(task)
    }
  ),
]
