import CUndead
import UndeadReport

/// Reports uses of Swift objects after their deinit, in the process that asks.
///
/// While it runs, dead objects stay in a quarantine with a class that reports every message; retains, releases, casts,
/// unowned references and fields are caught beside it. `undead run --zombies` does the same for a program that was not
/// changed. All functions may be called from any thread.
public enum ZombieSniffer {
  /// What may be kept of dead objects; the oldest go first.
  public struct Budget: Sendable, Hashable {
    /// Memory of dead objects and of what is known of them, in bytes; 0 keeps nothing.
    public var bytes: UInt64
    /// Dead objects; 0 keeps nothing.
    public var count: UInt64
    /// How long an object is kept; nil for no limit.
    public var age: Duration?

    /// Makes a budget; by default 64 MiB, a million objects, of any age.
    public init(bytes: UInt64 = 64 << 20, count: UInt64 = 1_000_000, age: Duration? = nil) {
      self.bytes = bytes
      self.count = count
      self.age = age
    }
  }

  /// What happens after a use of a dead object was reported.
  public enum Policy: Sendable, Hashable {
    /// The program dies there, of SIGILL or, for a field, of SIGSEGV.
    case trap
    /// The program goes on as well as it can: what it reads is what the dead object held. As `--zombie-policy report`.
    case report
  }

  /// How the sniffer works.
  ///
  /// Names of types are those with their module or without ("App.Poller", "Poller"), without generic arguments, or a
  /// beginning followed by `*`. A name stands for the type and all of its subclasses.
  public struct Options: Sendable, Hashable {
    /// What may be kept.
    public var budget = Budget()
    /// What happens after a report.
    public var policy = Policy.trap
    /// True: objects get pages of their own that are protected after their death, so that optimised code that reads a
    /// field is caught too. Cannot be changed while the sniffer runs.
    public var isGuarding = false
    /// Types whose dead objects are kept; empty for all.
    public var allowedTypes: [String] = []
    /// Types whose dead objects are not kept, even if they are among the allowed ones.
    public var deniedTypes: [String] = []
    /// Types whose objects get pages of their own; empty for all outside of the toolchain's libraries.
    public var guardedTypes: [String] = []
    /// Reports for each place, at least 1; later uses there are only counted. nil for no limit.
    public var repeats: UInt32? = 1

    /// Not nil: only one of so many blocks is watched, at random, and nothing is done to the others. Cannot be changed while
    /// the sniffer runs; see ``sampled(oneIn:)``.
    public var sampledOneIn: UInt32?

    /// Makes the standard options.
    public init() {}

    /// Options for programs in production: one of so many objects, closure contexts, pieces of storage and of raw memory gets
    /// a page of its own, which is taken away when it dies. A use of it is reported, and the program goes on.
    ///
    /// The count of the ``budget`` is the number of pages, of 4 KB, that live and dead objects have together; all
    /// objects of ``guardedTypes`` are watched. The handler of ``ZombieSniffer/setHandler(_:)`` is called on a thread of its
    /// own. ``LeakDetector`` is not started.
    ///
    /// - Parameter rate: one of so many objects is watched, 1 for all.
    public static func sampled(oneIn rate: UInt32 = 1000) -> Options {
      var options = Options()
      options.sampledOneIn = max(rate, 1)
      options.policy = .report
      options.budget.count = 256
      return options
    }
  }

  /// What the sniffer counted since it was started first.
  public struct Counters: Sendable, Hashable {
    /// Dead objects in the quarantine, and their bytes.
    public var kept: UInt64, keptBytes: UInt64
    /// Objects that came into the quarantine.
    public var deaths: UInt64
    /// Objects that left it because of the bytes, the number or the age of what was kept, or because it ended.
    public var evictedForBytes: UInt64, evictedForCount: UInt64, evictedForAge: UInt64, evictedForEnd: UInt64
    /// Objects that somebody had retained after their death when they left.
    public var heldWhenEvicted: UInt64
    /// Deaths of types that are not to be kept, and deaths that could not be kept.
    public var denied: UInt64, missed: UInt64
    /// Objects that got pages of their own, and those that should have but did not.
    public var guarded: UInt64, notGuarded: UInt64
    /// Uses of dead objects, and reports of them.
    public var zombies: UInt64, reports: UInt64
  }

