import Foundation
import Testing
import UndeadHeap
import UndeadReport

@testable import UndeadTool

/// `undead watch` and `undead mark`, on programs that grow and others.
@Suite(.timeLimit(.minutes(20))) struct WatchTests {
  private let sandbox: Sandbox

  /// Works for as many seconds as its argument says, if it is not killed before; with `until-closed` only until its standard input is.
  private static let service = """
    import Glibc
    final class Session {
      let number: Int
      init(_ number: Int) { self.number = number }
    }
    final class Widget {
      let number: Int
      init(_ number: Int) { self.number = number }
    }
    final class Cache { var sessions: [Int: Session] = [:] }
    let cache = Cache()
    var widgets: [Widget] = []
    var requests = 0
    func handle() {
      requests += 1
      if CommandLine.arguments.contains("leaky") { cache.sessions[requests] = Session(requests) }
      // A cache that is emptied now and then.
      widgets.append(Widget(requests))
      if widgets.count >= 100 { widgets.removeAll(keepingCapacity: true) }
    }
    func isClosed() -> Bool {
      var input = pollfd(fd: 0, events: 0, revents: 0)
      return CommandLine.arguments.contains("until-closed") && poll(&input, 1, 0) > 0
    }
    func serve(seconds: Int) {
      let end = time(nil) + seconds
      while time(nil) < end, !isClosed() {
        for _ in 0..<4 { handle() }
        usleep(10000)
      }
    }
    print("pid \\(getpid())")
    fflush(stdout)
    if let seconds = CommandLine.arguments.compactMap({ Int($0) }).first { serve(seconds: seconds) }
    while CommandLine.arguments.contains("listens"), let line = readLine() {
      for number in 0..<(Int(line) ?? 0) { widgets.append(Widget(number)) }
      print("made \\(line)")
      fflush(stdout)
    }
    exit(CommandLine.arguments.contains("fails") ? 3 : 0)
    """

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installRealLibrary()
    try sandbox.compileSwift(Self.service, to: "service", "-g")
  }

  private func watch(_ words: [String], input: Any? = nil) throws -> Sandbox.Child {
    try sandbox.start([sandbox.path("bin/undead"), "watch", "--every", "100ms"] + words, input: input)
  }

  /// Returns when the process has answered so many times more: enough to judge, however long that takes on this machine.
  private func wait(for watch: Sandbox.Child, answers: UInt64 = 50, of pid: Int32) throws {
    let session = try #require(try SessionDirectory.containing(pid))
    let before = try #require(session.state(of: pid)).requestsAnswered
    try #require(watch.wait { (session.state(of: pid)?.requestsAnswered ?? 0) >= before + numericCast(answers) })
  }

  /// Watches a program until enough was seen, and has it end then.
  private func watchUntilJudged(_ options: [String], program: [String]) throws -> Sandbox.Output {
    let input = Pipe()
    let watch = try watch(options + ["--", "./service", "3600", "until-closed"] + program, input: input)
    try wait(for: watch, of: try pid(of: watch))
    try input.fileHandleForWriting.close()
    return watch.finish()
  }

  private func pid(of child: Sandbox.Child) throws -> Int32 {
    try #require(child.wait { child.outputSoFar.contains("pid ") && child.outputSoFar.contains("\n") })
    return try #require(Int32(child.outputSoFar.split(separator: "\n")[0].dropFirst("pid ".count)))
  }

  // MARK: Watch

  @Test func namesWhatGrowsItsContainerAndItsSite() throws {
    let output = try watchUntilJudged(["--fail-on-growth", "Session>100/min"], program: ["leaky"])
    #expect(output.status == 23, "\(output.error)")
    for text in [
      "  App.Session: now ", "held by `.sessions` of `App.Cache`: ", "allocated at App.handle() at ",
      "service.swift:16: ",
      "rule 'Session>100/min' is broken: App.Session", ", 1 of 1 rule broken\n",
    ] { #expect(output.error.contains(text), "\(text): \(output.error)") }
    #expect(!output.error.contains("  App.Widget"))
    #expect(output.out.hasPrefix("pid "))
  }

  @Test func aCacheThatIsEmptiedIsNoGrowth() throws {
    let output = try watchUntilJudged(["--fail-on-growth", "any"], program: [])
    #expect(output.status == 0, "\(output.error)")
    #expect(output.error.hasSuffix("undead: nothing grows, 0 of 1 rule broken\n"), "\(output.error)")
  }

  @Test func aProgramThatEndsByItselfIsToldByItsLastHeap() throws {
    let output = try watchUntilJudged(
      ["--for", "1h", "--heap", sandbox.path("last.heap")], program: ["leaky", "fails"])
    #expect(output.status == 3, "\(output.error)")
    #expect(output.error.contains("held by `.sessions` of `App.Cache`: "), "\(output.error)")
    #expect(output.error.contains("note: the program ended after "), "\(output.error)")
    #expect(try HeapFile(path: sandbox.path("last.heap")).hasGraph)
  }

  /// A script does what it likes around the program.
  @Test func aScriptsProgramIsMeant() throws {
    var (output, report) = (Sandbox.Output(status: 0, out: "", error: ""), [String: Any]())
    // On a busy machine too few counts are taken in the shorter ones.
    for time in ["6s", "24s", "96s"] where report["judged"] as? Bool != true {
      output = try watch(["--for", time, "--format", "json", "--", "bash", "-c", "./service 600 leaky; echo after"])
        .finish()
      #expect(output.status == 0, "\(output.error)")
      report = try #require(
        try JSONSerialization.jsonObject(with: Data(output.error.utf8)) as? [String: Any], "\(output.error)")
    }
    #expect(report["kind"] as? String == "watch" && report["judged"] as? Bool == true)
    let types = try #require(report["types"] as? [[String: Any]])
    #expect(types.first?["type"] as? String == "App.Session")
    let container = (types.first?["containers"] as? [[String: Any]])?.first
    #expect(container?["name"] as? String == "`.sessions` of `App.Cache`")
    #expect((types.first?["countPerHour"] as? [String: Any])?["grows"] as? Bool == true)
    // The program was ended, too.
    let pid = try #require(Int32(output.out.split(separator: "\n")[0].dropFirst("pid ".count)))
    #expect(!ProcessFacts.isRunning(pid))
  }

  @Test func tooLittleIsNoVerdict() throws {
    let unjudged = try watch(["--for", "500ms", "--", "./service", "60"]).finish()
    #expect(unjudged.status == 0, "\(unjudged.error)")
    #expect(unjudged.error.contains("undead: too little was seen to judge growth"))
    let asked = try watch(["--for", "500ms", "--fail-on-growth", "any", "--", "./service", "60"]).finish()
    #expect(asked.status == 70)
  }

  @Test func aRunningProgramGoesOn() throws {
    let child = try sandbox.start([
      sandbox.path("bin/undead"), "run", "--exit-code", "0", "--", "./service", "3600", "leaky",
    ])
    let pid = try pid(of: child)
    let first = try watch(["\(pid)"])
    try wait(for: first, of: pid)
    first.send(SIGINT)
    let output = first.finish()
    #expect(output.status == 0, "\(output.error)")
    #expect(output.out.contains("held by `.sessions` of `App.Cache`: "), "\(output.out)")
    // The tool that started it.
    let interrupted = try watch(["\(child.pid)"])
    try wait(for: interrupted, of: pid)
    interrupted.send(SIGINT)
    let told = interrupted.finish()
    #expect(told.status == 0 && told.out.contains("App.Session"), "\(told.out) \(told.error)")
    #expect(ProcessFacts.isRunning(pid))
    // It ends in the middle of a watch.
    let last = try watch(["\(pid)"])
    try wait(for: last, answers: 3, of: pid)
    kill(pid, SIGKILL)
    let ended = last.finish()
    #expect(ended.status == 0 && ended.out.contains("note: process \(pid) ended after "), "\(ended.out) \(ended.error)")
    _ = child.finish()
  }

  @Test func saysWhatCannotBeWatched() throws {
    let missing = try sandbox.undead("watch", "999999999")
    #expect(missing.status == 64 && missing.error.contains("no such process"))
    // This process links the instrument.
    let own = try sandbox.undead("watch", "\(getpid())")
    #expect(own.status == 64 && own.error.contains("has Undead linked in"), "\(own.error)")
    let plain = try sandbox.undead("watch", "--every", "100ms", "--for", "1s", "--", "sleep", "60")
    #expect(plain.status == 70 && plain.error.contains("does not use the Swift runtime"), "\(plain.error)")
    #expect(try sandbox.undead("watch").status == 64)
    #expect(try sandbox.undead("watch", "1", "--", "true").status == 64)
    #expect(try sandbox.undead("watch", "--every", "1ms", "--", "true").status == 64)
    #expect(try sandbox.undead("watch", "--for", "10s", "--warm-up", "10s", "--", "true").status == 64)
    let rule = try sandbox.undead("watch", "--fail-on-growth", "10XB/h", "--", "true")
    #expect(rule.status == 64 && rule.error.contains("'10XB/h' is no rule for growth"))
    #expect(try sandbox.undead("watch", "--", "./no-such-program").status == 64)
  }

  // MARK: Census and marks

  @Test func aCensusIsExactAndBirthsAreToldByMarks() throws {
    let input = Pipe()
    let child = try sandbox.start(
      [sandbox.path("bin/undead"), "run", "--exit-code", "0", "--", "./service", "listens"], input: input)
    let pid = try pid(of: child)
    func make(_ number: Int) throws {
      input.fileHandleForWriting.write(Data("\(number)\n".utf8))
      try #require(child.wait { child.outputSoFar.contains("made \(number)\n") })
    }
    func census() throws -> TypeCounts {
      let file = try SnapshotRequest(of: pid, kind: .census).wait(timeout: 60, progress: Progress(isOn: false))
      defer { file.remove() }
      return try file.withPath { try TypeCounts(census: HeapFile(path: $0)) }
    }
    try make(1000)
    let first = try census()
    // An object of 24 bytes takes a block of 24 usable ones.
    #expect(first.amounts["App.Widget"] == .init(count: 1000, bytes: 24000))
    #expect(first.amounts["App.Cache"]?.count == 1)
    #expect(first.programTypes.isSuperset(of: ["App.Widget", "App.Cache"]))
    #expect(first.amounts["App.Session"] == nil)
    let marked = try sandbox.undead("mark", "\(pid)", "after the first")
    #expect(marked.status == 0 && marked.out == "generation 1: after the first\n", "\(marked.error)")
    try make(40)
    #expect(try census().amounts["App.Widget"]?.count == 1040)
    #expect(try sandbox.undead("mark", "\(child.pid)").out == "generation 2\n")
    try make(7)
    let heap = sandbox.path("marked.heap")
    #expect(try sandbox.undead("leaks", "--heap", heap, "\(pid)").status == 0)
    try input.fileHandleForWriting.close()
    #expect(child.finish().status == 0)
    try expectGenerations(in: HeapFile(path: heap))
  }

  private func expectGenerations(in file: HeapFile) throws {
    #expect(file.generations.map(\.number) == [1, 2])
    #expect(file.generations.map { file.snapshot.strings[$0.name] } == ["after the first", ""])
    let heap = try LoadedHeap(file)
    var births: [UInt32: Int] = [:]
    for block in 0..<heap.graph.count where heap.typeName(block) == "App.Widget" {
      births[heap.graph.site(block)?.generation ?? 0, default: 0] += 1
    }
    #expect(births == [0: 1000, 1: 40, 2: 7])
  }

  /// A mark that came too late is not made when the program goes on.
  @Test func aStoppedProgramIsNotMarkedLater() throws {
    let input = Pipe()
    let child = try sandbox.start(
      [sandbox.path("bin/undead"), "run", "--exit-code", "0", "--", "./service", "listens"], input: input)
    let pid = try pid(of: child)
    kill(pid, SIGSTOP)
    let late = try sandbox.undead("mark", "--timeout", "1", "\(pid)")
    #expect(late.status == 70 && late.error.contains("did not answer within 1 s"), "\(late.error)")
    kill(pid, SIGCONT)
    #expect(try sandbox.undead("mark", "\(pid)", "in time").out == "generation 1: in time\n")
    #expect(try sandbox.undead("mark", "999999999").status == 64)
    #expect(try sandbox.undead("mark", "\(getpid())").status == 64)
    try input.fileHandleForWriting.close()
    _ = child.finish()
  }
}
