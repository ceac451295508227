import Cart
import Foundation
import Testing
import Undead
import UndeadMetrics
import UndeadReport
import UndeadRunLoop
import UndeadRunLoopTesting
import UndeadService
import UndeadTesting

/// Checks that cannot be made neither fail nor keep their bodies from running.
@Suite struct UncheckedTests {
  @Test(.noLeaks) func aTestWithTheTraitRuns() {
    #expect(Cart.leaked() == 7)
  }

  @Test(.noLeaks, .noZombies, arguments: 1...3) func soDoesEachCase(number: Int) async {
    await Task.yield()
    #expect(Cart.leaked() == 7)
  }

  @Test func bodiesRunAndReturn() async throws {
    #expect(assertNoLeaks { Cart.leaked() } == 7)
    #expect(await assertNoLeaks { () async in Cart.leaked() } == 7)
    #expect(expectLeak("known") { Cart.leaked() } == 7)
    #expect(assertNoZombies { 5 } == 5)
    var runs = 0
    assertNoHeapGrowth(iterations: 3, warmUp: 1) { runs += 1 }
    #expect(runs == 1)
    assertLiveObjects(of: Cart.self, atMost: 0)
    #expect(throws: CancellationError.self) { try assertNoLeaks { throw CancellationError() } }
  }

  @Test func whoAsksIsToldWhy() async throws {
    #expect(!LeakDetector.isActive)
    #expect(LeakDetector.inactiveReason?.contains("leaks") == true)
    #expect(throws: UndeadError.self) { try LeakDetector.start() }
    #expect(throws: UndeadError.self) { try LeakDetector.checkForLeaks() }
    #expect(throws: UndeadError.self) { try ZombieSniffer.start() }
    #expect(LeakDetector.markGeneration("request") == nil)
    let request = try #require(UndeadDebugService.Request(target: "/debug/undead/report"))
    #expect(await UndeadDebugService().respond(to: request).status == 503)
    #expect(throws: UndeadServiceError.self) { try UndeadDebugService.start(socket: "/tmp/none") }
  }

  @Test func reportsAreReadAndWritten() throws {
    let json = try JSONRenderer.render(LeakReport(analyzing: []))
    #expect(try JSONRenderer.parse(json).leaks.isEmpty)
  }
}

/// Weak references say everywhere whether an object is gone.
@Suite(.serialized) struct AliveTests {
  nonisolated(unsafe) static var kept: [Cart] = []

  @Test func whatIsGoneIsGone() {
    assertDeallocated { Cart() }
    var cart: Cart? = Cart()
    assertDeallocated(&cart)
    #expect(cart == nil)
  }

  @Test func whatLivesIsAnIssue() async {
    withKnownIssue {
      assertDeallocated(after: .milliseconds(10)) {
        Self.kept.append(Cart())
        return Self.kept.last
      }
    } matching: {
      "\($0)".contains("Cart.Cart") && "\($0)".contains("who holds the objects was not looked for")
    }
    await withKnownIssue {
      await assertDeallocated(after: .milliseconds(10)) { () async in Self.kept.last }
    }
  }

  @Test func itMayTakeAMoment() async {
    await assertDeallocated(after: .seconds(10)) { () async in
      let cart = Cart()
      cart.change = { _ = cart }
      Task {
        try await Task.sleep(for: .milliseconds(20))
        cart.change = nil
      }
      return cart
    }
  }

  @Test(.noLeaks) func aTrackedObjectThatGoesIsFine() {
    trackForMemoryLeaks(Cart())
  }

  @Test(.noLeaks, .enabled(if: ProcessInfo.processInfo.environment["ELSEWHERE_FAILS"] == "1"))
  func aTrackedObjectThatStaysFails() {
    Self.kept.append(Cart())
    trackForMemoryLeaks(Self.kept.last, grace: .milliseconds(10))
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment["ELSEWHERE_FAILS"] == "1"))
  func alsoAtTheEndOfTheProcess() {
    Self.kept.append(Cart())
    trackForMemoryLeaks(Self.kept.last, grace: .milliseconds(10))
  }

  @Test func scopesKnowWhoOutlivesThem() {
    let scope = OwnerScope("screen")
    scope.adopt(Cart())
    Self.kept.append(scope.adopt(Cart()))
    let outcome = scope.close(grace: .milliseconds(10))
    #expect(outcome.leaks.map(\.kind) == [.abandoned])
    #expect(outcome.leaks.first?.objects.first?.type == "Cart.Cart")
  }
}
