// A thousand requests wait for a continuation that was dropped: every one of them, every time.
// EXPECT leak kind=unreferenced|retainCycle types=App.Request count=1000
// FLAGS -parse-as-library
// HEADER ../Support/waiting.h
final class Request {
  let number: Int
  init(_ number: Int) { self.number = number }
}
@inline(never) @_optimize(none) func drop(_ continuation: UnsafeContinuation<Int, Never>) {}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func send(_ number: Int) {
  Task.detached {
    let request = Request(number)  // @request
    arrive()
    let answer = await withUnsafeContinuation { drop($0) }
    use(request)
    print(answer)
  }
}
@main struct Main {
  static func main() async throws {
    for number in 0..<1000 { send(number) }
    wait_until_waiting(1000)
  }
}
