// swift-format-ignore-file: AmbiguousTrailingClosureOverload

import CUndead
import UndeadReport

/// A part of the run, such as a test: knows which objects were born in it, and finds those that leaked.
///
/// What the body allocates belongs to the scope, on its own thread and in its tasks and their child tasks. A scope in a
/// scope takes its own allocations; the outer one reports only what the inner one did not. Detached tasks belong to the
/// scope that made them, other threads and dispatched blocks to one that runs alone (``ScopeTable``). Of scopes that run
/// side by side, what leaks there belongs to the scope whose ``function`` is on the stack of the allocation, or that it
/// hangs together with a leak of; the rest is reported at the end of the process (``ProcessEnd``). A session reports a
/// leak once, to who asks first.
package final class AllocationScope: Sendable {
  /// The name that reports show.
  package let name: String
  /// The function that the whole scope is, with module and type, such as "AppTests.CartTests.adds()"; nil if it is none.
  let function: String?
  let number: UInt32
  /// The session that knows the scope.
  package let session: DetectionSession
  /// What was allocated before has lower numbers of backtraces.
  let mark: UInt32

  // The instrument knows one variable, and so it is that of the scopes of all sessions.
  @TaskLocal private static var current: UInt32 = 0

  private static let prepared: Void = undead_scopes_use_task_local(Unmanaged.passUnretained($current).toOpaque())

  /// Each look at the process sees to it that new blocks do not come to addresses that stale references name. One has to
  /// be made before anything is born in the first scope.
  private static let danglingAddressesAvoided: Void = {
    undead_lock_checks()
    defer { undead_unlock_checks() }
    undead_avoid_dangling()
  }()

  /// Opens a scope in the current one, if there is one. It is open as long as this object lives.
  ///
  /// - Parameter function: only if the scope begins and ends with it.
  package init(_ name: String, function: String? = nil, in session: DetectionSession = .process) {
    _ = Self.prepared
    self.session = session
    self.name = name
    self.function = function
    mark = undead_scope_mark()
    number = undead_scope_open()
    undead_scope_avoid_task()
    _ = Self.danglingAddressesAvoided
    session.scopes.add(number, in: Self.current)
  }

  deinit {
    undead_scope_close(number)
  }

  /// Runs a part of the scope.
  ///
  /// The body runs deeper in the stack than a later check, so that nothing it leaves there hides a leak.
  package func run<Output, Failure: Error>(_ body: () throws(Failure) -> Output) throws(Failure) -> Output {
    undead_clear_stack()
    session.scopes.enter(number)
    defer { session.scopes.leave(number) }
    var outcome: Result<Output, Failure>?
    Self.$current.withValue(number) {
      DeepCall.run { outcome = Result { () throws(Failure) in try body() } }
    }
    guard let outcome else { preconditionFailure("the body was run") }
    return try outcome.get()
  }

  /// Runs an asynchronous part of the scope.
  package nonisolated(nonsending) func run<Output, Failure: Error>(
    _ body: () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    session.scopes.enter(number)
    defer { session.scopes.leave(number) }
    var outcome: Result<Output, Failure>?
    await Self.$current.withValue(number) {
      await DeepCall.run { outcome = await Result(of: body) }
    }
    guard let outcome else { preconditionFailure("the body was run") }
    return try outcome.get()
  }

  /// Makes the scope that of the calling thread and of the tasks that are started on it, until ``end()``.
  ///
  /// For observers that are called at beginning and end; on one thread and in one task, if any, in pairs.
  package func begin() {
    session.scopes.enter(number)
    // The runtime copies the value; it wants the metadata of its type.
    _ = undead_scope_push(number, unsafeBitCast(UInt32.self as Any.Type, to: UnsafeRawPointer.self))
  }

  /// Ends what ``begin()`` began.
  package func end() {
    undead_scope_pop()
    session.scopes.leave(number)
  }

  /// Finds the objects born in the scope that nothing reaches any more, and the suspects among the others.
  ///
  /// - Parameters:
  ///   - options: what is left out; by default what all checks of the session leave out.
  ///   - holder: an object that is alive until this returns, and so is all that it holds, such as the running test case.
  /// - Throws: ``UndeadError`` if the instrument is not active or the check could not be made.
  package func check(
    options: ReportOptions? = nil, heldBy holder: AnyObject? = nil
  ) throws(UndeadError) -> LeakReport {
    undead_clear_stack()
    guard try mayHaveLeaks(heldBy: holder) else { return LeakReport() }
    return try Self.look(ScopeLooks([self], options))[0]
  }

  /// The same, without blocking the thread.
  package nonisolated(nonsending) func check(
    options: ReportOptions? = nil
  ) async throws(UndeadError) -> LeakReport {
    guard try mayHaveLeaks() else { return LeakReport() }
    return try await Self.look(ScopeLooks([self], options))[0]
  }

  /// Checks several scopes of a session with one look at the process; the reports are in the order of the scopes.
  package static func check(
    _ scopes: [AllocationScope], options: ReportOptions? = nil
  ) throws(UndeadError) -> [LeakReport] {
    guard try mayHaveLeaks(scopes) else { return scopes.map { _ in LeakReport() } }
    return try look(ScopeLooks(scopes, options))
  }

  private static func look(_ looks: consuming ScopeLooks) throws(UndeadError) -> [LeakReport] {
    while let look = looks.next {
      let findings = try LeakSearch.run(look.session.instrument, look.findings)
      guard let pause = looks.take(findings) else { break }
      Patience.pause(pause)
    }
    return looks.reports
  }

  /// The same, without blocking the thread.
  package static nonisolated(nonsending) func check(
    _ scopes: [AllocationScope], options: ReportOptions? = nil
  ) async throws(UndeadError) -> [LeakReport] {
    guard try mayHaveLeaks(scopes) else { return scopes.map { _ in LeakReport() } }
    return try await look(ScopeLooks(scopes, options))
  }

  private static nonisolated(nonsending) func look(
    _ looks: consuming ScopeLooks
  ) async throws(UndeadError) -> [LeakReport] {
    while let look = looks.next {
      let findings = try await LeakSearch.run(look.session.instrument, look.findings)
      guard let pause = looks.take(findings) else { break }
      await Patience.sleep(pause)
    }
    return looks.reports
  }

  /// Most tests leave nothing behind, or only what is certainly alive: they need no search of the whole process.
  ///
  /// To be asked before anything is allocated, which would count.
  private func mayHaveLeaks(heldBy holder: AnyObject? = nil) throws(UndeadError) -> Bool {
    if Availability.isForkedCopy { throw UndeadError(Availability.forkedCopy, .unavailable) }
    let address = holder.map { Unmanaged.passUnretained($0).toOpaque() }
    return !session.instrument.isActive() || session.instrument.mayHaveLeaks(number, mark, address)
  }

  /// What was left behind of a scope is so of each one that was opened before, too.
  private static func mayHaveLeaks(_ scopes: [AllocationScope]) throws(UndeadError) -> Bool {
    try scopes.min { $0.number < $1.number }?.mayHaveLeaks() ?? false
  }
}
