import CUndead
import Foundation
import UndeadReport
import UndeadSystem

/// Hands the reports of the instrument to the handler of the user and to the running assertions.
///
/// The instrument has one quarantine and one handler: it reports to the session of the process.
final class ZombieObservers: Sendable {
  private struct State {
    var handler: (@Sendable (ZombieLog.Event) -> Void)?
    /// Of the running assertions, the outer ones first.
    var collectors: [ZombieCollector] = []
    /// What the sniffer does apart from the assertions.
    var policy = ZombieObservers.inheritedPolicy
    var repeats: UInt32 = 1
    /// True if the assertions started it, and have to end it.
    var wasStartedHere = false
  }

  private let state = Mutex(State())
  private let drivesInstrument: Bool

  init(drivesInstrument: Bool) {
    self.drivesInstrument = drivesInstrument
  }

  /// That of `undead run --zombies`, which the instrument took from the environment.
  private static var inheritedPolicy: ZombieSniffer.Policy {
    let policy = ProcessInfo.processInfo.environment["UNDEAD_ZOMBIE_POLICY"]
    return policy == "report" || (policy == nil && isSampledFromOutside) ? .report : .trap
  }

  private static var isSampledFromOutside: Bool {
    ProcessInfo.processInfo.environment["UNDEAD_ZOMBIES"] == "sampled"
  }

  private static let callback: undead_zombie_handler = { zombie, _ in
    if let zombie { DetectionSession.process.zombies.deliver(ZombieLog.Event(zombie.pointee)) }
  }

  private func deliver(_ event: ZombieLog.Event) {
    let (handler, collectors) = state.withLock { ($0.handler, $0.collectors) }
    if let current = ZombieCollector.current {
      current.add(event)
    } else {
      // A thread that belongs to no test: nobody knows whose it is, and a zombie that nobody shows is worse.
      for collector in collectors { collector.add(event) }
    }
    handler?(event)
  }

  func start(_ options: ZombieSniffer.Options) -> Bool {
    state.withLock { state in
      (state.policy, state.repeats) = (options.policy, ZombieSniffer.limit(options.repeats))
      guard state.collectors.isEmpty else { return ZombieSniffer.isActive }
      state.wasStartedHere = false
      return Self.startInstrument(options)
    }
  }

  private static func startInstrument(_ options: ZombieSniffer.Options) -> Bool {
    var settings = undead_zombie_options()
    undead_zombie_default_options(&settings)
    settings.budget = undead_zombie_budget(options.budget)
    settings.policy = undead_zombie_policy(options.policy)
    settings.guard = options.isGuarding
    settings.repeats = ZombieSniffer.limit(options.repeats)
    settings.sample = options.sampledOneIn ?? 0
    settings.handler = callback
    if options.sampledOneIn != nil { startDeliveries() }
    return options.allowedTypes.joined(separator: ",").withCString { allow in
      options.deniedTypes.joined(separator: ",").withCString { deny in
        options.guardedTypes.joined(separator: ",").withCString { guarded in
          (settings.allow, settings.deny, settings.guard_types) = (allow, deny, guarded)
          return undead_zombies_start(&settings)
        }
      }
    }
  }

  private static let deliveries: Void = {
    let pause: UInt32 = 1000
    let thread = Thread { while true { undead_zombies_wait(pause) } }
    thread.name = "undead-zombies"
    thread.start()
  }()

  /// What a sample found comes from handlers of signals, where Swift must not run.
  private static func startDeliveries() { _ = deliveries }

  func setPolicy(_ policy: ZombieSniffer.Policy, repeats: UInt32?) {
    state.withLock { state in
      (state.policy, state.repeats) = (policy, ZombieSniffer.limit(repeats))
      // The running assertions need the program to go on.
      if state.collectors.isEmpty { undead_zombies_set_policy(undead_zombie_policy(policy), state.repeats) }
    }
  }

  func setHandler(_ handler: (@Sendable (ZombieLog.Event) -> Void)?) {
    state.withLock { $0.handler = handler }
    if Self.isSampledFromOutside { Self.startDeliveries() }
    undead_zombies_set_handler(Self.callback, nil)
  }

  /// Begins an assertion: the program goes on after a zombie, and each one is reported.
  ///
  /// - Returns: why nothing can be seen; nil if it can.
  func begin(_ collector: ZombieCollector) -> String? {
    guard drivesInstrument else { return "only the session of the process reports zombies" }
    if Self.isSampledFromOutside { Self.startDeliveries() }
    return state.withLock { state in
      if !ZombieSniffer.isActive {
        var options = ZombieSniffer.Options()
        (options.policy, options.repeats) = (.report, nil)
        guard Self.startInstrument(options) else { return String(cString: undead_zombie_inactive_reason()) }
        state.wasStartedHere = true
      } else if state.collectors.isEmpty {
        undead_zombies_set_handler(Self.callback, nil)
        undead_zombies_set_policy(UNDEAD_ZOMBIE_REPORT, ZombieSniffer.limit(nil))
      }
      state.collectors.append(collector)
      return nil
    }
  }

  func end(_ collector: ZombieCollector) {
    state.withLock { state in
      state.collectors.removeAll { $0 === collector }
      guard state.collectors.isEmpty else { return }
      undead_zombies_set_policy(undead_zombie_policy(state.policy), state.repeats)
      if state.wasStartedHere { undead_zombies_stop() }
      state.wasStartedHere = false
    }
  }
}
