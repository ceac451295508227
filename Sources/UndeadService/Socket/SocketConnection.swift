#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Dispatch
import Glibc
import Synchronization

/// Runs what answers requests of sockets apart from the program's tasks: a program whose threads are all blocked is one that
/// somebody wants to look into.
private final class SocketExecutor: TaskExecutor {
  static let shared = SocketExecutor()
  private let queue = DispatchQueue(label: "undead.service")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// One request and its answer, on the thread of its own that it is served by.
struct SocketConnection {
  private let descriptor: Int32
  private let service: UndeadDebugService
  private let limits: SocketLimits

  /// Takes over the descriptor.
  init(_ descriptor: Int32, _ service: UndeadDebugService, _ limits: SocketLimits) {
    self.descriptor = descriptor
    self.service = service
    self.limits = limits
  }

  /// Reads the request, answers it and closes.
  func serve() {
    defer { _ = close(descriptor) }
    switch readHead() {
    case .incomplete: return
    case .bad(let status, let text): send(.problem(status, text), isHead: false)
    case .request(let request):
      guard let response = answer(request) else { return }
      send(response, isHead: request.method == "HEAD")
    }
    end()
  }

  // MARK: Reading

  /// `incomplete` if the client went away.
  private func readHead() -> HTTPHead.Result {
    let deadline = ContinuousClock.now + .milliseconds(limits.readMilliseconds)
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      guard wait(for: Int16(POLLIN), until: deadline) else {
        return .bad(status: 408, "the request did not come in time")
      }
      let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        return .incomplete
      }
      guard count > 0 else { return .incomplete }
      bytes += chunk[..<count]
      let head = HTTPHead.parse(bytes)
      guard head == .incomplete else { return head }
    }
  }

  /// False if it took too long.
  private func wait(for event: Int16, until deadline: ContinuousClock.Instant) -> Bool {
    while true {
      let rest = deadline - .now
      guard rest > .zero else { return false }
      let milliseconds = rest.components.seconds * 1000 + rest.components.attoseconds / 1_000_000_000_000_000
      var entry = pollfd(fd: descriptor, events: event, revents: 0)
      let count = poll(&entry, 1, Int32(clamping: milliseconds + 1))
      if count > 0 { return true }
      if count < 0 && errno != EINTR { return false }
    }
  }

  // MARK: Answering

  /// Waits for the answer, or for the client to go away: then the request is cancelled, and there is none.
  private func answer(_ request: UndeadDebugService.Request) -> UndeadDebugService.Response? {
    let slot = Slot()
    let done = DispatchSemaphore(value: 0)
    let task = Task(executorPreference: SocketExecutor.shared) { [service] in
      let response = await service.respond(to: request)
      slot.response.withLock { $0 = response }
      done.signal()
    }
    var isGone = false
    while done.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
      guard !isGone, hasClientGone() else { continue }
      isGone = true
      task.cancel()
    }
    return isGone ? nil : slot.response.withLock { $0 }
  }

  private final class Slot: Sendable {
    let response = Mutex<UndeadDebugService.Response?>(nil)
  }

  /// A client that only says that it sends nothing more is still there.
  private func hasClientGone() -> Bool {
    var entry = pollfd(fd: descriptor, events: 0, revents: 0)
    return poll(&entry, 1, 0) > 0 && Int32(entry.revents) & (POLLHUP | POLLERR) != 0
  }

  // MARK: Writing

  private func send(_ response: UndeadDebugService.Response, isHead: Bool) {
    guard write(HTTPHead.render(response)), !isHead else { return }
    var pieces = response.body.makeAsyncIterator()
    // After a failure the client sees that bytes are missing: it knows the length.
    while let piece = try? pieces.nextNow() { guard write(piece) else { return } }
  }

  private func write(_ bytes: [UInt8]) -> Bool {
    let deadline = ContinuousClock.now + .milliseconds(limits.writeMilliseconds)
    var rest = bytes[...]
    while !rest.isEmpty {
      guard wait(for: Int16(POLLOUT), until: deadline) else { return false }
      let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        return false
      }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Lets the client read all of the answer: what it sent and nobody read would make the kernel throw that away.
  private func end() {
    shutdown(descriptor, Int32(SHUT_WR))
    let deadline = ContinuousClock.now + .milliseconds(min(limits.readMilliseconds, 1000))
    var chunk = [UInt8](repeating: 0, count: 4096)
    var left = 1 << 20
    while left > 0, wait(for: Int16(POLLIN), until: deadline) {
      let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
      if count == 0 || count < 0 && errno != EINTR && errno != EAGAIN { return }
      left -= max(count, 0)
    }
  }
}
#endif
