import CUndead
import UndeadReport

extension undead_zombie_budget {
  init(_ budget: ZombieSniffer.Budget) {
    let age = budget.age.map { age in
      let (seconds, attoseconds) = age.components
      // 0 stands for no limit, so the shortest age is a millisecond.
      return UInt64(
        clamping: max(seconds.multipliedReportingOverflow(by: 1000).0 + attoseconds / 1_000_000_000_000_000, 1))
    }
    self.init(bytes: budget.bytes, count: budget.count, age_milliseconds: age ?? 0)
  }
}

extension ZombieSniffer {
  /// For C, where 0 stands for no limit: nobody wants to hear of no use at all.
  static func limit(_ repeats: UInt32?) -> UInt32 { repeats.map { max($0, 1) } ?? 0 }
}

extension undead_zombie_policy {
  init(_ policy: ZombieSniffer.Policy) {
    switch policy {
    case .trap: self = UNDEAD_ZOMBIE_TRAP
    case .report: self = UNDEAD_ZOMBIE_REPORT
    }
  }
}

extension ZombieSniffer.Counters {
  init(_ counters: undead_zombie_counters) {
    self.init(
      kept: counters.kept, keptBytes: counters.kept_bytes, deaths: counters.deaths,
      evictedForBytes: counters.evicted_for_bytes, evictedForCount: counters.evicted_for_count,
      evictedForAge: counters.evicted_for_age, evictedForEnd: counters.evicted_for_end,
      heldWhenEvicted: counters.held_when_evicted, denied: counters.denied, missed: counters.missed,
      guarded: counters.guarded, notGuarded: counters.not_guarded, zombies: counters.zombies,
      reports: counters.reports)
  }
}

extension ZombieLog.Event {
  /// A copy of what the instrument shows, which is only valid during its call.
  init(_ zombie: undead_zombie) {
    self.init(kind: zombie.kind, object: UInt64(zombie.object), type: Self.text(zombie.type))
    flags = zombie.flags
    accessor = zombie.accessor
    fieldOffset = zombie.field_offset == .max ? nil : zombie.field_offset
    implementation = UInt64(zombie.implementation)
    (accessTime, deathTime, count) = (zombie.access_time, zombie.death_time, max(zombie.count, 1))
    (thread, deathThread) = (zombie.thread, zombie.death_thread)
    field = Self.text(zombie.field)
    threadName = Self.text(zombie.thread_name)
    deathThreadName = Self.text(zombie.death_thread_name)
    allocation = Self.addresses(zombie.allocation, zombie.allocation_count)
    deallocation = Self.addresses(zombie.deallocation, zombie.deallocation_count)
    access = Self.addresses(zombie.access, zombie.access_count)
  }

  private static func text(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0) } ?? "" }

  private static func addresses(_ start: UnsafePointer<UInt>?, _ count: UInt32) -> [UInt64] {
    UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(count)).map { UInt64($0) }
  }
}
