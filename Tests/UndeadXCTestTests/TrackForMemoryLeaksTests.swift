import Testing
import UndeadXCTest
import XCTest

@Suite(.serialized, .timeLimit(.minutes(20))) @MainActor struct TrackForMemoryLeaksTests {
  @Test func aCycleFailsAtTheLineOfTheCall() {
    var line = 0
    let failures = CaseRunner.failures { (test: XCTestCase) in
      let owner = Owner()
      line = #line + 1
      test.trackForMemoryLeaks(owner)
      owner.item = Item()
      owner.item?.owner = owner
    }
    #expect(failures.map(\.line) == [line])
    #expect(failures.first?.text.contains("UndeadXCTestTests.Owner") == true)
  }

  @Test func aReachableObjectFailsWithItsPath() {
    let failures = CaseRunner.failures { (test: XCTestCase) in
      let owner = SendableOwner()
      test.trackForMemoryLeaks(owner, grace: .zero)
      Registry.owners.withLock { $0.append(owner) }
    }
    #expect(failures.count == 1)
    #expect(failures.first?.text.contains("[global]") == true)
  }

  @Test func anObjectFailsOnce() {
    var line = 0
    let failures = CaseRunner.failures { (test: XCTestCase) in
      let owner = Owner()
      line = #line + 1
      test.trackForMemoryLeaks(owner, grace: .zero)
      test.trackForMemoryLeaks(owner, grace: .zero)
      owner.item = Item()
      owner.item?.owner = owner
    }
    #expect(failures.map(\.line) == [line])
  }

  @Test func aSecondObjectOfALeakRefersToTheFirst() {
    var line = 0
    let failures = CaseRunner.failures { (test: XCTestCase) in
      let (owner, item) = (Owner(), Item())
      line = #line + 1
      test.trackForMemoryLeaks(owner, grace: .zero)
      test.trackForMemoryLeaks(item, grace: .zero)
      owner.item = item
      item.owner = owner
    }
    #expect(failures.map(\.line) == [line, line + 1])
    #expect(failures.map { $0.text.contains("the same leak as at") } == [false, true])
    #expect(failures.last?.text.contains("TrackForMemoryLeaksTests.swift:\(line)") == true)
  }

  @Test func anObjectThatDiesIsFine() {
    let failures = CaseRunner.failures { (test: XCTestCase) in
      test.trackForMemoryLeaks(Owner())
      test.trackForMemoryLeaks(nil)
    }
    #expect(failures == [])
  }

  @Test(arguments: [true, false]) func teardownBlocksMayLetGoInAnyOrder(isFirst: Bool) {
    let failures = CaseRunner.failures { (test: XCTestCase) in
      let owner = SendableOwner()
      // Weakly: a thread of XCTest's may hold a block that has run a little longer.
      let letGo = { [weak owner] in Registry.owners.withLock { $0.removeAll { $0 === owner } } }
      Registry.owners.withLock { $0.append(owner) }
      if isFirst { test.addTeardownBlock(letGo) }
      test.trackForMemoryLeaks(owner, grace: .zero)
      if !isFirst { test.addTeardownBlock(letGo) }
    }
    #expect(failures == [])
  }

  final class PropertyCase: XCTestCase {
    var owner: Owner?
    var letsGo = true
    var letsGoLate = false

    override func tearDown() {
      if letsGo { owner = nil }
    }

    override func tearDown() async throws {
      try await Task.sleep(for: .milliseconds(1))
      if letsGoLate { owner = nil }
    }

    func track(isCycle: Bool) {
      let owner = Owner()
      self.owner = owner
      trackForMemoryLeaks(owner, grace: .zero)
      if isCycle {
        owner.item = Item()
        owner.item?.owner = owner
      }
    }
  }

  @Test(arguments: [true, false]) func tearDownMayLetGoOfAProperty(isLate: Bool) {
    let failures = CaseRunner.failures { (test: PropertyCase) in
      (test.letsGo, test.letsGoLate) = (!isLate, isLate)
      test.track(isCycle: false)
    }
    #expect(failures == [])
  }

  @Test func aCycleBehindAPropertyIsFound() {
    let failures = CaseRunner.failures { (test: PropertyCase) in test.track(isCycle: true) }
    #expect(failures.count == 1)
  }

  @Test func whatOnlyThePropertyHoldsIsNotJudged() {
    let failures = CaseRunner.failures { (test: PropertyCase) in
      test.letsGo = false
      test.track(isCycle: false)
    }
    #expect(failures == [])
  }

  @Test func aSkippedCheckFailsNothing() {
    let failures = CaseRunner.failures { (test: PropertyCase) in
      test.track(isCycle: true)
      test.skipLeakChecks("known")
    }
    #expect(failures == [])
  }

  @Test func theRunIsWhatItWas() throws {
    let test = XCTestCase(name: "testBody") { $0.trackForMemoryLeaks(Owner()) }
    _ = CaseRunner.run(test)
    let run = try #require(test.testRun)
    #expect(type(of: run) == XCTestCaseRun.self)
    #expect(run.hasSucceeded)
  }
}
