// Tasks that wait without end, with what they hold.
// FLAGS -parse-as-library
// HEADER ../Support/waiting.h
@inline(never) @_optimize(none) func drop(_ continuation: UnsafeContinuation<Int, Never>) {}

// `async let` waits for something that never comes.
// EXPECT leak kind=retainCycle|unreferenced types=App.Query count=10
final class Query: @unchecked Sendable {
  let text: String
  init(_ text: String) { self.text = text }
}
func answer(_ query: Query) async -> Int {
  arrive()
  return await withUnsafeContinuation { drop($0) } + query.text.count
}
@inline(never) func ask(_ number: Int) {
  Task.detached {
    let query = Query("query number \(number) that is on the heap")
    async let first = answer(query)
    print(await first, query.text)
  }
}

// A child of a task group waits for a continuation that was dropped: parent and child leak together.
// EXPECT leak kind=retainCycle|unreferenced types=App.Part count=10
final class Part: @unchecked Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}
@inline(never) func addUp(_ number: Int) {
  Task.detached {
    let part = Part(number)
    let total = await withTaskGroup(of: Int.self) { group in
      group.addTask {
        arrive()
        return await withUnsafeContinuation { drop($0) } + part.number
      }
      return await group.reduce(0, +)
    }
    print(total, part.number)
  }
}

// Checked continuations that are dropped: the runtime complains, and the waiting tasks leak.
// EXPECT leak kind=unreferenced|retainCycle types=App.Ticket count=50
final class Ticket: @unchecked Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}
@inline(never) func wait(for ticket: Ticket) async -> Int {
  arrive()
  return await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
    if ticket.number < 0 { continuation.resume(returning: 1) }
  }
}
@inline(never) func queue(_ number: Int) {
  let ticket = Ticket(number)
  Task.detached { print(await wait(for: ticket) + ticket.number) }
}

// A continuation that is stored in the object that the waiting task holds.
// EXPECT leak kind=retainCycle types=App.Gate fields=waiter count=20
final class Gate: @unchecked Sendable {
  var waiter: UnsafeContinuation<Void, Never>?
  var passed = 0
  func pass() async {
    arrive()
    await withUnsafeContinuation { waiter = $0 }
    passed += 1
  }
}
@inline(never) func startGate() {
  let gate = Gate()
  Task.detached { await gate.pass() }
}

// An actor keeps a task that waits without end in one of the actor's own methods.
// EXPECT leak kind=retainCycle types=App.Mailbox fields=reader count=5
actor Mailbox {
  private var waiting: [CheckedContinuation<String, Never>] = []
  private var reader: Task<Void, Never>?
  func start() {
    reader = Task { print(await self.next()) }
  }
  private func next() async -> String {
    arrive()
    return await withCheckedContinuation { waiting.append($0) }
  }
}
@inline(never) func makeMailbox() async {
  let mailbox = Mailbox()
  await mailbox.start()
}

// A task stored in self iterates over a stream that self keeps open: nobody else knows either.
// EXPECT leak kind=retainCycle types=App.Subscriber fields=task count=5
final class Subscriber: @unchecked Sendable {
  private let stream: AsyncStream<Int>
  private let continuation: AsyncStream<Int>.Continuation
  private var task: Task<Void, Never>?
  var seen = 0

  init() {
    (stream, continuation) = AsyncStream<Int>.makeStream()
  }
  func start() {
    task = Task {
      for await value in stream {
        self.seen += value
        arrive()
      }
    }
  }
  func send(_ value: Int) { continuation.yield(value) }
}
@inline(never) func makeSubscriber() {
  let subscriber = Subscriber()
  subscriber.start()
  subscriber.send(3)
}

// A task polls without end and captures self, which stores the task: held only by a sleeping task.
// EXPECT suspect kind=heldByTask types=App.Poller count=3
final class Poller: @unchecked Sendable {
  var polls = 0
  var task: Task<Void, Never>?
  func start() {
    task = Task {
      while !Task.isCancelled {
        self.polls += 1
        arrive()
        try? await Task.sleep(for: .seconds(600))
      }
    }
  }
}
@inline(never) func makePoller() { Poller().start() }

@main struct Main {
  static func main() async throws {
    for number in 0..<10 { ask(number) }
    for number in 0..<10 { addUp(number) }
    for number in 0..<50 { queue(number) }
    for _ in 0..<20 { startGate() }
    for _ in 0..<5 { await makeMailbox() }
    for _ in 0..<5 { makeSubscriber() }
    for _ in 0..<3 { makePoller() }
    wait_until_waiting(103)
  }
}
