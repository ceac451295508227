import Foundation
import Testing
import UndeadReport
import UndeadSystem

@testable import UndeadTool

/// How often and for how long the command of `--on-finding` runs.
@Suite(.timeLimit(.minutes(20))) struct FindingCommandTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private func report(_ types: String...) -> LeakReport {
    var report = LeakReport()
    report.zombies = types.map {
      Zombie(kind: "release", type: $0, message: "release of freed \($0)", address: "0x10", thread: "main")
    }
    return report
  }

  private func command(_ text: String, _ limits: FindingCommand.Limits = .init()) -> FindingCommand {
    FindingCommand("cd '\(sandbox.directory.path)' && \(text)", limits: limits)
  }

  private func contents(_ name: String) -> String {
    (try? String(contentsOfFile: sandbox.path(name), encoding: .utf8)) ?? ""
  }

  @Test func zombiesThatWaitAreOneReport() throws {
    let command = command(
      "until [ -e go ]; do sleep 0.01; done; cat > $UNDEAD_FINDING_TYPE.json; echo $UNDEAD_FINDING_COUNT >> counts")
    for type in ["A", "B", "C"] { command.add(.zombie, report(type)) }
    try sandbox.write("", to: "go")
    command.finish()
    #expect(contents("counts") == "1\n2\n")
    let second = try JSONDecoder().decode(LeakReport.self, from: Data(contents("B.json").utf8))
    #expect(second.zombies.map(\.type) == ["B", "C"])
  }

  @Test func oneThatTakesTooLongIsEnded() throws {
    let command = command("echo $UNDEAD_FINDING_KIND >> kinds; sleep 1000 & wait", .init(time: 300_000_000))
    command.add(.zombie, report("A"))
    command.add(.memory, report(), facts: ["HEAP": "heap.1"])
    command.finish()
    #expect(contents("kinds") == "zombie\nmemory\n")
  }

  /// With a clock of its own.
  @Test func runsSoManyTimesAnHour() throws {
    let command = command("echo $UNDEAD_FINDING_TYPE >> types", .init(perHour: 2))
    func runs(at time: UInt64) -> UInt64 {
      var next = command.look(now: time)
      while next <= time + 100_000_000 {
        usleep(1000)
        next = command.look(now: time)
      }
      return next
    }
    let start = SystemClock.now()
    for type in ["A", "B", "C"] {
      command.add(.memory, report(type))
      _ = runs(at: start)
    }
    #expect(contents("types") == "A\nB\n")
    let hour: UInt64 = 3_600_000_000_000
    let next = runs(at: start + hour / 2)
    #expect(next >= start && next <= start + hour + 60_000_000_000)
    _ = runs(at: next)
    #expect(contents("types") == "A\nB\nC\n")
  }

  @Test func namesOfTheProgramAreData() throws {
    let command = command("printf '%s' \"$UNDEAD_FINDING_TYPE\" > type")
    command.add(.zombie, report("A\u{1B}[31m\n$(touch evil)"))
    command.finish()
    #expect(contents("type").contains("$(touch evil)") && !contents("type").contains("\u{1B}"))
    #expect(!FileManager.default.fileExists(atPath: sandbox.path("evil")))
  }

  @Test func theReportLiesInTheFirstDirectoryThatCanBeWritten() throws {
    let text = String(repeating: "\"/opt/App\" 0x1000\n", count: 20000)
    let directories = ["/nowhere", "/proc", sandbox.path("tmp")]
    let descriptor = try #require(FindingCommand.temporaryFile(holding: text, in: directories))
    defer { close(descriptor) }
    let link = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    #expect(link.hasPrefix(sandbox.path("tmp")) && link.hasSuffix(" (deleted)"))
    #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    #expect(try handle.readToEnd() == Data(text.utf8), "from its start")
    #expect(FindingCommand.temporaryFile(holding: text, in: ["/nowhere"]) == nil)
  }
}
