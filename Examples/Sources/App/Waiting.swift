import Dispatch
import Foundation

extension Scenario {
  static let waiting = [
    Scenario(
      "30.1", "a repeating Timer whose block captures the owner of the timer",
      .suspect(kind: "heldByTimer", type: "App.Carousel")
    ) { makeCarousel() },
    Scenario(
      "30.2", "a Timer that fired: Foundation never frees its block",
      .leak(kind: "unreferenced", type: "App.Reminder")
    ) { makeReminder() },
    Scenario(
      "30.3", "a NotificationCenter observer whose block captures the owner of its token",
      .suspect(kind: "heldByObserver", type: "App.Badge")
    ) { makeBadge() },
    Scenario(
      "30.4", "a running DispatchSource timer whose handler captures its owner",
      .suspect(kind: "heldByDispatchSource", type: "App.Heartbeat")
    ) { try await makeHeartbeat() },
    Scenario(
      "30.5", "a Task that never ends captures the object that stores it",
      .suspect(kind: "heldByTask", type: "App.Poller")
    ) { try await makePoller() },
    Scenario(
      "30.6", "a continuation that was dropped: its task waits for ever",
      .leak(kind: "unreferenced", type: "App.Request")
    ) { try await makeRequest() },
    Scenario(
      "30.7", "passRetained without a release",
      .leak(kind: "unreferenced", type: "App.Token")
    ) { makeToken() },
    Scenario(
      "30.8", "pthread_setspecific without a destructor, on a thread that ended",
      .leak(kind: "unreferenced", type: "App.ThreadState")
    ) { makeThreadState() },
  ]
}

final class Carousel: @unchecked Sendable {
  private var page = 0
  private var timer: Timer?

  init() {
    timer = Timer.scheduledTimer(withTimeInterval: 600, repeats: true) { _ in self.page += 1 }
  }

  deinit { timer?.invalidate() }
}

@inline(never) private func makeCarousel() { use(Carousel()) }

final class Reminder: @unchecked Sendable {
  var reminded = 0
}

@inline(never) private func makeReminder() {
  let reminder = Reminder()
  _ = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in reminder.reminded += 1 }
  RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.1))
}

final class Badge: @unchecked Sendable {
  private var count = 0
  private var token: (any NSObjectProtocol)?

  init() {
    token = NotificationCenter.default.addObserver(forName: Notification.Name("mail"), object: nil, queue: nil) { _ in
      self.count += 1
    }
  }

  deinit { token.map(NotificationCenter.default.removeObserver) }
}

@inline(never) private func makeBadge() { use(Badge()) }

final class Heartbeat: @unchecked Sendable {
  private var beats = 0
  private let source = DispatchSource.makeTimerSource()

  func start() {
    source.setEventHandler { self.beats += 1 }
    source.schedule(deadline: .now() + 600, repeating: 600)
    source.resume()
  }

  deinit { source.cancel() }
}

@inline(never) private func startHeartbeat() {
  let heartbeat = Heartbeat()
  heartbeat.start()
  use(heartbeat)
}

private func makeHeartbeat() async throws {
  startHeartbeat()
  try await Task.sleep(for: .milliseconds(100))
}

final class Poller: @unchecked Sendable {
  private var polls = 0
  private var task: Task<Void, Never>?

  func start() {
    task = Task {
      while !Task.isCancelled {
        self.polls += 1
        try? await Task.sleep(for: .seconds(600))
      }
    }
  }
}

@inline(never) private func startPoller() { Poller().start() }

private func makePoller() async throws {
  startPoller()
  try await Task.sleep(for: .milliseconds(100))
}

final class Request: Sendable {
  let number = 1
}

@inline(never) @_optimize(none) private func drop(_ continuation: UnsafeContinuation<Int, Never>) {}

@inline(never) private func startRequest() {
  Task.detached {
    let request = Request()
    let answer = await withUnsafeContinuation { drop($0) }
    print(answer, request.number)
  }
}

private func makeRequest() async throws {
  startRequest()
  try await Task.sleep(for: .milliseconds(100))
}

final class Token {
  let number = 1
}

@inline(never) private func makeToken() { send(Unmanaged.passRetained(Token()).toOpaque()) }

final class ThreadState {
  var depth = 0
}

@inline(never) private func makeThreadState() {
  var key = pthread_key_t()
  pthread_key_create(&key, nil)
  let name = key
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    pthread_setspecific(name, Unmanaged.passRetained(ThreadState()).toOpaque())
    done.signal()
  }
  thread.start()
  done.wait()
  while !thread.isFinished { usleep(1000) }
}
