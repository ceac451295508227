// Objects that only a signal knows which waits to be delivered. Only a tracer can see them.
// EXPECT silent
// EXPECT note more than 512 waiting signals
// SHELL UNDEAD_STOP=ptrace $RUN && UNDEAD_STOP=ptrace exec $RUN many
import Glibc

final class Node {
  var number = 1
}
@_silgen_name("pthread_sigqueue") func queueSignal(_ thread: pthread_t, _ signal: Int32, _ value: sigval) -> Int32

@inline(never) func queue(_ count: Int) {
  for index in 0..<count {
    let value = sigval(sival_ptr: Unmanaged.passRetained(Node()).toOpaque())
    if index < count / 2 { sigqueue(getpid(), signal, value) } else { _ = queueSignal(pthread_self(), signal, value) }
  }
}
let signal = __libc_current_sigrtmin()
var signals = sigset_t()
sigemptyset(&signals)
sigaddset(&signals, signal)
pthread_sigmask(SIG_BLOCK, &signals, nil)
// More than a tracer asks for.
queue(CommandLine.arguments.contains("many") ? 3000 : 100)
print("queued")
