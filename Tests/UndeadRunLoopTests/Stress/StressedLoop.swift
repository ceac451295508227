import FoundationEssentials
import UndeadRunLoop

/// A loop of the library in virtual time, as a script sees it.
final class StressedLoop: StressWorld {
  // All of it is used on one thread; callbacks of the loop have to be called Sendable.
  private final class Callback: @unchecked Sendable {
    private unowned let world: StressedLoop
    private let what: String

    init(_ world: StressedLoop, _ what: String) {
      self.world = world
      self.what = what
    }

    func call() { world.script?.called(what) }
  }

  weak var script: StressScript?
  private let clock = VirtualClock()
  private let loop: TrackedRunLoop
  private var timers: [TrackedTimer] = []
  private var sources: [TrackedRunLoopSource] = []

  init() { loop = TrackedRunLoop(name: "stressed", clock: clock) }

  var now: Int { Int(clock.now / 1_000_000) }

  private func mode(_ name: String) -> TrackedRunLoop.Mode { .init(name) }

  func schedule(_ timer: Int, after: Int, repeats: Bool, tolerance: Int, _ mode: String) {
    let callback = Callback(self, "timer \(timer)")
    let interval = Duration.milliseconds(after)
    do {
      let made =
        repeats
        ? try loop.schedule(every: interval, mode: self.mode(mode)) { _ in callback.call() }
        : try loop.schedule(after: interval, mode: self.mode(mode)) { _ in callback.call() }
      timers.append(made)
      if tolerance > 0 { setTolerance(timer, tolerance) }
    } catch {
      fatalError("a timer was refused: \(error)")
    }
  }

  func invalidate(_ timer: Int) { timers[timer].invalidate() }

  func setDate(_ timer: Int, _ date: Int) { timers[timer].fireDate = clock.date(at: Int64(date) * 1_000_000) }

  func setTolerance(_ timer: Int, _ tolerance: Int) { timers[timer].tolerance = .milliseconds(tolerance) }

  func add(_ timer: Int, _ mode: String) -> String {
    guard let isNew = try? loop.add(timers[timer], forMode: self.mode(mode)) else { return "refused" }
    return isNew ? "added" : "there already"
  }

  func remove(_ timer: Int, _ mode: String) { loop.remove(timers[timer], forMode: self.mode(mode)) }

  func fire(_ timer: Int) { timers[timer].fire() }

  func describe(_ timer: Int, _ mode: String) -> String {
    let timer = timers[timer]
    let due = Int((Double(clock.instant(at: timer.fireDate)) / 1e6).rounded())
    return "\(timer.isValid ? "due \(due)" : "over") fired \(timer.firings) in "
      + "\(loop.contains(timer, forMode: self.mode(mode)))"
  }

  func perform(_ block: Int, _ modes: [String], asSource: Bool) {
    let callback = Callback(self, "block \(block)")
    if asSource {
      try? loop.perform(on: callback, waitUntilDone: false, modes: modes.map(mode)) { $0.call() }
    } else {
      loop.perform(inModes: modes.map(mode)) { callback.call() }
    }
  }

  func addSource(_ source: Int, order: Int, _ mode: String) -> String {
    if source == sources.count {
      let callback = Callback(self, "source \(source)")
      sources.append(TrackedRunLoopSource(order: order) { _ in callback.call() })
    }
    guard let isNew = try? loop.add(sources[source], forMode: self.mode(mode)) else { return "refused" }
    return isNew ? "added" : "there already"
  }

  func removeSource(_ source: Int, _ mode: String) { loop.remove(sources[source], forMode: self.mode(mode)) }

  func signal(_ source: Int) { sources[source].signal() }

  func invalidateSource(_ source: Int) { sources[source].invalidate() }

  func addCommonMode(_ mode: String) { loop.addCommonMode(self.mode(mode)) }

  func stop() { loop.stop() }

  func run(_ mode: String, for duration: Int, returnAfterSource: Bool) -> String {
    loop.run(mode: self.mode(mode), for: .milliseconds(duration), returnAfterSourceHandled: returnAfterSource).rawValue
  }

  func advance(_ duration: Int) { clock.advance(by: .milliseconds(duration)) }
}
