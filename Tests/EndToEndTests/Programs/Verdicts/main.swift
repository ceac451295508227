// A program whose memory is of one kind: `app KIND FORM [COUNT]`. Each line "trim" on standard input asks malloc to give memory back;
// the answer is how many bytes the process became smaller by. "more" does all of it once more.
import Dispatch
import Glibc

@_silgen_name("malloc_trim") func trimMalloc(_ pad: Int) -> Int32

final class Session {
  let number: Int
  let pad = (0, 0, 0, 0, 0, 0)
  init(_ number: Int) { self.number = number }
}

final class Node {
  var other: Node?
  let name: String
  init(_ name: String) { self.name = name }
}

nonisolated(unsafe) var kept: [AnyObject] = []
nonisolated(unsafe) var lines: [String] = []
nonisolated(unsafe) var table: [Int: [UInt8]] = [:]
nonisolated(unsafe) var ended = 0
nonisolated(unsafe) var mutex = pthread_mutex_t()

/// Makes many objects of which one in `share` survives.
func burst(_ count: Int, share: Int) {
  var gone: [AnyObject] = []
  var survivors: [AnyObject] = []
  for number in 0..<count {
    let session = Session(number)
    if share > 0 && number % share == 0 { survivors.append(session) } else { gone.append(session) }
  }
  pthread_mutex_lock(&mutex)
  kept += survivors
  pthread_mutex_unlock(&mutex)
}

/// Drops continuations: the runtime keeps a copy of all its messages for each.
func drop(_ count: Int) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      for _ in 0..<count { _ = CheckedContinuation(continuation: continuation) }
      done.signal()
    }
  }
  done.wait()
}

/// Runs the work on so many threads, which then wait until the process ends.
func onThreads(_ count: Int, _ work: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) {
  ended = 0
  for _ in 0..<count {
    var thread = pthread_t()
    pthread_create(&thread, nil, work, nil)
  }
  while ended < count { usleep(1000) }
}

func finishThread() {
  pthread_mutex_lock(&mutex)
  ended += 1
  pthread_mutex_unlock(&mutex)
  while true { sleep(1000) }
}

func text(_ number: Int) -> String { "a text that is too long to be inline, and its number is \(number)" }

func strings(_ count: Int, share: Int) {
  let all = (0..<count).map(text)
  lines += all.enumerated().filter { share > 0 && $0.offset % share == 0 }.map(\.element)
}

func buffers(_ count: Int, share: Int) {
  var all: [Int: [UInt8]] = [:]
  for number in 0..<count { all[number] = [UInt8](repeating: 1, count: 1000 + number % 3000) }
  for number in 0..<count where share > 0 && number % share == 0 { table[table.count] = all[number] }
}

func lose(_ count: Int) {
  for number in 0..<count {
    let (a, b) = (Node(text(number)), Node(""))
    (a.other, b.other) = (b, a)
  }
}

final class Feed: @unchecked Sendable {
  let (stream, continuation) = AsyncStream<Int>.makeStream()
}

final class Model: @unchecked Sendable {
  var number = 0
  func follow(_ feed: Feed) {
    Task.detached { [weak self] in for await number in feed.stream { self?.number += number } }
  }
  func count() {
    Task.detached { [weak self] in
      while true {
        try? await Task.sleep(for: .seconds(3600))
        self?.number += 1
      }
    }
  }
  /// Adds to another, too.
  func count(into other: Model) {
    Task.detached { [weak self, weak other] in
      while true {
        try? await Task.sleep(for: .seconds(3600))
        self?.number += 1
        other?.number += 1
      }
    }
  }
}

func startTasks(_ count: Int, _ start: (Model) -> Void, keeps: Bool) {
  for _ in 0..<count {
    let model = Model()
    start(model)
    if keeps { kept.append(model) }
  }
}

actor Gate {
  nonisolated let isHeld = DispatchSemaphore(value: 0)
  func hold() {
    isHeld.signal()
    // Until the process ends.
    while true { pause() }
  }
  func pass() {}
}

nonisolated(unsafe) var continuations: [CheckedContinuation<Void, Never>] = []
nonisolated(unsafe) var finished: [Task<Int, Never>] = []
nonisolated(unsafe) var cancelled: [Task<Void, Never>] = []
let cancellation = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: .global())

@MainActor func waitInAllWays(_ count: Int) {
  let gate = Gate()
  kept.append(gate)
  @Sendable func wait() async {
    await withCheckedContinuation { continuation in Task { @MainActor in continuations.append(continuation) } }
  }
  for _ in 0..<2 {
    Task(name: "parents") {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
          group.addTask {
            async let first: Void = wait()
            async let second: Void = wait()
            _ = await (first, second)
          }
        }
      }
    }
  }
  Task.detached { await gate.hold() }
  signal(SIGUSR1, SIG_IGN)
  cancellation.setEventHandler {
    for task in cancelled { task.cancel() }
    cancelled = []
  }
  cancellation.resume()
  gate.isHeld.wait()  // who passes before does not wait
  for _ in 0..<count {
    Task { await withCheckedContinuation { continuations.append($0) } }
    let sleeping = Task { do { try await Task.sleep(for: .seconds(3600)) } catch {} }
    Task { await sleeping.value }
    cancelled.append(Task.detached { try? await Task.sleep(for: .seconds(7200)) })
    let feed = Feed()
    kept.append(feed)
    Task { for await _ in feed.stream {} }
    finished.append(Task { 5 })
    Task { await gate.pass() }
  }
}

