// An actor keeps a task that waits for ever in one of the actor's own methods.
// EXPECT leak kind=retainCycle types=App.Mailbox fields=reader count=5
// FLAGS -parse-as-library
// HEADER ../Support/waiting.h
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
@inline(never) func make() async {
  let mailbox = Mailbox()
  await mailbox.start()
}
@main struct Main {
  static func main() async throws {
    for _ in 0..<5 { await make() }
    wait_until_waiting(5)
  }
}
