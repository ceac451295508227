import CUndead
import Synchronization
import Testing
import UndeadReport

@testable import Undead

/// Sessions beside each other and beside that of the process: neither knows what another one does.
@Suite(.timeLimit(.minutes(20))) struct DetectionSessionTests {
  private let heap = SyntheticHeap()
  private let first: Observed
  private let second: Observed

  init() {
    first = Observed(heap)
    second = Observed(heap)
  }

  @Test func scopesOfOneAreUnknownToTheOther() {
    let scope = AllocationScope("first", in: first.session)
    scope.run {
      #expect(first.session.scopes.isAnyRunning)
      #expect(!second.session.scopes.isAnyRunning)
      #expect(first.session.scopes.mark != 0 && second.session.scopes.mark == 0)
      // It runs in the other one's body, and is the only one all the same.
      let other = AllocationScope("second", in: second.session)
      other.run { #expect(second.session.scopes.mark == other.number | UInt32(UNDEAD_SCOPE_SOLE)) }
    }
    scope.exclude()
    #expect(first.session.scopes.relations.isExcluded(scope.number))
    #expect(!second.session.scopes.relations.isExcluded(scope.number))
  }

  @Test func aLeakIsReportedOnceInEachSession() throws {
    let scope = AllocationScope("first", in: first.session)
    heap.leak("App.Cart")
    #expect(try scope.check().leaks.map { $0.objects.map(\.type) } == [["App.Cart"]])
    #expect(try scope.check().leaks.isEmpty)
    #expect(!first.session.reported.contains(0x2000) && first.session.reported.contains(0x1000))
    #expect(!second.session.reported.contains(0x1000))
  }

  /// The assertions as test libraries make them, down to what the site gets.
  @Test func assertionsTellTheirOwnSite() async {
    let (site, other) = (TestSite(first), TestSite(second))
    site.assertNoLeaks { heap.leak("App.Cart") }
    #expect(first.told.map(\.outcome) == [.failure])
    #expect(first.told.first?.text.contains("App.Cart") == true)
    await site.assertNoLeaks {
      await Task.yield()
      heap.leak("App.Model")
    }
    site.assertNoLeaks {}
    site.expectLeak("on purpose") { heap.leak("App.Known") }
    #expect(first.told.map(\.outcome) == [.failure, .failure])
    other.expectLeak("on purpose") {}
    #expect(second.told.map(\.text) == ["nothing leaked, but a leak was expected: on purpose"])
  }

  @Test func trackedObjectsAreNotScannedForWhenTheyAreGone() {
    let gone = TrackedObject(Held())
    #expect(TrackedObject.check([gone], name: "test", in: first.session).survivors.isEmpty)
    #expect(heap.looks == 0)
    let held = Held()
    let objects = [gone, TrackedObject(held)]
    let result = TrackedObject.check(objects, name: "test", grace: .milliseconds(1), in: first.session)
    #expect(result.survivors.map(\.index) == [1])
    #expect(heap.looks == 1)
    withExtendedLifetime(held) {}
  }

  @Test func trackedObjectsAreNotScannedForWhenTheyAreGoneInATask() async {
    let gone = TrackedObject(Held())
    #expect(await TrackedObject.check([gone], name: "test", in: first.session).survivors.isEmpty)
    #expect(heap.looks == 0)
    let held = Held()
    let objects = [gone, TrackedObject(held)]
    let result = await TrackedObject.check(objects, name: "test", grace: .milliseconds(1), in: first.session)
    #expect(result.survivors.map(\.index) == [1])
    #expect(heap.looks == 1)
    withExtendedLifetime(held) {}
  }

  @Test func theInnermostAssertionReports() {
    let (outer, inner) = (TestSite(first), TestSite(first, place: "here:2"))
    outer.assertNoLeaks { inner.assertNoLeaks { heap.leak("App.Cart") } }
    #expect(first.told.map(\.place) == ["here:2"])
  }

  @Test func rulesAndSuppressionsOfTheSession() throws {
    var options = ReportOptions()
    try options.suppressions.add("type:App.Cache", file: "rules", tellsUnused: false)
    let strict = Observed(heap)
    let lenient = Observed(heap, options)
    TestSite(lenient).assertNoLeaks { heap.leak("App.Cache") }
    TestSite(lenient).assertNoLeaks(ignoring: ["type:App.Cart"]) { heap.leak("App.Cart") }
    #expect(lenient.told.isEmpty)
    TestSite(strict).assertNoLeaks { heap.leak("App.Cache") }
    #expect(strict.told.map(\.outcome) == [.failure])
    // What lies outside of all tests is left out at the end, too.
    heap.leak("App.Cache", stray: true)
    #expect(lenient.session.end.check(0, in: lenient.session))
    #expect(lenient.written.isEmpty, "\(lenient.written)")
  }

  @Test func whatIsNotCheckedIsSaidOnceAtEachPlaceOfASession() {
    let site = TestSite(first)
    site.skip("no reason")
    site.skip("no reason")
    TestSite(first, place: "there:2").skip("no reason")
    TestSite(second).skip("no reason")
    #expect(first.told.map(\.outcome) == [.note, .note] && second.told.map(\.outcome) == [.note])
    #expect(second.told.map(\.text) == ["not checked for leaks: no reason"])
  }

  @Test func whereChecksAreRequiredWhatIsNotCheckedFails() {
    let required = Observed(heap, isRequired: true)
    TestSite(required).skip("no reason")
    TestSite(required).skip("no reason")
    #expect(required.told.map(\.outcome) == [.failure, .failure])
  }

  // MARK: The end

  @Test func theEndLeavesOutWhatAssertionsOfItsSessionReported() {
    TestSite(first).assertNoLeaks { heap.leak("App.Cart") }
    #expect(first.session.end.check(0, in: first.session))
    #expect(first.written.isEmpty, "\(first.written)")
    #expect(second.session.end.check(0, in: second.session))
    #expect(second.written.contains("no single test") && second.written.contains("App.Cart"), "\(second.written)")
    // Now both have told of it.
    second.forget()
    #expect(second.session.end.check(0, in: second.session))
    #expect(second.written.isEmpty, "\(second.written)")
  }

  /// A test whose check missed a leak is at fault, and its session fails.
  @Test func theEndTellsWhatAScopeLeftBehindAndFailsItsSessionAlone() {
    let scope = AllocationScope("cart", in: first.session)
    first.session.end.expect(scope, at: "CartTests.swift:7", test: "cart", options: ReportOptions())
    heap.leak("App.Cart")
    heap.assign(to: scope.number)
    heap.leak("App.Stray", stray: true)
    #expect(!first.session.end.check(0, in: first.session))
    #expect(first.written.contains("CartTests.swift:7: error: cart: leak: "), "\(first.written)")
    #expect(first.written.contains("found when the process ended"), "\(first.written)")
    #expect(first.written.contains("no single test") && first.written.contains("App.Stray"), "\(first.written)")
    #expect(first.session.end.hasFailed && !second.session.end.hasFailed)
    #expect(second.session.end.check(0, in: second.session))
  }

  @Test func theEndLeavesOutExcludedScopes() {
    let scope = AllocationScope("cart", in: first.session)
    first.session.end.expect(scope, at: "CartTests.swift:7", test: "cart", options: ReportOptions())
    scope.exclude()
    heap.leak("App.Cart")
    heap.assign(to: scope.number)
    #expect(first.session.end.check(0, in: first.session))
    #expect(first.written.isEmpty, "\(first.written)")
  }

  @Test func anEndInATestIsNotChecked() {
    heap.leak("App.Cart", stray: true)
    AllocationScope("cart", in: first.session).run {
      #expect(first.session.end.check(3, in: first.session))
      #expect(second.session.end.check(nil, in: second.session))
    }
    #expect(first.written == "undead: exit(3) was called while a test ran: its end is not checked for leaks\n")
    #expect(second.written.contains("App.Cart"), "\(second.written)")
    #expect(heap.looks == 1)
  }

  @Test func trackedObjectsThatAreAliveFailTheEnd() {
    let held = Held()
    first.session.end.track(
      TrackedObject(held), at: "CartTests.swift:9", test: "cart", grace: .zero, isInTest: { false })
    second.session.end.track(
      TrackedObject(Held()), at: "CartTests.swift:9", test: "cart", grace: .zero, isInTest: { false })
    #expect(!first.session.end.check(0, in: first.session))
    #expect(first.written.contains("CartTests.swift:9: error: cart: "), "\(first.written)")
    #expect(first.written.contains("Held outlives its scope"), "\(first.written)")
    #expect(second.session.end.check(0, in: second.session))
    withExtendedLifetime(held) {}
  }

  @Test func aLastSearchThatFailsIsTold() {
    let required = Observed(heap, isRequired: true)
    heap.fail(UndeadError("no memory"))
    let text =
      "undead: the last search, for leaks that the checks of the tests did not see, could not be made: no memory\n"
    #expect(first.session.end.check(0, in: first.session))
    #expect(!required.session.end.check(0, in: required.session))
    #expect(first.written == text && required.written == text)
  }

  // MARK: What the instrument knows

  /// There is one instrument: it asks and informs the session of the process.
  @Test func onlyTheSessionOfTheProcessTellsTheInstrument() async {
    await #expect(processExitsWith: .success) {
      let session = DetectionSession()
      for session in [session, .process] {
        let scope = OwnerScope("of \(session === DetectionSession.process ? "the process" : "a test")", in: session)
        scope.close()
        scope.adopt(Held())
      }
      let messages = try LeakDetector.checkForLeaks().diagnostics.filter { $0.kind == "adoptedAfterClose" }.map(
        \.message)
      #expect(messages.count == 1 && messages.allSatisfy { $0.contains("of the process") }, "\(messages)")
      #expect(ZombieCollector(in: session).obstacleOfRun == "only the session of the process reports zombies")
      #expect(ZombieCollector().obstacleOfRun == nil)
    }
  }

  private final class Held: Sendable {}
}

