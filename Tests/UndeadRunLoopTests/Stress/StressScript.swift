import UndeadRunLoop
import UndeadTestSupport

/// What a script may do to a loop: the library's, or the sequential model's. Times are in milliseconds, items are numbers.
protocol StressWorld: AnyObject {
  var now: Int { get }
  var script: StressScript? { get set }

  func schedule(_ timer: Int, after: Int, repeats: Bool, tolerance: Int, _ mode: String)
  func invalidate(_ timer: Int)
  func setDate(_ timer: Int, _ date: Int)
  func setTolerance(_ timer: Int, _ tolerance: Int)
  func add(_ timer: Int, _ mode: String) -> String
  func remove(_ timer: Int, _ mode: String)
  func fire(_ timer: Int)
  func describe(_ timer: Int, _ mode: String) -> String

  func perform(_ block: Int, _ modes: [String], asSource: Bool)
  func addSource(_ source: Int, order: Int, _ mode: String) -> String
  func removeSource(_ source: Int, _ mode: String)
  func signal(_ source: Int)
  func invalidateSource(_ source: Int)

  func addCommonMode(_ mode: String)
  func stop()
  func run(_ mode: String, for duration: Int, returnAfterSource: Bool) -> String
  func advance(_ duration: Int)
}

/// Does what its seed says, before and in callbacks, and notes what it sees: two worlds that call back at the same times and
/// in the same order, and answer alike, leave the same log.
final class StressScript {
  private let world: any StressWorld
  private var numbers: SeededGenerator
  private var actions = 300
  private var depth = 0
  private var timers = 0
  private var sources = 0
  private var blocks = 0
  private var commonModes: Set<String> = ["default", "tracking"]
  private(set) var log: [String] = []

  private static let modes = ["default", "tracking", "a", "b"]

  init(_ world: any StressWorld, seed: UInt64) {
    self.world = world
    numbers = SeededGenerator(seed: seed)
    world.script = self
  }

  func play() {
    for _ in 0..<6 { schedule() }
    for _ in 0..<25 {
      for _ in 0..<random(0...3) { act() }
      run(random(0...60))
      if random(0...9) == 0 { world.advance(random(0...40)) }
    }
    for timer in 0..<timers { world.invalidate(timer) }
    for source in 0..<sources { world.invalidateSource(source) }
    for mode in Self.modes { note("at last \(mode): \(world.run(mode, for: 1, returnAfterSource: false))") }
  }

  /// A callback.
  func called(_ what: String) {
    note(what)
    for _ in 0..<random(0...2) where actions > 0 { act() }
  }

  private func note(_ what: String) { log.append("\(what) @\(world.now) in \(depth)") }

  private func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &numbers) }

  private func mode(orCommon: Bool = true) -> String {
    let index = random(0...(orCommon ? 7 : 5))
    return index < Self.modes.count ? Self.modes[index] : index < 6 ? "default" : "common"
  }

  private func schedule() {
    let repeats = random(0...1) == 0
    // Even, because half of it is the greatest tolerance.
    let interval = repeats ? 2 * random(1...15) : random(0...60)
    let tolerance = random(0...3) == 0 ? random(0...20) : 0
    let mode = mode()
    note("schedule \(timers) \(repeats ? "every" : "after") \(interval) + \(tolerance) in \(mode)")
    world.schedule(timers, after: interval, repeats: repeats, tolerance: tolerance, mode)
    timers += 1
  }

  private func run(_ duration: Int) {
    let mode = mode(orCommon: false)
    let returnAfterSource = random(0...2) == 0
    note("run \(mode) for \(duration)")
    depth += 1
    let result = world.run(mode, for: duration, returnAfterSource: returnAfterSource)
    depth -= 1
    note("ran: \(result)")
  }

  private func act() {
    actions -= 1
    let timer = random(0...max(0, timers - 1))
    let mode = mode()
    switch random(0...21) {
    case 0...3: schedule()
    case 4...5:
      note("invalidate \(timer)")
      world.invalidate(timer)
    case 6...7:
      let date = world.now + random(-10...40)
      note("date of \(timer): \(date)")
      world.setDate(timer, date)
    case 8:
      let tolerance = random(0...20)
      note("tolerance of \(timer): \(tolerance)")
      world.setTolerance(timer, tolerance)
    case 9: note("add \(timer) to \(mode): \(world.add(timer, mode))")
    case 10:
      note("remove \(timer) from \(mode)")
      world.remove(timer, mode)
    case 11:
      note("fire \(timer)")
      world.fire(timer)
    case 12: note("timer \(timer) in \(mode): \(world.describe(timer, mode))")
    case 13...15: perform()
    case 16...19: touchSource(mode)
    case 20: if random(0...1) == 0 { stop() } else { makeCommon(mode) }
    default: if depth < 3 { run(random(0...15)) }
    }
  }

  private func stop() {
    note("stop")
    world.stop()
  }

  private func perform() {
    let modes = random(0...3) == 0 ? [mode(), mode()] : [mode()]
    let asSource = random(0...2) == 0
    note("perform \(blocks) in \(modes)\(asSource ? " as a source" : "")")
    world.perform(blocks, modes, asSource: asSource)
    blocks += 1
  }

  private func touchSource(_ mode: String) {
    if sources == 0 || random(0...7) == 0 {
      note("add new source \(sources): \(world.addSource(sources, order: random(0...2), mode))")
      sources += 1
      return
    }
    let source = random(0...(sources - 1))
    switch random(0...9) {
    case 0:
      note("invalidate source \(source)")
      world.invalidateSource(source)
    case 1:
      note("remove source \(source) from \(mode)")
      world.removeSource(source, mode)
    case 2: note("add source \(source) to \(mode): \(world.addSource(source, order: 0, mode))")
    default:
      note("signal \(source)")
      world.signal(source)
    }
  }

  private func makeCommon(_ mode: String) {
    // The order in which timers of one date come after that is nobody's promise.
    let isOpen = !(0..<timers).contains { world.describe($0, "common").hasSuffix("in true") }
    guard mode != "common", isOpen, commonModes.insert(mode).inserted else { return }
    note("\(mode) is common")
    world.addCommonMode(mode)
  }
}
