// A continuation that is stored in the object that the waiting task holds.
// EXPECT leak kind=retainCycle types=App.Gate fields=waiter count=20
// FLAGS -parse-as-library
// HEADER ../Support/waiting.h
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
@main struct Main {
  static func main() async throws {
    for _ in 0..<20 { startGate() }
    wait_until_waiting(20)
  }
}