  /// True while dead objects are kept.
  public static var isActive: Bool { undead_zombies_are_active() }

  /// Why no dead objects are kept, in one sentence; nil while they are.
  public static var inactiveReason: String? {
    isActive ? nil : String(cString: undead_zombie_inactive_reason())
  }

  /// Starts to keep dead objects; takes over the options if that is done already, but for ``Options/isGuarding``.
  ///
  /// Starts ``LeakDetector`` too, for the backtraces of allocations; not for ``Options/sampled(oneIn:)``.
  ///
  /// - Throws: ``UndeadError`` if it cannot work here, as under a sanitizer.
  public static func start(_ options: Options = Options()) throws(UndeadError) {
    guard DetectionSession.process.zombies.start(options) else {
      throw UndeadError(String(cString: undead_zombie_inactive_reason()), .unavailable)
    }
  }

  /// Frees all dead objects for good, and lets later ones go at once.
  public static func stop() {
    undead_zombies_stop()
  }

  /// Changes the budget; what is over it is freed before the call returns, the oldest first.
  public static func resize(_ budget: Budget) {
    var budget = undead_zombie_budget(budget)
    undead_zombies_resize(&budget)
  }

  /// Adds types to those whose dead objects are kept; only later deaths are concerned.
  ///
  /// - Parameter types: names as in ``Options``.
  /// - Returns: false if there is no room for more names.
  @discardableResult
  public static func allow(_ types: String...) -> Bool {
    undead_zombies_allow(types.joined(separator: ","))
  }

  /// Adds types to those whose dead objects are not kept; only later deaths are concerned.
  ///
  /// - Parameter types: names as in ``Options``.
  /// - Returns: false if there is no room for more names.
  @discardableResult
  public static func deny(_ types: String...) -> Bool {
    undead_zombies_deny(types.joined(separator: ","))
  }

  /// Changes what happens after a report.
  ///
  /// - Parameters:
  ///   - policy: what the program does after a report.
  ///   - repeats: reports for each place, at least 1; nil for no limit.
  public static func setPolicy(_ policy: Policy, repeats: UInt32? = 1) {
    DetectionSession.process.zombies.setPolicy(policy, repeats: repeats)
  }

  /// Sets what is called for each reported use of a dead object, on the thread that used it, before the policy takes
  /// its course; nil for nothing.
  ///
  /// The handler must not wait for other threads, which may wait for what the user of the object holds. It may run
  /// inside of a signal handler. ``describe(_:)`` names what it got, later.
  public static func setHandler(_ handler: (@Sendable (ZombieLog.Event) -> Void)?) {
    DetectionSession.process.zombies.setHandler(handler)
  }

  /// What the sniffer counted.
  public static var counters: Counters {
    var counters = undead_zombie_counters()
    undead_zombies_read_counters(&counters)
    return Counters(counters)
  }

  /// Names the functions of uses of dead objects, and groups them, as in a report.
  ///
  /// Reads the debug information of the program: not in a handler of ``setHandler(_:)``.
  ///
  /// - Parameter events: what a handler was given.
  public static func describe(_ events: [ZombieLog.Event]) -> [LeakReport.Zombie] {
    ZombieDescriber.describe(events)
  }

  /// The uses of dead objects that were found in this process, with names; reads the debug information of the program.
  package static func found(symbolizer: Symbolizer = Symbolizer()) -> ZombieFindings {
    let room = Int(UNDEAD_ZOMBIE_LOG_BYTES)
    let bytes = [UInt8](unsafeUninitializedCapacity: room) { $1 = undead_zombies_copy_log($0.baseAddress, room) }
    guard let log = try? ZombieLog.decode(bytes) else { return ZombieFindings() }
    let (input, notes) = ZombieInput.symbolizing(
      log, program: ZombieDescriber.processName, symbolizer: symbolizer)
    var findings = ZombieFindings([input])
    for note in notes { findings.add(note: note) }
    return findings
  }
}
