import Foundation
import Testing
import UndeadHeap
import UndeadHeapReport
import UndeadReport
import UndeadTestSupport

/// Where the memory of real programs is, by the look at a process that was not recorded; malloc itself says what is true.
@Suite struct VerdictTests {
  private static let forms = [
    "leak cycles", "leak raw", "leak dropped", "retained objects", "retained buffers", "retained threads",
    "pinned objects", "pinned strings", "pinned buffers", "pinned threads", "nothing table", "nothing large",
  ]

  private enum Build: CaseIterable { case optimised }

  /// Seconds between looks for something to have happened: few looks where the machine is busy, which each make it busier.
  private static let pauses = "0.1 0.2 0.4 0.8 1.5 3 6 12 25 50"

  private static let programs = AttachedProgram.folders(of: Build.self) { _ in
    "swiftc -O -module-name App \(quoted(AttachedProgram.sources))/Verdicts/main.swift -o app"
  }

  private func run(_ script: String) async throws -> (outcome: Outcome, directory: TemporaryDirectory) {
    let words = """
      # What never comes is no reason to wait and go on.
      wait_until() { for pause in \(Self.pauses); do sleep $pause; "$@" && return; done; echo "never: $*" >&2; exit 94; }
      """
    return try await AttachedProgram.run(Self.programs[.optimised]!, tool: Tool.path, words: words, script)
  }

