import UndeadSystem

/// What to do about a use of a dead object.
enum ZombieAdvice {
  private static func type(_ facts: LeakFacts) -> String { ZombieMember.withoutModule(facts.rootType) }
  private static func isRawMemory(_ facts: LeakFacts) -> Bool { facts.rootType == "raw memory" }

  static func release(_ facts: LeakFacts) -> String? {
    guard facts.use == "release", !isRawMemory(facts) else { return nil }
    return "there is one release more than retains: release an `Unmanaged` once for each `passRetained`, and take "
      + "what came from `passUnretained` with `takeUnretainedValue()`"
  }

  static func unowned(_ facts: LeakFacts) -> String? {
    guard facts.use == "unowned" else { return nil }
    return "the object was deallocated before the one that holds it `unowned`: make the reference `weak`, or keep the "
      + "\(type(facts)) for as long as it is used"
  }

  static func overflow(_ facts: LeakFacts) -> String? {
    guard facts.use == "overflow" else { return nil }
    return "the access is outside of the memory that was allocated: compare its index with the capacity"
  }

  static func escape(_ facts: LeakFacts) -> String? {
    guard facts.use == "escape" else { return nil }
    return
      "`deinit`, and what it calls, must not let `self` out: into a closure, a task, a collection. If it does not, another "
      + "thread read the reference while the last one was released: guard what holds the \(type(facts)) with a lock or an actor"
  }

  static func memory(_ facts: LeakFacts) -> String? {
    let isStorage = facts.use == "field" && facts.rootType.hasPrefix("Swift.")
    guard isRawMemory(facts) || isStorage else { return nil }
    if facts.use == "release" {
      return "the memory was deallocated before: one owner deallocates it, and other copies of the pointer do not"
    }
    return
      "the memory was deallocated before this use: a pointer must not be kept for longer than what it points to, and one "
      + "from `withUTF8`, `withUnsafeBytes` and their kin not beyond the closure"
      + (isStorage ? "; or the value was released once too often (`Unmanaged`)" : "")
  }

  static func closure(_ facts: LeakFacts) -> String? {
    guard facts.use == "closure" else { return nil }
    return "the closure's context was released while something still had its address: keep the closure itself for as "
      + "long as C code or an unsafe pointer can call it; likewise a value in a box, as of a captured variable, an "
      + "`indirect` case or an existential"
  }

  static func timerTarget(_ facts: LeakFacts) -> String? {
    guard facts.use == "timerTarget" else { return nil }
    return
      "the timer does not retain its target: invalidate it before the \(type(facts)) is deallocated, or give it a weak "
      + "target"
  }

  static func reference(_ facts: LeakFacts) -> String? {
    "the reference does not keep the object in memory (`unowned(unsafe)`, `Unmanaged`, or a release too many before): hold "
      + "the \(type(facts)) strongly or `weak` where it is used"
  }
}

/// Sentences about what the sniffer could not see.
enum ZombieNotes {
  /// What one process lost.
  static func notes(on log: ZombieLog) -> [String] {
    let counters = log.counters
    var notes: [String] = []
    let causes = ["evictedForBytes", "evictedForCount", "evictedForAge"]
    let evicted = causes.map { counters[$0] }
    let total = sum(counters, causes)
    if total > 0 {
      let reasons = zip(evicted, ["for its bytes", "for its count", "for their age"])
        .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
      notes.append(
        "\(total) of \(counters["deaths"]) dead objects had to leave the quarantine (\(reasons.joined(separator: ", "))): "
          + "later uses of them may be missed; raise the budget with --zombie-bytes, --zombie-count or --zombie-age")
    }
    if counters["heldWhenEvicted"] > 0 {
      notes.append(
        "something still held \(objects(counters["heldWhenEvicted"], "dead object")) that had to leave the quarantine")
    }
    if log.isSampled, counters["missed"] > 0 {
      let chosen = sum(counters, ["guarded", "notGuarded", "missed"])
      notes.append(
        "of \(objects(chosen)) that the rate chose, \(counters["missed"]) were not watched: a sample keeps to what half a "
          + "million allocations in a second cost, and finds a use the more seldom the more there are")
    } else if counters["missed"] > 0 {
      notes.append(
        "not kept: \(objects(counters["missed"])) for which there was no memory or no way, so later uses are missed")
    }
    if log.isSampled, counters["notGuarded"] > 0 {
      notes.append(
        "\(objects(counters["notGuarded"])) of \(sum(counters, ["guarded", "notGuarded"])) chosen got no page, as all "
          + "were taken by living ones: their uses are missed; raise the number of pages with --zombie-count")
    } else if counters["notGuarded"] > 0 {
      notes.append(
        "\(objects(counters["notGuarded"])) got no pages of their own (storage gets 10,000 in a second, and the system "
          + "allows only so many mappings): uses of what they hold may be missed; name the types that matter with "
          + "--zombie-guard")
    }
    let lost = max(log.lost, counters["lostReports"])
    if lost > 0 { notes.append("not listed: \(objects(lost, "use")) of dead objects for which there was no room") }
    if log.isStaticRuntime {
      notes.append(
        "the Swift runtime is part of the program (-static-stdlib): retains, releases, casts and unowned references of "
          + "dead objects are not seen there")
    }
    return notes
  }

  /// What a log counts need not be what happened.
  private static func sum(_ counters: ZombieLog.Counters, _ names: [String]) -> UInt64 {
    names.reduce(0) { $0.addingReportingOverflow(counters[$1]).partialValue }
  }

  private static func objects(_ count: UInt64, _ noun: String = "object") -> String {
    Quantity.of(Int(clamping: count), noun)
  }

  /// Programs that are not optimised link a library of their own.
  private static func isDebugBuild(_ log: ZombieLog) -> Bool {
    log.moduleLists.contains { $0.contains { $0.path.contains("libswiftSwiftOnoneSupport") } }
  }

  /// What holds for the whole run.
  static func general(_ logs: [ZombieLog]) -> String? {
    guard !logs.isEmpty, !logs.contains(where: { $0.isGuarding || $0.isSampled || isDebugBuild($0) }) else {
      return nil
    }
    return "optimised code may use fields and devirtualised methods of dead objects without a message: "
      + "--zombie-mode guard sees these too"
  }
}
