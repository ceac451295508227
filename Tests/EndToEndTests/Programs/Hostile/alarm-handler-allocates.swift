// A signal handler that allocates on an alternate stack, at a high rate.
// EXPECT silent
// FLAGS -enforce-exclusivity=unchecked
import Glibc

nonisolated(unsafe) var calls = 0
nonisolated(unsafe) var ready = false
var alternate = stack_t()
alternate.ss_sp = mmap(nil, 65_536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
alternate.ss_size = 65_536
sigaltstack(&alternate, nil)
var action = sigaction()
action.__sigaction_handler.sa_handler = { _ in
  calls += 1
  if ready { withUnsafeTemporaryAllocation(byteCount: 3000, alignment: 8) { $0[0] = 1 } }
}
action.sa_flags = Int32(SA_ONSTACK) | SA_RESTART
sigaction(SIGALRM, &action, nil)
var timer = itimerval(it_interval: timeval(tv_sec: 0, tv_usec: 500), it_value: timeval(tv_sec: 0, tv_usec: 500))
setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
ready = true
var total = 0
while calls < 200 { total += String(repeating: "x", count: 100 + total % 7).count % 10 }
print("handled")
