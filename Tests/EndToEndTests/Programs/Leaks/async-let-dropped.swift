// `async let` waits for something that never comes.
// EXPECT leak kind=retainCycle|unreferenced types=App.Query count=10
// FLAGS -parse-as-library
// HEADER ../Support/waiting.h
final class Query: @unchecked Sendable {
  let text: String
  init(_ text: String) { self.text = text }
}
@inline(never) @_optimize(none) func drop(_ continuation: UnsafeContinuation<Int, Never>) {}

func answer(_ query: Query) async -> Int {
  arrive()
  return await withUnsafeContinuation { drop($0) } + query.text.count
}
@inline(never) func start(_ number: Int) {
  Task.detached {
    let query = Query("query number \(number) that is on the heap")
    async let first = answer(query)
    print(await first, query.text)
  }
}
@main struct Main {
  static func main() async throws {
    for number in 0..<10 { start(number) }
    wait_until_waiting(10)
  }
}