/// Tasks that have waited for continuations, and wait for threads of the pool behind more tasks than it has threads.
func waitForAThread(_ count: Int) {
  let (waits, isBusy, never) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  let list = DispatchQueue(label: "list")
  @Sendable func block() { never.wait() }
  @Sendable func keep(_ continuation: CheckedContinuation<Void, Never>) {
    list.sync { continuations.append(continuation) }
    waits.signal()
  }
  for _ in 0..<count { Task.detached { await withCheckedContinuation { keep($0) } } }
  for _ in 0..<count { waits.wait() }
  let threads = sysconf(Int32(_SC_NPROCESSORS_ONLN))
  for _ in 0..<8 * threads {
    Task.detached {
      isBusy.signal()
      block()
    }
  }
  for _ in 0..<threads { isBusy.wait() }
  for continuation in continuations { continuation.resume() }
}

nonisolated(unsafe) var sources: [any DispatchSourceProtocol] = []

/// Tasks whose parts sleep, and tasks that sources on descriptors and signals resume.
func waitForLibdispatch(_ count: Int) {
  @Sendable func sleep(_ seconds: Int) async { try? await Task.sleep(for: .seconds(seconds)) }
  signal(SIGUSR2, SIG_IGN)
  for _ in 0..<count {
    Task {
      async let first: Void = sleep(3600)
      async let second: Void = sleep(7200)
      _ = await (first, second)
    }
    Task { try? await Task.sleep(until: .now + .seconds(3600), tolerance: .seconds(1)) }
    Task {
      await withCheckedContinuation { continuation in
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        let source = DispatchSource.makeReadSource(fileDescriptor: ends[0])
        source.setEventHandler { continuation.resume() }
        source.resume()
        pthread_mutex_lock(&mutex)
        sources.append(source)
        pthread_mutex_unlock(&mutex)
      }
    }
    let (stream, feed) = AsyncStream.makeStream(of: Void.self)
    let source = DispatchSource.makeSignalSource(signal: SIGUSR2)
    source.setEventHandler { feed.yield() }
    source.resume()
    pthread_mutex_lock(&mutex)
    sources.append(source)
    pthread_mutex_unlock(&mutex)
    Task { for await _ in stream {} }
  }
}

func work() {
  func follow(_ model: Model) {
    let feed = Feed()
    kept.append(feed)
    model.follow(feed)
  }
  switch (CommandLine.arguments[1], CommandLine.arguments[2]) {
  case ("leak", "cycles"): lose(CommandLine.arguments.count > 3 ? Int(CommandLine.arguments[3])! : 100_000)
  case ("leak", "raw"):
    for _ in 0..<20_000 {
      UnsafeMutableRawPointer.allocate(byteCount: 1000, alignment: 8).storeBytes(of: 1, as: Int.self)
    }
  case ("leak", "dropped"): drop(500)
  case ("retained", "objects"):
    burst(400_000, share: 0)
    burst(1000, share: 1)
  case ("retained", "buffers"):
    buffers(10_000, share: 0)
    buffers(100, share: 1)
  case ("retained", "threads"):
    onThreads(8) { _ in
      burst(80_000, share: 0)
      finishThread()
      return nil
    }
  case ("pinned", "objects"): burst(600_000, share: 60)
  case ("pinned", "strings"): strings(400_000, share: 40)
  case ("pinned", "buffers"): buffers(20_000, share: 2)
  case ("pinned", "threads"):
    onThreads(8) { _ in
      burst(80_000, share: 50)
      finishThread()
      return nil
    }
  case ("nothing", "table"): for _ in 0..<20_000 { table[table.count] = [UInt8](repeating: 1, count: 500) }
  case ("nothing", "large"): do { _ = (0..<20).map { [UInt8](repeating: UInt8($0), count: 10_000_000) } }
  case ("growth", "mapped"):
    memset(mmap(nil, 20 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, 20 << 20)
  case ("growth", "table"): for _ in 0..<20_000 { table[table.count] = [UInt8](repeating: 1, count: 500) }
  case ("tasks", "states"): MainActor.assumeIsolated { waitInAllWays(20) }
  case ("tasks", "queued"): waitForAThread(20)
  case ("tasks", "libdispatch"): waitForLibdispatch(5)
  case ("tasks", _):
    startTasks(50, follow, keeps: false)
    startTasks(30, { $0.count() }, keeps: false)
    startTasks(10, follow, keeps: true)
    startTasks(10, { $0.count() }, keeps: true)
    let sum = Model()
    kept.append(sum)
    startTasks(10, { $0.count(into: sum) }, keeps: false)
  default: fatalError("no such kind")
  }
}

func resident() -> Int {
  let file = fopen("/proc/self/statm", "r")!
  defer { fclose(file) }
  var (size, pages) = (0, 0)
  withUnsafeMutablePointer(to: &size) { size in
    withUnsafeMutablePointer(to: &pages) { pages in _ = withVaList([size, pages]) { vfscanf(file, "%ld %ld", $0) } }
  }
  return pages * 4096
}

work()
if CommandLine.arguments[1] == "tasks", CommandLine.arguments[2] != "queued" {
  // The main actor's tasks run until they wait. This needs a thread of the pool.
  for _ in 0..<10 { await Task.yield() }
}
print("ready")
fflush(stdout)
while let line = readLine() {
  let before = resident()
  if line == "trim" { _ = trimMalloc(0) } else { work() }
  print(before - resident())
  fflush(stdout)
}
