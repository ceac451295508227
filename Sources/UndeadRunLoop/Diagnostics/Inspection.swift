#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import FoundationEssentials

/// What all run loops of the process are doing, at one moment each.
public struct RunLoopInspection: Sendable, Codable {
  /// One loop.
  package struct Loop: Sendable, Codable {
    /// The loop's name.
    package var name: String
    /// The mode in which it is running, nil if it is not.
    package var runningMode: String?
    /// The modes that the common ones stand for, in alphabetical order.
    package var commonModes: [String]
    /// The modes with something in them.
    package var modes: [Mode]
    /// Its timers, the next one first.
    package var timers: [Timer]
    /// The type of the object that the loop was made for, nil if there is none.
    package var owner: String?
    /// Whether that object is still there.
    package var ownerAlive: Bool?
    /// How often the loop has looked for work.
    package var passes: Int
    /// How often it has slept.
    package var wakeUps: Int
    /// How many timers have fired.
    package var fires: Int
    /// How many ticks were skipped because their time had passed.
    package var missed: Int
  }

  /// What a mode of a loop holds.
  package struct Mode: Sendable, Codable {
    /// The mode's name.
    package var name: String
    /// How many timers are in it.
    package var timers: Int
    /// How many sources are in it.
    package var sources: Int
    /// How many observers are in it.
    package var observers: Int
  }

  /// A timer.
  package struct Timer: Sendable, Codable {
    /// The timer's name, empty if it has none.
    package var name: String
    /// The modes that it is in, in alphabetical order.
    package var modes: [String]
    /// Seconds between fires, 0 for one that does not repeat.
    package var interval: Double
    /// By how many seconds a fire may be delayed.
    package var tolerance: Double
    /// Seconds until it is due; negative for one that is overdue.
    package var dueIn: Double
    /// How often it has fired.
    package var fires: Int
    /// How many ticks were skipped because their time had passed.
    package var missed: Int
    /// Seconds by which it was late the last time.
    package var lastLateness: Double
    /// Seconds by which it was late at worst.
    package var worstLateness: Double
    /// What it calls, nil for a block.
    package var target: Target?
    /// The type of what it carries, nil if that is nothing.
    package var userInfoType: String?
  }

  /// The target of a timer.
  package struct Target: Sendable, Codable {
    /// The target's type.
    package var type: String
    /// The name of the action, empty if it was given none.
    package var selector: String
    /// How the timer holds it.
    package var holding: TargetHolding
    /// Whether it is still there.
    package var isAlive: Bool
  }

  /// The loops, in the order in which they were made.
  package var loops: [Loop]

  /// The same as JSON, with sorted keys.
  package func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}

extension RunLoopInspection: CustomStringConvertible {
  /// A line for each loop and each timer.
  public var description: String {
    loops.map { loop in
      let state = loop.runningMode.map { "running in \($0)" } ?? "idle"
      let head = "run loop \"\(loop.name)\": \(state), \(loop.timers.count) timer(s), \(loop.fires) fire(s)"
      return ([head] + loop.timers.map { "  " + $0.line }).joined(separator: "\n")
    }.joined(separator: "\n")
  }
}

extension RunLoopInspection.Timer {
  fileprivate var line: String {
    let what = target.map { "target: \($0.type) (\($0.holding.rawValue), \($0.isAlive ? "alive" : "gone"))" } ?? "block"
    let rhythm = interval > 0 ? "every \(interval) s" : "once"
    return "mode \(modes.joined(separator: ", ")) -> timer \"\(name)\" \(rhythm) -> \(what); \(fires) fire(s), "
      + "\(missed) missed, at worst \(worstLateness) s late"
  }
}

extension TrackedRunLoop {
  /// Looks at all loops of the process: their modes, timers, targets alive or dead, fire counts, lateness.
  public static func inspect() -> RunLoopInspection {
    RunLoopInspection(loops: LoopRegistry.shared.all.map { $0.inspection() })
  }

