// The owner is in the payload of an enum with one payload case.
// EXPECT leak kind=retainCycle types=App.Machine,App.Job fields=phase,machine count=3 at=machine|job
enum Phase {
  case idle
  case running(Job)
  case stopped
}
final class Job {
  var machine: Machine?
}
final class Machine {
  var phase = Phase.idle
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeMachine() {
  let machine = Machine()  // @machine
  let job = Job()  // @job
  job.machine = machine
  machine.phase = .running(job)
  use(machine)
}
for _ in 0..<3 { makeMachine() }
