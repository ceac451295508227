import Glibc

// rate list
// rate trials NAME PROCESSES MOST          one line: trials found later processes
// rate clean NAME COUNT                    one line: uses that were seen
// rate once NAME                           one trial

setvbuf(stdout, nil, _IOLBF, 0)
let arguments = CommandLine.arguments
let later = 20

func bug(_ name: String) -> Bug {
  guard let bug = bugs.first(where: { $0.name == name }) else { fatalError("no bug '\(name)'") }
  return bug
}

switch arguments.dropFirst().first {
case "list": for bug in bugs { print(bug.name, bug.chances) }
case "trials":
  let bug = bug(arguments[2])
  let (processes, most) = (Int(arguments[3])!, Int(arguments[4])!)
  var sum = Outcome()
  var ended = 0
  for number in 0..<processes {
    if let one = outcome(of: bug, most: most, next: later) {
      (sum.trials, sum.found, sum.later) = (sum.trials + one.trials, sum.found + one.found, sum.later + one.later)
    } else {
      ended += 1
    }
    // It is not seen at all.
    if number == 2, sum.found == 0 { break }
  }
  print(sum.trials, sum.found, sum.later, ended)
case "clean":
  worker = Worker()
  let (bug, before) = (bug(arguments[2]), uses())
  for _ in 0..<Int(arguments[3])! { bug.trial(true) }
  print(uses() - before)
case "once":
  worker = Worker()
  let before = uses()
  bug(arguments[2]).trial(false)
  print(uses() - before)
default:
  print("rate list | trials NAME PROCESSES MOST | clean NAME COUNT | once NAME")
  exit(64)
}
