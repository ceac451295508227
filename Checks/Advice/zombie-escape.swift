// A deinit that lets its object out.
// KEPT BY nothing
// ADVICE `deinit`, and what it calls, must not let `self` out
// FIX hand out what is needed of it, not `self`
// OPTIONS --zombies
nonisolated(unsafe) var ended: [Any] = []
final class Session {
  let number = 7
  #if FIXED
    deinit { ended.append(number) }
  #else
    deinit { ended.append(self) }
  #endif
}
@inline(never) func work() { _ = Session() }
work()
print(ended.count)
