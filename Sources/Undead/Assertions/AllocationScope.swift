import CUndead
import Foundation
import UndeadReport

/// A part of the run, such as a test: knows which objects were born in it, and finds those that leaked.
///
/// What the body allocates belongs to the scope, on its own thread and in its tasks and their child tasks. A scope in a
/// scope takes its own allocations; the outer one reports only what the inner one did not. Other threads, dispatched
/// blocks and detached tasks belong to a scope that runs alone (``ScopeTable``); of scopes that run side by side, what
/// leaks there is left to ``unattributedLeaks(options:)``, unless it hangs together with a leak of the scope. A leak is reported once in a process, to who asks first.
package final class AllocationScope: Sendable {
  /// The name that reports show.
  package let name: String
  let number: UInt32
  private let mark: UInt32

  @TaskLocal private static var current: UInt32 = 0

  private static let prepared: Void = undead_scopes_use_task_local(Unmanaged.passUnretained($current).toOpaque())

  /// Opens a scope in the current one, if there is one. It is open as long as this object lives.
  package init(_ name: String) {
    _ = Self.prepared
    self.name = name
    mark = undead_scope_mark()
    number = undead_scope_open()
    ScopeTable.add(number, in: Self.current)
  }

  deinit {
    undead_scope_close(number)
  }

  /// Runs a part of the scope.
  ///
  /// The body runs deeper in the stack than a later check, so that nothing it leaves there hides a leak.
  package func run<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    undead_clear_stack()
    ScopeTable.enter(number)
    defer { ScopeTable.leave(number) }
    var outcome: Swift.Result<Result, Failure>?
    Self.$current.withValue(number) {
      DeepCall.run { outcome = Swift.Result { () throws(Failure) in try body() } }
    }
    guard let outcome else { preconditionFailure("the body was run") }
    return try outcome.get()
  }

  /// Runs an asynchronous part of the scope.
  package func run<Result, Failure: Error>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    ScopeTable.enter(number)
    defer { ScopeTable.leave(number) }
    var outcome: Swift.Result<Result, Failure>?
    await Self.$current.withValue(number) {
      await DeepCall.run {
        do throws(Failure) {
          outcome = .success(try await body())
        } catch {
          outcome = .failure(error)
        }
      }
    }
    guard let outcome else { preconditionFailure("the body was run") }
    return try outcome.get()
  }

  /// Makes the scope that of the calling thread and of the tasks that are started on it, until ``end()``.
  ///
  /// For observers that are told of beginning and end. Outside of tasks only; begin and end on one thread, in pairs.
  package func begin() {
    ScopeTable.enter(number)
    // The runtime copies the value; it wants the metadata of its type.
    _ = undead_scope_push(number, unsafeBitCast(UInt32.self as Any.Type, to: UnsafeRawPointer.self))
  }

  /// Ends what ``begin()`` began.
  package func end() {
    undead_scope_pop()
    ScopeTable.leave(number)
  }

  /// Finds the objects born in the scope that nothing reaches any more, and the suspects among the others.
  ///
  /// - Parameter options: suppressions.
  /// - Throws: ``UndeadError`` if the instrument is not active or the check could not be made.
  package func check(options: ReportOptions = ReportOptions()) throws(UndeadError) -> LeakReport {
    undead_clear_stack()
    return try Self.check([self], options: options)[0]
  }

  /// The same, without blocking the thread.
  package func check(
    options: ReportOptions = ReportOptions(), isolation: isolated (any Actor)? = #isolation
  ) async throws(UndeadError) -> LeakReport {
    try await Self.check([self], options: options)[0]
  }

  /// Checks several scopes with one look at the process; the reports are in the order of the scopes.
  package static func check(
    _ scopes: [AllocationScope], options: ReportOptions = ReportOptions()
  ) throws(UndeadError) -> [LeakReport] {
    guard mayHaveLeaks(scopes) else { return scopes.map { _ in LeakReport() } }
    var reports = try search(scopes, options)
    for pause in secondLooks {
      let doubtful = scopes.indices.filter { reports[$0].isEmpty && scopes[$0].hasOwnSurvivors }
      if doubtful.isEmpty { break }
      Thread.sleep(forTimeInterval: pause / .seconds(1))
      let again = try search(doubtful.map { scopes[$0] }, options)
      for (index, report) in zip(doubtful, again) { reports[index] = report }
    }
    return reports
  }

  /// The same, without blocking the thread.
  package static func check(
    _ scopes: [AllocationScope], options: ReportOptions = ReportOptions(),
    isolation: isolated (any Actor)? = #isolation
  ) async throws(UndeadError) -> [LeakReport] {
    guard mayHaveLeaks(scopes) else { return scopes.map { _ in LeakReport() } }
    var reports = try await search(scopes, options)
    for pause in secondLooks {
      let doubtful = scopes.indices.filter { reports[$0].isEmpty && scopes[$0].hasOwnSurvivors }
      if doubtful.isEmpty { break }
      try? await Task.sleep(for: pause)
      let again = try await search(doubtful.map { scopes[$0] }, options)
      for (index, report) in zip(doubtful, again) { reports[index] = report }
    }
    return reports
  }

  /// The thread that ran the end of a task may not be through with it, and still refer to what leaked.
  private static let secondLooks: [Duration] = [.milliseconds(2), .milliseconds(20)]

  private static func search(
    _ scopes: [AllocationScope], _ options: ReportOptions
  ) throws(UndeadError) -> [LeakReport] {
    let numbers = scopes.map(\.number)
    return try LeakSearch.run { reports(on: $0, of: numbers, options) }
  }

  private static func search(
    _ scopes: [AllocationScope], _ options: ReportOptions, isolation: isolated (any Actor)? = #isolation
  ) async throws(UndeadError) -> [LeakReport] {
    let numbers = scopes.map(\.number)
    return try await LeakSearch.run { reports(on: $0, of: numbers, options) }
  }

  private var hasOwnSurvivors: Bool { undead_scope_has_survivors(number, mark, true) }

  /// Most tests leave nothing behind: they need no search of the whole process.
  private static func mayHaveLeaks(_ scopes: [AllocationScope]) -> Bool {
    !Undead.isActive || scopes.contains { undead_scope_has_survivors($0.number, $0.mark, false) }
  }

  /// Finds what leaked while scopes were open and that no scope reported, for the end of a test run.
  package static func unattributedLeaks(options: ReportOptions = ReportOptions()) throws(UndeadError) -> LeakReport {
    try LeakSearch.run { snapshot in
      let search = ScopeSearch(copy snapshot)
      return search.report(where: { $0 != 0 }, options: options)
    }
  }

  private static func reports(
    on snapshot: borrowing Snapshot, of scopes: [UInt32], _ options: ReportOptions
  ) -> [LeakReport] {
    let search = ScopeSearch(copy snapshot)
    let wanted = Set(scopes)
    return scopes.map { scope in
      search.report(where: { search.innermost(of: wanted, around: $0) == scope }, options: options)
    }
  }
}

