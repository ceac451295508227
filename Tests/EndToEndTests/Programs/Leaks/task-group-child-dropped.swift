// A child of a task group waits for a continuation that was dropped: parent and child leak together.
// EXPECT leak kind=retainCycle|unreferenced types=App.Part count=10
// FLAGS -parse-as-library
// HEADER ../Support/waiting.h
final class Part: @unchecked Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}
@inline(never) @_optimize(none) func drop(_ continuation: UnsafeContinuation<Int, Never>) {}

@inline(never) func start(_ number: Int) {
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
@main struct Main {
  static func main() async throws {
    for number in 0..<10 { start(number) }
    wait_until_waiting(10)
  }
}
