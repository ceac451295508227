// A global closure captures leaked objects weakly and unowned.
// EXPECT leak kind=retainCycle types=App.Session fields=retry count=20 at=session closureAt=closure
final class Session {
  var retry: (() -> Void)?
  var tries = 0
}
var callbacks: [() -> Int] = []

@inline(never) func make(_ number: Int) {
  let session = Session()  // @session
  session.retry = { session.tries += number }  // @closure
  session.retry?()
  callbacks.append { [weak session] in session?.tries ?? 0 }
  callbacks.append { [unowned session] in session.tries }
}
for number in 0..<20 { make(number) }
print(callbacks.count)