  @Test func theKindAndWhatTrimGivesBack() async throws {
    let (outcome, directory) = try await run(
      """
      for form in \(Self.forms.map { quoted($0) }.joined(separator: " ")); do
        rm -f in; start ./app $form
        $tool heap $program --format json -o "$form.json" || exit 92
        echo "$form $(ask trim)"; kill -9 $program; wait $program 2> /dev/null; exec 7>&-
      done; true
      """)
    try #require(outcome.ending == .exit(0), "\(outcome.errors)")
    let answers = outcome.output.split(separator: "\n").map { $0.split(separator: " ") }
    #expect(answers.count == Self.forms.count)
    for answer in answers {
      let form = answer.dropLast().joined(separator: " ")
      let given = try #require(answer.last.flatMap { Int($0) })
      let report = try JSONDecoder().decode(HeapReport.self, from: Data(directory.contents("\(form).json").utf8))
      let verdict = try #require(report.verdict)
      #expect(verdict.kind.rawValue == answer[0], "\(form): \(verdict.sentence)")
      let difference = abs(verdict.trimmableBytes! - given)
      #expect(difference <= max(2 << 20, given / 20), "\(form): \(verdict.trimmableBytes!) foretold, \(given) given")
      #expect(report.memory.reduce(0) { $0 + $1.residentBytes } == report.summary.residentBytes)
      if form == "leak raw" { #expect(verdict.advice.contains("'undead run'"), "\(verdict.advice)") }
      if form == "leak dropped" {
        #expect(report.findings.contains { $0.kind == .lostMemory && $0.advice.contains("resume each continuation") })
      }
      guard verdict.kind == .pinned else { continue }
      let explained = verdict.pinnedBy.reduce(0) { $0 + $1.pinnedBytes }
      #expect(explained >= verdict.pinnedBytes! * 9 / 10, "\(form): \(verdict.pinnedBy)")
    }
  }

  @Test func whatGrowsBetweenTwoMoments() async throws {
    let (outcome, directory) = try await run(
      """
      for form in 'growth table' 'growth mapped' 'leak cycles'; do
        # Both heaps are read, and of each leak it is asked whether it was there before: fewer than where one heap is.
        rm -f in; start ./app $form 20000
        $tool heap $program --save old.undead > /dev/null || exit 92
        ask more > /dev/null
        $tool heap $program --save new.undead > /dev/null || exit 93
        $tool diff old.undead new.undead --format json -o "$form.json"; kill -9 $program; wait $program 2> /dev/null; exec 7>&-
      done; true
      """)
    try #require(outcome.ending == .exit(0), "\(outcome.errors)")
    for kind in ["growth table", "growth mapped", "leak cycles"] {
      let diff = try JSONDecoder().decode(HeapDiff.self, from: Data(directory.contents("\(kind).json").utf8))
      let verdict = try #require(diff.verdict)
      #expect(kind.hasPrefix("\(verdict.kind.rawValue) "), "\(kind): \(verdict.sentence)")
    }
  }

  /// Tasks that wait in a stream or sleep, whose closures captured objects weakly: 80 of those are gone, 20 live. And ten that know two, one of which lives.
  @Test func tasksWhoseOwnersAreGone() async throws {
    let (outcome, directory) = try await run(
      """
      all_wait() {
        $tool heap $program > text
        grep -q '(50 \u{D7} App.Model' text && grep -q '(30 \u{D7} App.Model' text
      }
      start ./app tasks owners; wait_until all_wait
      $tool heap $program --format json -o tasks.json || exit 92
      $tool tasks $program --format json -o groups.json || exit 93
      kill -9 $program; wait $program 2> /dev/null; true
      """)
    try #require(outcome.ending == .exit(0), "\(outcome.errors)")
    let report = try JSONDecoder().decode(HeapReport.self, from: Data(directory.contents("tasks.json").utf8))
    let dead = report.findings.filter { $0.kind == .deadOwner }
    #expect(dead.map(\.objects).sorted() == [30, 50] && dead.allSatisfy { $0.type == "App.Model" }, "\(dead)")
    // Other suspects are not looked for there.
    let tasks = try JSONDecoder().decode(TaskReport.self, from: Data(directory.contents("groups.json").utf8))
    #expect(tasks.summary.ownerGone == 80, "\(tasks.groups)")
  }

  /// Twenty tasks in each state; and the runtime's own, one for each sleep.
  @Test func whatTasksDo() async throws {
    let (outcome, directory) = try await run(
      """
      all_wait() {
        $tool tasks $program -f json -o tasks.json || exit 92
        [ "$(tr -d ' \n' < tasks.json | grep -o '"count":20,' | wc -l)" -eq 7 ]
      }
      sleeps_have_ended() {
        $tool tasks $program -f json -o tasks.json || exit 92
        tr -d ' \n' < tasks.json | grep -q '"cancelledSleeps":20,'
      }
      start ./app tasks states; wait_until all_wait
      kill -USR1 $program; wait_until sleeps_have_ended
      kill -9 $program; wait $program 2> /dev/null; true
      """)
    try #require(outcome.ending == .exit(0), "\(outcome.errors)")
    let report = try JSONDecoder().decode(TaskReport.self, from: Data(directory.contents("tasks.json").utf8))
    var counts: [TaskState: Int] = [:]
    for group in report.groups
    where (group.waitsIn != nil || group.state == .finished) && group.role == nil && group.names.isEmpty {
      counts[group.state, default: 0] += group.count
    }
    // The main task, and the one that holds the actor.
    counts[.running] = nil
    #expect(
      counts == [.continuation: 20, .sleep: 20, .task: 20, .stream: 20, .finished: 20, .actor: 20], "\(report.groups)")
    #expect(report.groups.allSatisfy { !$0.ownerGone && ($0.resumedBy != nil || $0.state == .running) })
    // Two groups of two children, one of which waits for two tasks of `async let`; their parents have names.
    let inGroup = try #require(report.groups.first { $0.role == .groupChild })
    let parents = try #require(inGroup.parent.map { report.groups[$0] })
    #expect(inGroup.count == 4 && parents.names == ["parents"] && parents.count == 2, "\(report.groups)")
    let inLet = report.groups.filter { $0.role == .asyncLet }
    #expect(inLet.reduce(0) { $0 + $1.count } == 8, "\(report.groups)")
    #expect(inLet.allSatisfy { $0.parent == report.groups.firstIndex(of: inGroup) }, "\(report.groups)")
    let sleeping = try #require(report.groups.first { $0.state == .sleep && $0.waitsIn != nil })
    let wakes = try #require(sleeping.wakesInSeconds)
    #expect(wakes[0] > 3000 && wakes[1] <= 3600, "\(wakes)")
    #expect(sleeping.resumedBy?.first?.root?.name == "timer of Task.sleep", "\(sleeping)")
    // Each sleep has one of the runtime's own, also those that were cancelled.
    let own = report.groups.filter { $0.state == .sleep && $0.waitsIn == nil }
    #expect(own.reduce(0) { $0 + $1.count } == 40 && own.compactMap(\.cancelledSleeps) == [20], "\(own)")
    #expect(try #require(own.first?.wakesInSeconds?.last) > 3600, "\(own)")
    #expect(report.groups.first { $0.state == .actor }?.actor == "App.Gate")
    #expect(report.summary.neverResumed == 0 && report.summary.onlyCancelled == 0 && report.summary.cancelled == 0)
    let waiting = try #require(report.groups.first { $0.state == .continuation && $0.waitsIn != nil })
    #expect(waiting.waitsIn?.symbol.contains("waitInAllWays") == true)
    #expect(waiting.resumedBy?.first?.root?.name == "App.continuations", "\(waiting)")
  }

