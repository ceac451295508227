#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// Whether a loop sleeps, until when, and whether there is a reason to wake it.
///
/// Who changes what the loop has to do notes it here, under the loop's lock; giving the lock back wakes the loop. Nobody is
/// handed a decision that could be forgotten. `Checks/Models` explores the protocol.
struct SleepState {
  private static let awake = Int64.min
  private static let longAgo = Int64.min / 2
  private static let defaultGap: Int64 = 150_000

  /// The instant at which the loop wakes by itself; `awake` while it does not sleep, or was woken.
  private(set) var until = awake
  /// Whoever gives the lock back must wake the loop.
  private(set) var mustWake = false
  /// The next sleep ends as it begins.
  private var mustPass = false
  /// When the loop last woke up.
  var lastWake = longAgo
  /// The shortest time between two wake-ups for timers that have room for it.
  var minimumGap = defaultGap

  var isAsleep: Bool { until != Self.awake }

  /// A timer may be due at `instant`.
  @inline(__always)
  mutating func note(due instant: Int64) {
    if instant < until { wake() }
  }

  /// There is something to do at once, or something to look at again.
  @inline(__always)
  mutating func noteWork() {
    if until != Self.awake { wake() }
  }

  /// The loop has to go through one more pass.
  mutating func noteOnePass() {
    if isAsleep { noteWork() } else { mustPass = true }
  }

  mutating func takeOnePass() -> Bool {
    defer { mustPass = false }
    return mustPass
  }

  @inline(never)
  private mutating func wake() {
    until = Self.awake
    mustWake = true
  }

  /// The loop has nothing to do before `instant`.
  mutating func begin(until instant: Int64) { until = max(instant, Self.awake + 1) }

  /// The loop is awake.
  mutating func end() { until = Self.awake }

  /// Whether the caller, who is giving the lock back, must wake the loop. Says so once.
  mutating func takeWake() -> Bool {
    defer { mustWake = false }
    return mustWake
  }

  /// The first instant at which a loop may wake again for a timer that has room.
  var earliestWake: Int64 { Instants.add(lastWake, minimumGap) }
}
#endif