/// The leaks of a snapshot by the scopes in which their objects were born.
private struct ScopeSearch {
  private let snapshot: Snapshot
  private let relations = ScopeTable.relations
  /// Scope of each node that leaked or is a suspect.
  private let scopes: [Int: UInt32]
  private let selection: LeakSelection?

  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
    let relations = relations
    var scopes: [Int: UInt32] = [:]
    func add(_ node: Int) {
      let address = snapshot.nodes[node].address
      guard !ReportedLeaks.contains(address) else { return }
      scopes[node] = relations.scope(undead_scope_of_block(UnsafeRawPointer(bitPattern: UInt(address))))
    }
    for (index, node) in snapshot.nodes.enumerated() where node.isUnreachable { add(index) }
    for suspect in snapshot.suspects { add(Int(suspect.node)) }
    self.scopes = scopes
    // Without anything to look for, the passing case, it would be in vain.
    selection = scopes.values.contains { $0 != 0 } ? LeakSelection(snapshot) : nil
  }

  func innermost(of wanted: Set<UInt32>, around scope: UInt32) -> UInt32? {
    relations.innermost(of: wanted, around: scope)
  }

  /// A report of what was born in the scopes that `isWanted` names, which counts as reported from then on.
  func report(where isWanted: (UInt32) -> Bool, options: ReportOptions) -> LeakReport {
    let seeds = scopes.filter { isWanted($0.value) }.map(\.key)
    let suspects = snapshot.suspects.filter { seeds.contains(Int($0.node)) }
    let leaked = seeds.filter { snapshot.nodes[$0].state == .leaked || snapshot.nodes[$0].state == .raw }
    guard let selection, !leaked.isEmpty || !suspects.isEmpty else { return LeakReport() }
    let nodes = selection.connected(to: leaked) { node in
      guard let scope = scopes[node], !ReportedLeaks.contains(snapshot.nodes[node].address) else { return false }
      return scope == 0 || scope == ScopeTable.outside || isWanted(scope)
    }
    ReportedLeaks.insert(nodes.map { snapshot.nodes[$0].address })
    return selection.report(of: nodes, suspects: suspects, options: options)
  }
}

extension LeakReport {
  fileprivate var isEmpty: Bool { leaks.isEmpty && suspects.isEmpty && knownLeaks.isEmpty }
}
