import CUndead
import Foundation
import UndeadReport

/// Finds what was started in a scope and has not ended: tasks, timers and calls of libdispatch, blocks that run, threads.
struct LeftWorkSearch {
  private let scope: AllocationScope
  private let hasTestsBeside: Bool
  private let threads: Set<Int32>
  private static let most = 256
  /// How long tasks that only wait for their turn may need, where other tests keep all threads busy.
  fileprivate static let patience = Duration.seconds(10)

  /// Before the scope runs.
  init(_ scope: AllocationScope, hasTestsBeside: Bool) {
    self.scope = scope
    self.hasTestsBeside = hasTestsBeside
    threads = AllocationScope.outsideOfAll { Self.threads() }
  }

  /// True as soon as every task that is left has had its turn.
  fileprivate var isSettled: Bool { !left().contains { $0.isOwn && ($0.isRunning || $0.isQueued) } }

  /// What is left now.
  func left() -> [LeftWork] {
    AllocationScope.outsideOfAll {
      let found = work()
      let mayRun = found.contains(where: \.mayRun)
      return found + onThreads(mayRun ? Self.threads() : Self.threads().subtracting(threads))
    }
  }

  /// The message of a failed test for what is left.
  func message(_ left: [LeftWork], directory: String) -> String {
    AllocationScope.outsideOfAll {
      let addresses = Set(left.flatMap(\.frames)).map { $0 &- 1 }
      var snapshot = Snapshot()
      snapshot.modules = Self.modules(of: addresses)
      let frames = FrameNames(snapshot, symbols: Symbolizer().symbolize(addresses, modules: snapshot.modules).symbols)
      return FailureText.text(left, frames: { frames.backtrace(returnAddresses: $0) }, directory: directory)
    }
  }

  private static func modules(of addresses: [UInt64]) -> [Snapshot.Module] {
    undead_lock_checks()
    defer { undead_unlock_checks() }
    var modules: [UInt64: Snapshot.Module] = [:]
    for address in addresses {
      var module = undead_left_module()
      guard undead_left_module_of(UInt(address), &module) else { continue }
      modules[UInt64(module.low)] = Snapshot.Module(
        low: UInt64(module.low), high: UInt64(module.high), bias: UInt64(module.bias),
        path: String(cString: module.path),
        buildID: String(cString: module.build_id), flags: module.toolchain ? 1 : 0)
    }
    return modules.values.sorted { $0.low < $1.low }
  }

  private func work() -> [LeftWork] {
    let found = [undead_left_work](unsafeUninitializedCapacity: Self.most) { buffer, count in
      count = Int(undead_left_work_since(scope.mark, buffer.baseAddress, UInt32(Self.most)))
    }
    return found.compactMap { work in
      isOwn(work.scope).flatMap { LeftWork(work, isOwn: $0) }
    }
  }

  /// Nil for what is of another scope, or of several at a time; false if a test without a scope may have started it, too.
  private func isOwn(_ mark: UInt32) -> Bool? {
    let relations = scope.session.scopes.relations
    guard relations.innermost(of: [scope.number], around: relations.scope(mark)) == scope.number else { return nil }
    return !hasTestsBeside || mark & UInt32(UNDEAD_SCOPE_SOLE) == 0
  }

  private func onThreads(_ wanted: Set<Int32>) -> [LeftWork] {
    wanted.sorted().compactMap { thread in
      var work = undead_left_work()
      guard undead_left_thread(thread, &work) else { return nil }
      let isNew = !threads.contains(thread)
      // A thread whose scope is not known is that of the only one there is.
      let mark = work.scope == 0 && isNew ? scope.number | UInt32(UNDEAD_SCOPE_SOLE) : work.scope
      return isOwn(mark).flatMap { LeftWork(work, isOwn: $0) }
    }
  }

  private static func threads() -> Set<Int32> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.compactMap { Int32($0) } ?? [])
  }
}

extension LeftWork {
  fileprivate init?(_ work: undead_left_work, isOwn: Bool) {
    guard let kind = Kind(rawValue: work.kind) else { return nil }
    let frames = withUnsafeBytes(of: work.frames) { bytes in
      bytes.bindMemory(to: UInt.self).prefix(Int(work.frame_count)).map { UInt64($0) }
    }
    self.init(kind: kind, status: work.status, frames: frames, isOwn: isOwn)
  }
}

extension AssertionSite {
  /// Fails if something that the body starts has not ended soon after it; even if it throws.
  package func assertNoTasksLeft<Output, Failure: Error>(
    grace: Duration, _ body: () throws(Failure) -> Output
  ) throws(Failure) -> Output {
    if let obstacle = Availability.reason {
      skip(obstacle)
      return try body()
    }
    let scope = AllocationScope.outsideOfAll { AllocationScope("assertNoTasksLeft", in: session) }
    let search = LeftWorkSearch(scope, hasTestsBeside: Self.hasTestsBeside)
    defer {
      _ = Patience.wait(LeftWorkSearch.patience) { search.isSettled }
      if !Patience.wait(grace, until: { search.left().isEmpty }) { tell(search) }
    }
    return try scope.run(body)
  }

  /// Fails if something that the asynchronous body starts has not ended soon after it; even if it throws.
  package nonisolated(nonsending) func assertNoTasksLeft<Output, Failure: Error>(
    grace: Duration, _ body: () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    if let obstacle = Availability.reason {
      skip(obstacle)
      return try await body()
    }
    let scope = AllocationScope.outsideOfAll { AllocationScope("assertNoTasksLeft", in: session) }
    let search = LeftWorkSearch(scope, hasTestsBeside: Self.hasTestsBeside)
    let outcome = await Result(of: { () async throws(Failure) in try await scope.run(body) })
    _ = await Patience.wait(LeftWorkSearch.patience) { search.isSettled }
    if !(await Patience.wait(grace, until: { search.left().isEmpty })) { tell(search) }
    return try outcome.get()
  }

  private func tell(_ search: LeftWorkSearch) {
    let all = search.left()
    let left = all.filter { $0.isOwn && !$0.mayRun }
    if left.isEmpty {
      if all.contains(where: { !$0.isOwn && !$0.isRunning && !$0.isQueued && !$0.mayRun }) {
        skip("something was started meanwhile that has not ended, by it or by a test that runs at the same time")
      }
      // Else it has ended just now.
      return
    }
    // They may end, and what waits for them: a test that blocks a thread of the pool may itself be what they wait for.
    if left.contains(where: \.isQueued), !left.contains(where: \.isRunning) {
      let seconds = LeftWorkSearch.patience.components.seconds
      return skip("tasks of it have waited \(seconds) s for their turn: other tests keep all threads busy")
    }
    fail(search.message(left, directory: Self.directory))
  }
}
