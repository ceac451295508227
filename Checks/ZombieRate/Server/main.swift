import Glibc

// A server in small: threads handle requests, each with some objects, and sessions are closed on a thread of their own. One request
// in `oneIn` ends after its session was closed, and reads a field of it: what is read is what the object held.
//
//   server SECONDS ONE-IN      prints "TIME requests N bugs N" ten times a second

final class Session {
  let user: String
  var requests = 0
  var bytes = 0
  init(_ user: String) { self.user = user }
}

final class Request {
  let path: String
  var answer: [String] = []
  init(_ path: String) { self.path = path }
}

final class Counter: @unchecked Sendable {
  private var lock = pthread_mutex_t()
  private var values = (requests: 0, bugs: 0)
  init() { pthread_mutex_init(&lock, nil) }
  func add(_ requests: Int, _ bugs: Int) {
    pthread_mutex_lock(&lock)
    values = (values.requests + requests, values.bugs + bugs)
    pthread_mutex_unlock(&lock)
  }
  var current: (requests: Int, bugs: Int) {
    pthread_mutex_lock(&lock)
    defer { pthread_mutex_unlock(&lock) }
    return values
  }
}

/// Closes sessions on a thread of its own.
final class Reaper: @unchecked Sendable {
  private var sessions: [Unmanaged<Session>] = []
  private var lock = pthread_mutex_t()
  private var closed = 0
  init() { pthread_mutex_init(&lock, nil) }

  /// Returns the number that ``isClosed(_:)`` takes.
  func close(_ session: Unmanaged<Session>) -> Int {
    pthread_mutex_lock(&lock)
    defer { pthread_mutex_unlock(&lock) }
    sessions.append(session)
    return closed + sessions.count
  }

  func isClosed(_ number: Int) -> Bool {
    pthread_mutex_lock(&lock)
    defer { pthread_mutex_unlock(&lock) }
    return closed >= number
  }

  @inline(never) private func closeAll() {
    pthread_mutex_lock(&lock)
    for session in sessions { session.release() }
    closed += sessions.count
    sessions.removeAll(keepingCapacity: true)
    pthread_mutex_unlock(&lock)
  }

  func run() {
    while true {
      closeAll()
      usleep(200)
    }
  }
}

let counter = Counter()
let reaper = Reaper()
let seconds = Int(CommandLine.arguments[1])!
let oneIn = Int(CommandLine.arguments[2])!

@inline(never) func render(_ request: Request, _ session: Session) -> Int {
  session.requests += 1
  for number in 0..<8 { request.answer.append("\(session.user) \(request.path) row \(number)") }
  session.bytes = request.answer.reduce(0) { $0 + $1.utf8.count }
  return session.bytes
}

@inline(never) func open(_ number: Int) -> Unmanaged<Session> { .passRetained(Session("user \(number & 63)")) }

/// The bug: what waits for the session's end does not hold it.
@inline(never) @_optimize(none) func account(_ session: Unmanaged<Session>) -> Int {
  session._withUnsafeGuaranteedRef { $0.bytes }
}

func work() {
  var number = 0
  var sum = 0
  while true {
    number += 1
    let session = open(number)
    sum &+= session._withUnsafeGuaranteedRef { render(Request("/browse/\(number & 127)"), $0) }
    let isBug = number % oneIn == 0
    let place = reaper.close(session)
    if isBug {
      while !reaper.isClosed(place) { sched_yield() }
      sum &+= account(session)
    }
    counter.add(1, isBug ? 1 : 0)
    if number & 15 == 0 { usleep(1000) }
  }
}

func thread(_ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) {
  var thread = pthread_t()
  pthread_create(&thread, nil, body, nil)
}

/// Names the calling thread.
func name(_ text: String) {
  let file = Glibc.open("/proc/thread-self/comm", O_WRONLY)
  _ = write(file, text, text.utf8.count)
  close(file)
}

setvbuf(stdout, nil, _IOLBF, 0)
for _ in 0..<3 {
  thread { _ in
    name("worker")
    work()
    return nil
  }
}
thread { _ in
  name("reaper")
  reaper.run()
  return nil
}
for _ in 0..<seconds * 10 {
  usleep(100_000)
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  let (requests, bugs) = counter.current
  print("\(Double(now.tv_sec) + Double(now.tv_nsec) / 1e9) requests \(requests) bugs \(bugs)")
}
exit(0)