extension ZombieCollector {
  /// Why it can see nothing while it runs.
  fileprivate var obstacleOfRun: String? { run { obstacle } }
}

/// A session beside that of the process, with what it said.
private final class Observed: Sendable {
  struct Message: Sendable {
    var place: String
    var outcome: AssertionOutcome
    var text: String
  }

  private final class Log: Sendable {
    let text = Mutex("")
  }

  let session: DetectionSession
  private let log = Log()
  private let messages = Mutex<[Message]>([])

  init(_ heap: SyntheticHeap, _ options: ReportOptions = ReportOptions(), isRequired: Bool = false) {
    session = DetectionSession(
      instrument: heap.instrument,
      environment: SessionEnvironment(isRequired: isRequired, suppressions: { options }) { [log] text in
        log.text.withLock { $0 += text }
      })
  }

  /// What went where standard error is for the process.
  var written: String { log.text.withLock { $0 } }
  var told: [Message] { messages.withLock { $0 } }

  func forget() { log.text.withLock { $0 = "" } }
  func tell(_ message: Message) { messages.withLock { $0.append(message) } }
}

private struct TestSite: AssertionSite {
  private let observed: Observed
  let place: String

  init(_ observed: Observed, place: String = "here:1") {
    self.observed = observed
    self.place = place
  }

  var session: DetectionSession { observed.session }

  func record(_ outcome: AssertionOutcome, _ text: String) {
    observed.tell(Observed.Message(place: place, outcome: outcome, text: text))
  }
}
