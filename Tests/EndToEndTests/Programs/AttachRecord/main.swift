// A server that knows what it has computed: threads that allocate all the time, and a dictionary that grows when it is asked to.
import Foundation

final class Session {
  let number: Int
  let name: String
  init(_ number: Int) {
    self.number = number
    name = "session number \(number), with a name that needs memory"
  }
}

final class Store {
  var sessions: [Int: Session] = [:]
  @inline(never) func remember(_ count: Int) {
    for number in sessions.count..<sessions.count + count { sessions[number] = Session(number) }
  }
}

let isThorough = ProcessInfo.processInfo.environment["UNDEAD_THOROUGH"] == "1"

final class Worker: @unchecked Sendable {
  private let seed: UInt64
  private var rounds = 0
  private var sum: UInt64 = 0
  init(_ seed: Int) { self.seed = UInt64(seed) }

  @inline(never) private func turn(_ round: UInt64) -> UInt64 {
    var names: [String] = []
    var table: [String: [UInt64]] = [:]
    for index in 0..<20 as Range<UInt64> {
      let name = "a key with the number \(round &* 31 &+ index &+ seed)"
      names.append(name)
      table[name, default: []].append(index &* round)
    }
    var hash: UInt64 = 14_695_981_039_346_656_037
    for byte in Data(names.joined().utf8) { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
    for name in names { hash &+= table[name]![0] }
    return hash
  }

  func run(until stopped: UnsafeMutablePointer<Int32>) {
    while stopped.pointee == 0 {
      let start = ContinuousClock.now
      for _ in 0..<8 {
        sum &+= turn(UInt64(rounds % 64))
        rounds += 1
      }
      // Twice as long as it works: the processors are for others, too.
      if !isThorough { Thread.sleep(forTimeInterval: 2 * ((ContinuousClock.now - start) / .seconds(1))) }
    }
  }

  var isRight: Bool {
    let each = (0..<64 as Range<UInt64>).map { turn($0) }
    return (0..<rounds).reduce(UInt64(0)) { $0 &+ each[$1 % 64] } == sum
  }
}

nonisolated(unsafe) let stopped = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
nonisolated(unsafe) let signals = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
stopped.pointee = 0
signals.pointee = 0
signal(SIGUSR1) { _ in signals.pointee += 1 }

let store = Store()
let workers = (0..<3).map { Worker($0) }
let ended = DispatchGroup()
for worker in workers {
  ended.enter()
  Thread.detachNewThread {
    worker.run(until: stopped)
    ended.leave()
  }
}
setvbuf(stdout, nil, _IONBF, 0)
print("ready")

while let line = readLine() {
  switch line {
  case "grow":
    store.remember(1000)
    print("grown")
  default:
    let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    print("ok signals=\(signals.pointee) files=\(files) sessions=\(store.sessions.count)")
  }
}
stopped.pointee = 1
ended.wait()
print(workers.allSatisfy(\.isRight) ? "right" : "wrong")