  /// A sleep of an `async let` lies in its parent's memory, and what a source has on a descriptor or signal begins with links.
  @Test func whatTimersAndSourcesOfLibdispatchResume() async throws {
    let (outcome, directory) = try await run(
      """
      all_wait() {
        $tool tasks $program -f json -o tasks.json || exit 92
        [ "$(tr -d ' \n' < tasks.json | grep -oE '"state":"(sleep|continuation|stream)"' | wc -l)" -ge 6 ]
      }
      start ./app tasks libdispatch; wait_until all_wait
      kill -9 $program; wait $program 2> /dev/null; true
      """)
    try #require(outcome.ending == .exit(0), "\(outcome.errors)")
    let report = try JSONDecoder().decode(TaskReport.self, from: Data(directory.contents("tasks.json").utf8))
    let sleeps = report.groups.filter { $0.role == .asyncLet && $0.state == .sleep }
    #expect(sleeps.map(\.count) == [5, 5] && sleeps.allSatisfy { $0.wakesInSeconds != nil }, "\(report.groups)")
    #expect(!report.groups.contains { $0.cancelledSleeps != nil }, "\(report.groups)")
    let tolerant = try #require(report.groups.first { $0.role == nil && $0.state == .sleep && $0.waitsIn != nil })
    #expect(tolerant.count == 5 && tolerant.resumedBy?.first?.root?.name == "timer of Task.sleep", "\(tolerant)")
    let resumed = report.groups.filter { $0.state == .continuation || $0.state == .stream }
    #expect(resumed.map(\.count) == [5, 5], "\(report.groups)")
    for group in resumed {
      let path = try #require(group.resumedBy)
      let source = path.first { $0.type == "dispatch source refs" }
      #expect(source?.field == "event handler" && source?.closure != nil, "\(path)")
    }
  }

  /// Threads of the pool are no actor, and tasks that have not begun are no sleeps.
  @Test func tasksThatWaitForAThread() async throws {
    let (outcome, directory) = try await run(
      """
      start ./app tasks queued
      $tool tasks $program -f json -o tasks.json || exit 92
      kill -9 $program; wait $program 2> /dev/null; true
      """)
    try #require(outcome.ending == .exit(0), "\(outcome.errors)")
    let report = try JSONDecoder().decode(TaskReport.self, from: Data(directory.contents("tasks.json").utf8))
    #expect(report.groups.filter { $0.state == .queued }.map(\.count).contains(20), "\(report.groups)")
    #expect(!report.groups.contains { $0.state == .actor || $0.state == .sleep }, "\(report.groups)")
  }
}