  /// Looks at this loop.
  package func inspection() -> RunLoopInspection.Loop {
    let now = clock.now
    // Released without the lock: to look at a weak target may end its life, and with it run its `deinit`.
    var borrowed: [Any] = []
    let (timers, loop) = core.withLock {
      let timers = core.state.pointee.timers.all.map { timer in
        borrowed.append(timer)
        return RunLoopInspection.Timer(timer, of: core, now: now, &borrowed)
      }
      return (timers, core.inspectionWithoutTimers())
    }
    return loop.completed(by: identity, owner: owner, timers: timers)
  }
}

extension RunLoopInspection.Loop {
  /// With what the lock of the loop does not guard.
  func completed(
    by identity: LoopIdentity, owner: AnyObject?, timers: [RunLoopInspection.Timer]
  ) -> RunLoopInspection.Loop {
    var loop = self
    loop.name = identity.name
    loop.timers = timers.sorted { ($0.dueIn, $0.name) < ($1.dueIn, $1.name) }
    loop.owner = identity.ownerType
    loop.ownerAlive = loop.owner == nil ? nil : owner != nil
    return loop
  }
}

extension LoopCore {
  /// The caller holds the lock.
  func inspectionWithoutTimers() -> RunLoopInspection.Loop {
    let statistics = state.pointee.statistics
    return RunLoopInspection.Loop(
      name: "", runningMode: state.pointee.activations.mode.map(ModeTable.name),
      commonModes: state.pointee.commonModes.map(ModeTable.name).sorted(), modes: modeContents(), timers: [],
      owner: nil, ownerAlive: nil, passes: statistics.passes, wakeUps: statistics.wakeUps, fires: statistics.fires,
      missed: statistics.missed)
  }

  private func modeContents() -> [RunLoopInspection.Mode] {
    var contents: [Int32: RunLoopInspection.Mode] = [:]
    func mode(_ index: Int32) -> RunLoopInspection.Mode {
      contents[index] ?? .init(name: ModeTable.name(index), timers: 0, sources: 0, observers: 0)
    }
    func count(_ modes: [Int32], _ change: (inout RunLoopInspection.Mode) -> Void) {
      for index in modes where index != ModeTable.commonMode {
        var entry = mode(index)
        change(&entry)
        contents[index] = entry
      }
    }
    for (modes, timers) in state.pointee.timers.population { count(modes) { $0.timers += timers } }
    for record in state.pointee.sources.all { count(record.modes) { $0.sources += 1 } }
    for record in state.pointee.observers.all { count(record.modes) { $0.observers += 1 } }
    return contents.values.sorted { $0.name < $1.name }
  }
}

extension RunLoopInspection.Timer {
  /// The caller holds the lock of the loop that the timer is in.
  ///
  /// - Parameter borrowed: receives what is not the caller's, to be released without the lock.
  init(_ timer: TrackedTimer, of core: LoopCore, now: Int64, _ borrowed: inout [Any]) {
    let secondsPerMicrosecond = 1e-6
    let living = timer.describedTarget?.living
    if let living { borrowed.append(living) }
    name = timer.name
    modes = core.state.pointee.timers.modes(of: timer).map(ModeTable.name).sorted()
    interval = timer.flags.contains(.repeats) ? Instants.seconds(timer.period) : 0
    tolerance = Instants.seconds(timer.leeway)
    dueIn = Instants.seconds(Instants.subtract(timer.due, now))
    fires = Int(clamping: timer.fireCount)
    missed = Int(clamping: timer.missedCount)
    lastLateness = Double(timer.latestMicroseconds) * secondsPerMicrosecond
    worstLateness = Double(timer.worstMicroseconds) * secondsPerMicrosecond
    target = timer.describedTarget.map {
      .init(type: $0.typeName, selector: $0.selector, holding: $0.holding, isAlive: living != nil)
    }
    let info = timer.userInfo
    if let info { borrowed.append(info) }
    userInfoType = info.map { Diagnostics.typeName(type(of: $0)) }
  }
}
#endif
