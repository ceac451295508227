import CUndead
import UndeadSystem

/// All allocation scopes of a session: which lie in which, and which ran alone.
///
/// A scope runs alone if from its beginning to its end no other one runs but those that it lies in or that lie in it.
/// What is born meanwhile on threads that belong to no scope is its own.
final class ScopeTable: Sendable {
  fileprivate struct State {
    /// For each scope the one that it was opened in.
    var parents: [UInt32: UInt32] = [:]
    /// The scopes that run, with how often.
    var running: [UInt32: Int] = [:]
    /// Scopes beside which another one ran.
    var accompanied: Set<UInt32> = []
    /// Scopes that are not reported.
    var excluded: Set<UInt32> = []
    /// Innermost of the scopes that run, if they lie in each other.
    var sole: UInt32 = 0
    /// The scope that was opened last, of those that ran since any runs.
    var newest: UInt32 = 0

    /// What blocks of code that runs in no scope are marked with: a scope that is none of those that are opened later.
    var mark: UInt32 {
      if sole != 0 { return sole | UInt32(UNDEAD_SCOPE_SOLE) }
      return newest == 0 ? 0 : newest | UInt32(UNDEAD_SCOPE_BESIDE)
    }
  }

  private let state = Mutex(State())
  /// Whether the instrument marks what is born beside scopes as this table says: it has one mark for the process.
  private let drivesInstrument: Bool

  init(drivesInstrument: Bool) {
    self.drivesInstrument = drivesInstrument
  }

  /// False where nothing is recorded, and in forked copies.
  private var isInUse: Bool { !drivesInstrument || (LeakDetector.isActive && !Availability.isForkedCopy) }

  /// The tables grow while tests run, and stay: that is nothing that a test left behind.
  private func change(_ work: (inout State) -> Void) {
    AllocationScope.outsideOfAll { state.withLock { work(&$0) } }
  }

  private func tell(_ mark: UInt32) {
    if drivesInstrument { undead_scopes_set_outside(mark) }
  }

  /// What is born beside scopes is marked with from now on.
  var mark: UInt32 { state.withLock { $0.mark } }

  func add(_ scope: UInt32, in parent: UInt32) {
    guard isInUse else { return }
    change { $0.parents[scope] = parent }
  }

  /// A part of the scope begins.
  func enter(_ scope: UInt32) {
    guard isInUse else { return }
    change { state in
      let isInner = state.sole != 0 && scope >= state.sole && state.isAround(scope, state.sole)
      let isAlone = state.running.isEmpty || isInner
      state.running[scope, default: 0] += 1
      if !isAlone { state.accompanied.formUnion(state.running.keys) }
      state.sole = isAlone ? scope : 0
      state.newest = max(state.newest, scope)
      tell(state.mark)
    }
  }

  /// A part of the scope has ended.
  func leave(_ scope: UInt32) {
    guard isInUse else { return }
    change { state in
      let left = (state.running[scope] ?? 1) - 1
      state.running[scope] = left > 0 ? left : nil
      if state.running.isEmpty {
        (state.sole, state.newest) = (0, 0)
      } else if state.sole == scope, left <= 0 {
        var outer = state.parents[scope] ?? 0
        while outer != 0, state.running[outer] == nil { outer = state.parents[outer] ?? 0 }
        state.sole = outer
      }
      tell(state.mark)
    }
  }

  /// What is left of the scope and of those in it is not reported.
  func exclude(_ scope: UInt32) {
    guard isInUse else { return }
    change { _ = $0.excluded.insert(scope) }
  }

  /// True while the body of any scope runs.
  var isAnyRunning: Bool { state.withLock { !$0.running.isEmpty } }

  /// What is needed of it to attribute leaks.
  struct Relations: Sendable {
    fileprivate let parents: [UInt32: UInt32]
    fileprivate let accompanied: Set<UInt32>
    fileprivate let excluded: Set<UInt32>

    /// The scope that a block belongs to, by the mark of its allocation; ``outside`` if it is not known.
    func scope(_ mark: UInt32) -> UInt32 {
      if mark & UInt32(UNDEAD_SCOPE_BESIDE) != 0 { return outside }
      guard mark & UInt32(UNDEAD_SCOPE_SOLE) != 0 else { return mark }
      let scope = mark & ~UInt32(UNDEAD_SCOPE_SOLE)
      return accompanied.contains(scope) ? outside : scope
    }

    /// True for a scope that is not reported.
    func isExcluded(_ scope: UInt32) -> Bool { innermost(of: excluded, around: scope) != nil }

    /// The innermost of the given scopes that a scope is or lies in; nil if there is none.
    func innermost(of wanted: Set<UInt32>, around scope: UInt32) -> UInt32? {
      var scope = scope
      while scope != 0, !wanted.contains(scope) { scope = parents[scope] ?? 0 }
      return scope == 0 ? nil : scope
    }
  }

  static let outside = UInt32(UNDEAD_SCOPE_OUTSIDE)

  var relations: Relations {
    state.withLock { Relations(parents: $0.parents, accompanied: $0.accompanied, excluded: $0.excluded) }
  }
}

extension ScopeTable.State {
  /// True if `scope` is `outer`, or lies in it.
  fileprivate func isAround(_ scope: UInt32, _ outer: UInt32) -> Bool {
    var scope = scope
    while scope != 0, scope != outer { scope = parents[scope] ?? 0 }
    return scope == outer
  }
}

extension AllocationScope {
  /// Makes the scope one that lies in another one. Before it begins.
  package func nest(in outer: AllocationScope) {
    session.scopes.add(number, in: outer.number)
  }

  /// What is left of the scope is not reported, not even at the end of a test run.
  package func exclude() {
    session.scopes.exclude(number)
  }

  /// Does what checks do for themselves: nothing that it allocates belongs to a scope.
  package static func outsideOfAll<Result>(_ work: () -> Result) -> Result {
    undead_scopes_leave()
    defer { undead_scopes_return() }
    return work()
  }
}
