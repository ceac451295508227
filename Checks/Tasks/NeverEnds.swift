import Foundation

/// What never ends. Nothing is left that could resume the task, or its work has lost its object, or it ignores that it was cancelled.
nonisolated(unsafe) var feed: AsyncStream<Int>.Continuation?
nonisolated(unsafe) var resumption: UnsafeContinuation<Void, Never>?

final class Model: @unchecked Sendable {
  var task: Task<Void, Never>?
  var count = 0

  func poll() {
    task = Task { [weak self] in
      while true {
        try? await Task.sleep(for: .seconds(1000))
        self?.count += 1
      }
    }
  }

  func follow(_ stream: AsyncStream<Int>) {
    task = Task { [weak self] in
      for await number in stream { self?.count += number }
    }
  }

  func followInGroup(_ stream: AsyncStream<Int>) {
    task = Task { [weak self] in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { for await number in stream { self?.count += number } }
      }
    }
  }
}

final class Typed<Element: Sendable>: @unchecked Sendable {
  var last: Element?

  func follow(_ stream: AsyncStream<Element>) {
    Task.detached { [weak self] in
      for await element in stream { self?.last = element }
    }
  }
}

actor Partner {
  private var waiting: CheckedContinuation<Void, Never>?
  private var partner: Partner?

  func meet(_ other: Partner) { partner = other }
  func turn() async {
    await withCheckedContinuation { waiting = $0 }
    await partner?.wake()
  }
  func wake() { waiting?.resume() }
}

/// Hands elements from senders to receivers.
actor Channel<Element: Sendable> {
  private var receivers: [CheckedContinuation<Element, Never>] = []
  private var senders: [(Element, CheckedContinuation<Void, Never>)] = []

  func send(_ element: Element) async {
    if !receivers.isEmpty { return receivers.removeFirst().resume(returning: element) }
    await withCheckedContinuation { senders.append((element, $0)) }
  }

  func receive() async -> Element {
    guard !senders.isEmpty else { return await withCheckedContinuation { receivers.append($0) } }
    let (element, sender) = senders.removeFirst()
    sender.resume()
    return element
  }
}

final class Box<Value>: @unchecked Sendable {
  var value: Value?
  init(_ value: Value? = nil) { self.value = value }
}

@inline(never) func typed<T: Sendable>(_: T.Type) async -> T? {
  await withCheckedContinuation { (_: CheckedContinuation<T?, Never>) in }
}

let endless: [(String, Body)] = [
  ("continuation", { await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in } }),
  ("unsafe", { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }),
  ("throwing", { try? await withCheckedThrowingContinuation { (_: CheckedContinuation<Void, any Error>) in } }),
  ("typed", { _ = await typed([String: Int].self) }),
  ("stream", { for await _ in AsyncStream<Int>(bufferingPolicy: .unbounded, { _ in }) {} }),
  (
    "made-stream",
    {
      let (stream, _) = AsyncStream.makeStream(of: String.self)
      for await _ in stream {}
    }
  ),
  (
    "throwing-stream",
    {
      do {
        for try await _ in AsyncThrowingStream<Int, any Error>(Int.self, bufferingPolicy: .unbounded, { _ in }) {}
      } catch {}
    }
  ),
  (
    "unfolding",
    {
      for await _ in AsyncStream<Int>(unfolding: {
        await withCheckedContinuation { (_: CheckedContinuation<Int?, Never>) in }
      }) {}
    }
  ),
]

let circles: [(String, () -> Void)] = [
  (
    "two-tasks",
    {
      let (first, second) = (Box<Task<Void, Never>>(), Box<Task<Void, Never>>())
      let gate = DispatchSemaphore(value: 0)
      first.value = Task {
        while second.value == nil { await Task.yield() }
        await second.value?.value
      }
      second.value = Task { await first.value?.value }
      gate.signal()
    }
  ),
  (
    "kept-tasks",
    {
      let third = Box<Task<Void, any Error>>()
      handles.append(
        Task {
          while third.value == nil { await Task.yield() }
          try await third.value?.value
        })
      let first = handles[0]
      handles.append(Task { try await first.value })
      let second = handles[1]
      third.value = Task { try await second.value }
      handles.append(third.value!)
    }
  ),
  (
    "child-awaits-parent",
    {
      handle = Task {
        await withTaskGroup(of: Void.self) { group in
          group.addTask {
            while handle == nil { await Task.yield() }
            await handle?.value
          }
        }
      }
    }
  ),
  (
    "let-awaits-parent",
    {
      handle = Task {
        @Sendable func wait() async {
          while handle == nil { await Task.yield() }
          await handle?.value
        }
        async let child: Void = wait()
        await child
      }
    }
  ),
  // Of two in one frame, one that a global variable resumes and one that is lost.
  (
    "let-beside-lost",
    {
      Task {
        async let lost: Void = withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        async let kept: Void = withUnsafeContinuation { resumption = $0 }
        _ = await (kept, lost)
      }
    }
  ),
  (
    "let-awaits-own-frame",
    {
      Task {
        let box = Box<CheckedContinuation<Void, Never>>()
        async let child: Void = withCheckedContinuation { box.value = $0 }
        await child
        box.value?.resume()
      }
    }
  ),
  (
    "group-awaits-own-frame",
    {
      Task {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        await withTaskGroup(of: Void.self) { group in
          group.addTask { for await _ in stream {} }
          await group.waitForAll()
        }
        continuation.finish()
      }
    }
  ),
  (
    "dead-source",
    {
      Task {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
          let timer = DispatchSource.makeTimerSource()
          timer.setEventHandler { continuation.resume() }
          timer.schedule(deadline: .now() + 1)
          timer.resume()
        }
      }
    }
  ),
  (
    "receiver",
    {
      let channel = Channel<String>()
      Task { _ = await channel.receive() }
    }
  ),
  (
    "senders",
    {
      let channel = Channel<[Int]>()
      for number in 0..<5 { Task { await channel.send([number]) } }
    }
  ),
  (
    "actors",
    {
      let (first, second) = (Partner(), Partner())
      Task {
        await first.meet(second)
        await first.turn()
      }
      Task {
        await second.meet(first)
        await second.turn()
      }
    }
  ),
  (
    "feeds-itself",
    {
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      Task { for await number in stream { continuation.yield(number + 1) } }
    }
  ),
  (
    "feed-each-other",
    {
      let (first, second) = (AsyncStream.makeStream(of: Int.self), AsyncStream.makeStream(of: Int.self))
      Task { for await number in first.stream { second.continuation.yield(number) } }
      Task { for await number in second.stream { first.continuation.yield(number) } }
    }
  ),
  ("owner-of-sleep", { Model().poll() }),
  (
    "owner-of-stream",
    {
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      feed = continuation
      Model().follow(stream)
    }
  ),
  (
    "owner-of-group",
    {
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      feed = continuation
      Model().followInGroup(stream)
    }
  ),
  (
    "owner-with-type",
    {
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      feed = continuation
      Typed<Int>().follow(stream)
    }
  ),
  (
    "cancelled-callback",
    {
      let task = Task {
        while true {
          await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + 1000) { continuation.resume() }
          }
        }
      }
      usleep(20000)
      task.cancel()
    }
  ),
  (
    "cancelled-sleep",
    {
      let task = Task { while true { await Task { try? await Task.sleep(for: .seconds(1000)) }.value } }
      usleep(20000)
      task.cancel()
    }
  ),
  (
    "cancelled-group",
    {
      let task = Task {
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await Task.detached { try? await Task.sleep(for: .seconds(1000)) }.value }
        }
      }
      usleep(20000)
      task.cancel()
    }
  ),
]
