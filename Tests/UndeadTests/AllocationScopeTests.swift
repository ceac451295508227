import CUndead
import Foundation
import Testing
import UndeadReport

@testable import Undead

/// Which leaks belong to which scope: each test in a process of its own, since scopes run beside each other otherwise.
@Suite(.timeLimit(.minutes(20))) struct AllocationScopeTests {
  @Test func findsEachLeakOfItsBodyOnce() async {
    await #expect(processExitsWith: .success) {
      leakACycle()
      for number in 0..<20 {
        let scope = AllocationScope("body \(number)")
        scope.run { leakACycle() }
        let report = try scope.check()
        #expect(report.leaks.map(\.count) == [1])
        let again = try scope.check()
        #expect(again.leaks.isEmpty)
      }
    }
  }

  @Test func threadsAndDetachedTasksOfAScopeThatRunsAlone() async {
    await #expect(processExitsWith: .success) {
      let scope = AllocationScope("alone")
      await scope.run { await Task.detached { leakACycle() }.value }
      let report = try await scope.check()
      #expect(report.leaks.map(\.count) == [1])
    }
  }

  @Test func innerScopesKeepTheirOwn() async {
    await #expect(processExitsWith: .success) {
      let outer = AllocationScope("outer")
      let inner: LeakReport = try outer.run { () throws -> LeakReport in
        let scope = AllocationScope("inner")
        scope.run { leakACycle() }
        return try scope.check()
      }
      #expect(inner.leaks.count == 1)
      let report = try outer.check()
      #expect(report.leaks.isEmpty)
    }
  }

  @Test func bodiesThatThrow() async {
    await #expect(processExitsWith: .success) {
      let scope = AllocationScope("throwing")
      do {
        try scope.run { () throws(UndeadError) -> Void in
          leakACycle()
          throw UndeadError("on purpose")
        }
        Issue.record("the error of the body did not arrive")
      } catch {
        #expect(error is UndeadError)
      }
      let report = try scope.check()
      #expect(report.leaks.count == 1)
    }
  }

  /// A weak reference of an object that lives holds nothing, however often its scope was looked at before.
  @Test func whatOnlyWeakReferencesNameHasLeaked() async {
    await #expect(processExitsWith: .success) {
      let observer = Observer()
      for number in 0..<6 {
        let scope = AllocationScope("weak \(number)")
        scope.run { (number % 2 == 0 ? observer : sharedObserver).leakWhatIsSeen() }
        let report = try scope.check()
        #expect(report.leaks.map(\.count) == [1])
      }
      withExtendedLifetime(observer) {}
    }
  }

  /// What a look names of one leak, such as the elements of its arrays, keeps none from being found by the next one.
  @Test func aLookAtAllLeaksHidesNoneFromTheNextLook() async {
    await #expect(processExitsWith: .success) {
      let scopes = (0..<6).map { AllocationScope("list \($0)") }
      for scope in scopes { scope.run { leakAList() } }
      for scope in [3, 2, 4, 1, 5, 0].map({ scopes[$0] }) {
        let report = try await scope.check()
        #expect(report.leaks.map(\.count) == [1])
      }
    }
  }

  /// The first scope looks at the whole process, each one at the stack, also far below.
  @Test func newBlocksKeepAwayFromStaleReferences() async {
    await #expect(processExitsWith: .success) {
      let fromGlobal = isUsedAgain { staleWord = $0 }
      staleWord = 0
      var unused: UInt = 0
      let fromStack = withUnsafeMutablePointer(to: &unused) { unused in isUsedAgain { unused.pointee = $0 } }
      let fromFarBelow = isUsedAgain(leaveFarBelow)
      #expect(!fromGlobal)
      #expect(!fromStack)
      #expect(!fromFarBelow)
    }
    // Else it would be no question.
    await #expect(processExitsWith: .success) { precondition(isUsedAgain { _ in }) }
  }

  /// A test that leaves nothing behind needs no look: neither memory of tasks nor what checks keep for themselves counts.
  @Test func cleanScopesNeedNoLook() async {
    await #expect(processExitsWith: .success) {
      var looks = 0
      // In the first one the runtime makes tables of the types that it meets. Each one needs more memory of the task than those
      // before it, which the task keeps.
      for number in 0...100 {
        let mark = undead_scope_mark()
        let scope = AllocationScope.outsideOfAll { AllocationScope("clean \(number)") }
        DetectionSession.process.end.expect(scope, at: "here", test: "clean", options: ReportOptions())
        let reached = await scope.run { await depth(50 + number * 10) }
        looks += undead_scope_has_survivors(scope.number, mark) && number > 0 ? 1 : 0
        precondition(reached == 50 + number * 10)
      }
      #expect(looks == 0)
    }
  }

  /// What was born in no scope may be of those that ran then, and is of none that began later.
  @Test func whatIsBornBesideScopesIsNoneOfLaterOnes() async {
    await #expect(processExitsWith: .success) {
      let scopes = (0..<4).map { AllocationScope("side by side \($0)") }
      let mark = undead_scope_mark()
      // The second one has ended when the object is born.
      DetectionSession.process.scopes.enter(scopes[0].number)
      DetectionSession.process.scopes.enter(scopes[1].number)
      DetectionSession.process.scopes.enter(scopes[2].number)
      DetectionSession.process.scopes.leave(scopes[1].number)
      OwnThread.run { Kept.shared.nodes.append(Node()) }
      DetectionSession.process.scopes.enter(scopes[3].number)
      let first = undead_scope_has_survivors(scopes[0].number, mark)
      let third = undead_scope_has_survivors(scopes[2].number, mark)
      let fourth = undead_scope_has_survivors(scopes[3].number, mark)
      for scope in [0, 2, 3] { DetectionSession.process.scopes.leave(scopes[scope].number) }
      #expect([first, third, fourth] == [true, true, false])
    }
  }

  /// A scope that began later than one in it, or that runs in parts, sees what is born beside it.
  @Test func whatIsBornBesideScopesOfAnyOrderIsSeen() async {
    await #expect(processExitsWith: .success) {
      // What this thread allocates for the test itself belongs to no scope: else there were always something to be seen.
      AllocationScope.outsideOfAll {
        for order in [[1, 0], [0, 1], [2, 0], [1, 2, 0]] {
          let mark = undead_scope_mark()
          let scopes = (0..<3).map { AllocationScope("order \($0)") }
          scopes[0].nest(in: scopes[1])
          for scope in order { DetectionSession.process.scopes.enter(scopes[scope].number) }
          let early = order.filter { undead_scope_has_survivors(scopes[$0].number, mark) }
          OwnThread.run { Kept.shared.nodes = [Node()] }
          let seen = order.filter { undead_scope_has_survivors(scopes[$0].number, mark) }
          for scope in order { DetectionSession.process.scopes.leave(scopes[scope].number) }
          #expect(early.isEmpty)
          #expect(seen == order)
          Kept.shared.nodes = []
        }
      }
    }
  }

  /// Memory of tasks is no reason to look, but the task that it belongs to is.
  @Test func tasksThatCanNeverGoOnAreFound() async {
    await #expect(processExitsWith: .success) {
      for number in 0..<5 {
        let scope = AllocationScope("task \(number)")
        await scope.run { await startAHangingTask() }
        let report = try await scope.check()
        #expect(report.leaks.contains { $0.objects.contains { $0.type.contains("Node") } || !$0.alsoLeaked.isEmpty })
      }
    }
  }

  /// What a detached task leaks that was made beside scopes, and works for a later one that runs alone, is that one's.
  @Test func olderDetachedTasksWorkForTheScopeThatRunsAlone() async {
    await #expect(processExitsWith: .success) {
      let (requests, request) = AsyncStream<Void>.makeStream()
      let (answers, answer) = AsyncStream<Void>.makeStream()
      let beside = (0..<2).map { AllocationScope("beside \($0)") }
      for scope in beside { DetectionSession.process.scopes.enter(scope.number) }
      OwnThread.start {
        Task.detached {
          var number = 0
          for await _ in requests {
            if number > 0 { leakACycle() }
            number += 1
            answer.yield()
          }
        }
      }
      // The task is there when it answers.
      request.yield()
      for await _ in answers { break }
      for scope in beside { DetectionSession.process.scopes.leave(scope.number) }
      let scope = AllocationScope("alone")
      await scope.run {
        request.yield()
        for await _ in answers { break }
      }
      let report = try await scope.check()
      #expect(report.leaks.map(\.count) == [1])
    }
  }

  @Test func growthAndCounts() async {
    await #expect(processExitsWith: .success) {
      let nothing = try HeapGrowth.measure { _ = Node() }.get()
      #expect(nothing.isEmpty)
      let growth = try HeapGrowth.measure { Kept.shared.nodes.append(Node()) }.get()
      let node = try #require(growth.first { $0.type.hasSuffix("Node") })
      #expect(node.counts.count == 6)
      #expect(node.message(directory: "").contains("\n  in         `nodes` of "), "\(node.message(directory: ""))")
      #expect(zip(node.counts, node.counts.dropFirst()).allSatisfy { $0 < $1 })
      let live = try LiveObjects.count(of: Node.self, atMost: 1)
      #expect(live.count == Kept.shared.nodes.count)
      #expect(!live.examples.isEmpty)
    }
  }
}

