// The program uses every real-time signal itself, with handlers, with sigwait and with its mask.
// FLAGS -enforce-exclusivity=unchecked
// EXPECT any
import Glibc

nonisolated(unsafe) var counts = [Int](repeating: 0, count: 65)
@_silgen_name("__libc_current_sigrtmin") func firstRealtime() -> Int32
@_silgen_name("__libc_current_sigrtmax") func lastRealtime() -> Int32

print(firstRealtime(), lastRealtime())
for number in firstRealtime()...lastRealtime() {
  signal(number) { counts[Int($0)] += 1 }
  for _ in 0..<3 { kill(getpid(), number) }
}
print(counts.filter { $0 != 3 }.count, counts.reduce(0, +))
var set = sigset_t()
sigemptyset(&set)
for number in firstRealtime()...lastRealtime() { sigaddset(&set, number) }
sigaddset(&set, SIGTERM)
pthread_sigmask(SIG_BLOCK, &set, nil)
var received: [Int32] = []
for number in [firstRealtime(), lastRealtime() - 2, lastRealtime(), SIGTERM] {
  kill(getpid(), number)
  var which: Int32 = 0
  sigwait(&set, &which)
  received.append(which)
}
print(received)
