// Checked continuations that are dropped: the runtime complains, and the waiting tasks leak.
// EXPECT leak kind=unreferenced|retainCycle types=App.Ticket count=50
// FLAGS -parse-as-library
// HEADER ../Support/waiting.h
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
@main struct Main {
  static func main() async throws {
    for number in 0..<50 {
      let ticket = Ticket(number)
      Task.detached { print(await wait(for: ticket) + ticket.number) }
    }
    wait_until_waiting(50)
  }
}