private final class Node {
  var next: Node?
}

private final class List {
  var elements: [List] = []
}

nonisolated(unsafe) private var staleWord: UInt = 0

/// Whether a block that was freed before a scope opened is one of the scope's.
private func isUsedAgain(_ leave: (UInt) -> Void) -> Bool {
  let complement = addressOfFreed(leave)
  undead_clear_stack()
  let scope = AllocationScope("scope")
  return withExtendedLifetime(scope) { addressOfFreed { _ in } == complement }
}

/// The complement of the address of a block, which is free again.
@inline(never) @_optimize(none) private func addressOfFreed(_ leave: (UInt) -> Void) -> UInt {
  let block = malloc(1000)
  leave(UInt(bitPattern: block))
  free(block)
  return ~UInt(bitPattern: block)
}

/// Leaves a word some 32 KiB below the caller's frame.
private func leaveFarBelow(_ word: UInt) {
  var word = ~word
  undead_call_deeper(
    { undead_call_deeper({ $0.map { leave(~$0.load(as: UInt.self)) } }, $0) }, &word)
}

@inline(never) @_optimize(none) private func leave(_ word: UInt) {
  var words = (word, word)
  withUnsafePointer(to: &words) { _ in }
}

@inline(never) @_optimize(none) private func leakAList() {
  let list = List()
  for _ in 0..<3 { list.elements.append(List()) }
  list.elements[0].elements.append(list)
}

private final class Kept: @unchecked Sendable {
  static let shared = Kept()
  var nodes: [Node] = []
}

private final class Observer: Sendable {
  nonisolated(unsafe) private weak var seen: Node?

  @inline(never) @_optimize(none)
  func leakWhatIsSeen() {
    let first = Node()
    first.next = Node()
    first.next?.next = first
    seen = first
  }
}

/// Has frames in more memory than its task came with.
private func depth(_ calls: Int) async -> Int {
  if calls == 0 { return 0 }
  await Task.yield()
  return await depth(calls - 1) + 1
}

/// A task that holds a node and waits for what nobody knows.
private func startAHangingTask() async {
  let (hangs, isHanging) = AsyncStream<Void>.makeStream()
  Task.detached {
    let node = Node()
    isHanging.yield()
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    withExtendedLifetime(node) {}
  }
  for await _ in hangs { break }
}

private let sharedObserver = Observer()

@inline(never) @_optimize(none)
private func leakACycle() {
  let first = Node()
  let second = Node()
  first.next = second
  second.next = first
}
