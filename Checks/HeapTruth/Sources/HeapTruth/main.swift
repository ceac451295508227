import Foundation

struct Options: Sendable {
  var seed: UInt64 = 1
  var steps = 400
  var threads = 2
  var holders = 40
  var checkPercent = 50
  var kinds: [String] = []
  var except: [String] = []
  var leaks = true
  var forks = true
  var traces = false
  var shrinks = false

  /// As words of a command line.
  var words: [String] {
    var words = ["--seed", "\(seed)", "--steps", "\(steps)", "--threads", "\(threads)", "--holders", "\(holders)"]
    words += ["--checks", "\(checkPercent)"]
    if !kinds.isEmpty { words += ["--kinds", kinds.joined(separator: ",")] }
    if !except.isEmpty { words += ["--except", except.joined(separator: ",")] }
    if !leaks { words.append("--no-leaks") }
    if !forks { words.append("--no-forks") }
    if traces { words.append("--trace") }
    return words
  }

  init(_ arguments: [String]) {
    var rest = arguments[...]
    func list(_ text: String?) -> [String] { (text ?? "").split(separator: ",").map(String.init) }
    while let name = rest.popFirst() {
      switch name {
      case "--seed": seed = rest.popFirst().flatMap(UInt64.init) ?? seed
      case "--steps": steps = rest.popFirst().flatMap(Int.init) ?? steps
      case "--threads": threads = rest.popFirst().flatMap(Int.init) ?? threads
      case "--holders": holders = rest.popFirst().flatMap(Int.init) ?? holders
      case "--checks": checkPercent = rest.popFirst().flatMap(Int.init) ?? checkPercent
      case "--kinds": kinds = list(rest.popFirst())
      case "--except": except = list(rest.popFirst())
      case "--no-leaks": leaks = false
      case "--no-forks": forks = false
      case "--trace": traces = true
      case "--shrink": shrinks = true
      case "--list":
        for kind in heap_truth.kinds { print(kind.name + (kind.isRoot ? " (root)" : "")) }
        exit(0)
      default:
        note("heap-truth: unknown option \(name)")
        exit(64)
      }
    }
  }
}

/// Runs `body` on a new thread with a fresh stack and waits for it.
@inline(never) func onThread(_ body: @escaping @Sendable () -> Void) -> Thread {
  let thread = Thread(block: body)
  thread.stackSize = 4 << 20
  thread.start()
  return thread
}

let options = Options(Array(CommandLine.arguments.dropFirst()))
Choice.select(options.kinds, except: options.except)
guard !Choice.selected.isEmpty else {
  note("heap-truth: there is no such kind; --list names them")
  exit(64)
}

if options.shrinks {
  var shrinker = Shrinker(options)
  shrinker.run()
  exit(1)
}

let workers = DispatchGroup()
for number in 0..<options.threads {
  workers.enter()
  _ = onThread {
    var worker = Worker(number: number, options: options)
    worker.run()
    workers.leave()
  }
}
workers.wait()
// What is on its way to its end gets there before the last look.
usleep(50_000)
let looked = DispatchSemaphore(value: 0)
_ = onThread {
  Check.run(.last, worker: -1, step: 0)
  looked.signal()
}
looked.wait()

Truth.tellOfSurvivors()
Misses.print()
note(
  "seed \(options.seed): \(Counters.falseReports) false reports, \(Counters.objectsChecked) objects checked in "
    + "\(Counters.checks) checks, \(Counters.failedChecks) failed, \(Counters.defects) defects of the generator")
exit(Check.isPossible ? (Counters.falseReports + Counters.defects + Counters.failedChecks > 0 ? 1 : 0) : 2)
