// A task that captures `self` weakly, and makes it strong before a loop that does not end.
// KEPT BY the frame of the waiting task
// ADVICE and this call keeps the object that holds the task in `task`, as after `guard let self`
// FIX `self?` for one step at a time, in the loop
final class Watcher: @unchecked Sendable {
  private var task: Task<Void, Never>?
  private var seen = 0
  func start(_ numbers: AsyncStream<Int>) {
    #if FIXED
      task = Task { [weak self] in
        for await number in numbers { self?.take(number) }
      }
    #else
      task = Task { [weak self] in
        guard let self else { return }
        for await number in numbers { self.take(number) }
      }
    #endif
  }
  private func take(_ number: Int) { seen += number }
  deinit { task?.cancel() }
}
let (numbers, source) = AsyncStream.makeStream(of: Int.self)
@inline(never) func run() async {
  let watcher = Watcher()
  watcher.start(numbers)
  try? await Task.sleep(for: .milliseconds(100))
  withExtendedLifetime(watcher) {}
}
await run()
try? await Task.sleep(for: .milliseconds(100))
source.yield(1)
try? await Task.sleep(for: .milliseconds(100))
