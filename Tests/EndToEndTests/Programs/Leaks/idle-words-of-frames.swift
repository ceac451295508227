// Words that ended calls left in the frames of a waiting task own nothing, nor do addresses inside of an object: the first object is
// kept by its own task alone. The second one is in use by a frame that waits.
// EXPECT suspect kind=heldByTask types=App.Poller count=1
// FLAGS -parse-as-library
// HEADER ../Support/waiting.h
class Owner: @unchecked Sendable {
  var task: Task<Void, Never>?
  var polls = 0
  func poll() { polls += 1 }
  func start() {
    task = Task { [weak self] in
      while let self {
        self.poll()
        arrive()
        try? await Task.sleep(for: .seconds(600))
      }
    }
  }
}
final class Poller: Owner, @unchecked Sendable {}
final class Used: Owner, @unchecked Sendable {}

@inline(never) func add(_ sum: inout Int) async { await Task.yield() }
@inline(never) func fill(_ owner: Owner, depth: Int) async -> Int {
  let array = [owner, owner]
  await Task.yield()
  let words = (owner, owner, owner, owner, owner, owner, owner, owner)
  let inner = depth == 0 ? 0 : await fill(owner, depth: depth - 1)
  await add(&owner.polls)
  withExtendedLifetime((array, words)) {}
  owner.poll()
  return inner + words.0.polls
}
@inline(never) func leave() async {
  let owner = Poller()
  owner.start()
  wait_until_waiting(1)
  print(await fill(owner, depth: 8) > 0)
}
nonisolated(unsafe) var tasks: [Task<Void, Never>] = []
@main struct Main {
  static func main() {
    tasks.append(
      Task.detached {
        await leave()
        arrive()
        try? await Task.sleep(for: .seconds(600))
      })
    tasks.append(
      Task.detached {
        let owner = Used()
        owner.start()
        arrive()
        try? await Task.sleep(for: .seconds(600))
        owner.poll()
      })
    wait_until_waiting(4)
  }
}
