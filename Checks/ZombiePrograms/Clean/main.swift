// Programs without bugs, for scripts/check/zombie-programs: `clean list`; `clean NAME ROUNDS` prints the same with each instrument.
import Glibc

setvbuf(stdout, nil, _IOLBF, 0)
let programs: [(name: String, run: (Int) -> Int)] = memory + objects + concurrency + foundation + system

let words = CommandLine.arguments
if words.count == 2, words[1] == "list" {
  for program in programs { print(program.name) }
} else if words.count == 3, let rounds = Int(words[2]), let program = programs.first(where: { $0.name == words[1] }) {
  var sums: [Int] = []
  for round in 0..<rounds {
    let sum = program.run(round % 7)
    if !sums.contains(sum) { sums.append(sum) }
  }
  print(program.name, sums)
} else {
  print("clean list | clean NAME ROUNDS")
  exit(64)
}

/// Not known when it is compiled.
@inline(never) @_optimize(none) func opaque<T>(_ value: T) -> T { value }
