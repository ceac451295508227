// Runs bodies call by call, each in a thread, and looks for leaks whenever they stand: there are none.
import CStepping
import Foundation
import Synchronization

struct Options {
  var stride: UInt32 = 1
  var only = ""
  var part = 0...Int.max
  init(_ arguments: ArraySlice<String>) {
    var rest = arguments
    while let option = rest.popFirst() {
      switch option {
      case "--stride": stride = rest.popFirst().flatMap { UInt32($0) } ?? 1
      case "--only": only = rest.popFirst() ?? ""
      case "--part":
        let first = (rest.popFirst().flatMap { Int($0) } ?? 0) * 16
        part = first...first + 15
      default: fatalError("unknown option \(option)")
      }
    }
  }
}

/// The instrument's own entry for tests (undead_test_scan.h).
struct Instrument {
  typealias Scan = @convention(c) (Bool, Bool, UnsafeRawPointer?, UnsafeMutableRawPointer) -> Void
  private let scan: Scan
  private let counts = UnsafeMutablePointer<UInt32>.allocate(capacity: 256)
  private(set) var looks = 0
  init?() {
    guard let entry = dlsym(nil, "undead_test_scan") else { return nil }
    scan = unsafeBitCast(entry, to: Scan.self)
  }
  /// The number of objects that are reported as leaked; the ways to look take turns.
  mutating func look() -> Int {
    looks += 1
    counts.initialize(repeating: 0, count: 256)
    scan(looks % 2 == 0, looks % 4 < 2, nil, counts)
    guard counts[1] == 0 else { fatalError("look \(looks) failed with error \(counts[1])") }
    return Int(counts[0])
  }
}

let options = Options(CommandLine.arguments.dropFirst())
guard let found = Instrument() else { fatalError("runs under the tool only") }
nonisolated(unsafe) var instrument = found
let finished = Atomic(0)
let total = Atomic(0)
nonisolated(unsafe) var falseReports = 0
nonisolated(unsafe) var points = 0

func describeStanding() {
  let text = UnsafeMutablePointer<CChar>.allocate(capacity: 400)
  defer { text.deallocate() }
  var thread: UInt32 = 0
  while stepping_describe(thread, text, 400) {
    if text[0] != 0 { print("  thread \(thread) stands at \(String(cString: text))") }
    thread += 1
  }
}

func stepUntilFinished(_ count: Int) {
  var round = 0
  while finished.load(ordering: .acquiring) < count {
    let standing = stepping_advance(UInt32(count - finished.load(ordering: .acquiring)))
    points += Int(standing)
    round += 1
    let found = instrument.look()
    if found > 0 {
      falseReports += found
      print("FALSE REPORT: \(found) objects in round \(round)")
      describeStanding()
    }
  }
}

let asyncOnes = asyncBodies.map { body in
  (name: body.name, run: { @Sendable (value: Int) in ThreadExecutor.run(body.run, value) })
}
let all = ownershipBodies + collectionBodies + valueBodies + serviceBodies + asyncOnes
let chosen = all.enumerated().filter { index, body in
  options.part.contains(index) && (options.only.isEmpty || body.name == options.only)
}.map(\.element)
// What is only made once (metadata, caches) is made now.
for body in chosen { total.add(body.run(1), ordering: .relaxed) }
guard instrument.look() == 0 else { fatalError("the bodies leak by themselves") }

/// Stops them at their calls.
func stepByCalls() {
  guard stepping_open() else { fatalError("the program's calls cannot be found") }
  stepping_arm(true, options.stride)
  for body in chosen {
    Thread {
      total.add(body.run(3), ordering: .relaxed)
      finished.add(1, ordering: .acquiringAndReleasing)
    }.start()
  }
  stepUntilFinished(chosen.count)
  stepping_arm(false, 1)
  while stepping_advance(0) > 0 {}
}

/// Leaves them to the tracer.
func stepByInstructions(_ shared: UnsafeMutablePointer<stepping_traced>) {
  shared.pointee.count = UInt32(chosen.count)
  for (index, body) in chosen.enumerated() {
    Thread {
      stepping_begin_traced(UInt32(index))
      total.add(body.run(1), ordering: .relaxed)
      stepping_end_traced(UInt32(index))
    }.start()
  }
  stepping_serve()
}

if let shared = stepping_shared() {
  stepByInstructions(shared)
  exit(0)
}
stepByCalls()
print("stepping: \(points) points in \(instrument.looks) looks, \(falseReports) false reports")
exit(falseReports == 0 ? 0 : 1)
