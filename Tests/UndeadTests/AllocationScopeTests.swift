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

  @Test func trackedObjectsAreNotScannedForWhenTheyAreGone() async {
    await #expect(processExitsWith: .success) {
      let gone = TrackedObject(Node())
      #expect(TrackedObject.check([gone], name: "test").survivors.isEmpty)
      let held = Node()
      let result = TrackedObject.check([TrackedObject(held)], name: "test", grace: .milliseconds(1))
      #expect(result.survivors.map(\.index) == [0])
      withExtendedLifetime(held) {}
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

  @Test func growthAndCounts() async {
    await #expect(processExitsWith: .success) {
      let nothing = try HeapGrowth.measure { _ = Node() }.get()
      #expect(nothing.isEmpty)
      let growth = try HeapGrowth.measure { Kept.shared.nodes.append(Node()) }.get()
      let node = try #require(growth.first { $0.type.hasSuffix("Node") })
      #expect(node.counts.count == 6)
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

private let sharedObserver = Observer()

@inline(never) @_optimize(none)
private func leakACycle() {
  let first = Node()
  let second = Node()
  first.next = second
  second.next = first
}
