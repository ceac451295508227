import Foundation
import Testing
import UndeadTestSupport

/// `undead test`, with a `swift` that only says what it was asked for.
@Suite(.timeLimit(.minutes(20))) struct TestVerbTests {
  private let sandbox: Sandbox

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installFakeLibrary()
  }

  /// Puts a `swift` into PATH that runs `body`, a shell script.
  private func installSwift(_ body: String) throws -> [String: String] {
    try sandbox.write("#!/bin/sh\n\(body)\n", to: "bin/swift", mode: 0o755)
    return ["PATH": "\(sandbox.path("bin")):/usr/bin:/bin"]
  }

  /// A program with the name of a test program.
  private func installTestProgram() throws {
    try sandbox.compile("int main(int n, char **a) { return n > 1 ? 134 : 0; }", to: "AppTests.xctest")
  }

  @Test func handsArgumentsToSwiftTest() throws {
    let environment = try installSwift(#"printf '<%s>' "$@"; exit 3"#)
    let output = try sandbox.undead(
      "test", "--verbose", "--", "--filter", "A b", "--", "-c", "release", "--format", environment: environment)
    #expect(output.out == "<test><--filter><A b><--><-c><release><--format>")
    #expect(output.status == 3, "\(output.error)")
  }

  @Test func needsNoArguments() throws {
    let output = try sandbox.undead("test", environment: try installSwift(#"printf '<%s>' "$@"; exit 3"#))
    #expect(output.out == "<test>")
  }

  @Test func refusesArgumentsOfSwiftTestBeforeTheDashes() throws {
    let output = try sandbox.undead("test", "--filter", "A", environment: try installSwift("echo started"))
    #expect(output.status == 64 && output.out == "")
    #expect(output.error.contains("arguments of 'swift test' come after '--'"))
  }

  @Test func saysThatThereIsNoSwift() throws {
    let output = try sandbox.undead("test", environment: ["PATH": "/nowhere"])
    #expect(output.status == 64)
    #expect(output.error.contains("no program 'swift' in PATH"))
    #expect(output.error.contains("put the 'swift' of a toolchain in PATH"))
  }

  @Test func ofNoToolchainIsNoSilentSuccess() throws {
    let output = try sandbox.undead("test", environment: try installSwift("exit 0"))
    #expect(output.status == 70)
    #expect(output.error.contains("the instrument was not loaded into 'swift test'"))
  }

  @Test func reportsOnTestProgramsFirst() throws {
    try installTestProgram()
    var environment = try installSwift("./AppTests.xctest; exit 0")
    environment["FAKE_SNAPSHOT"] = try sandbox.write(SampleSnapshot.leaking(), to: "sample.undead")
    let output = try sandbox.undead(
      "test", "--format", "json", "--output", "r.json", "--report", "junit=r.xml", environment: environment)
    #expect(output.status == 23, "\(output.error)")
    #expect(output.error == "")
    let json = try String(contentsOfFile: sandbox.path("r.json"), encoding: .utf8)
    #expect(json.contains("checked: 1 of 1 test process"))
    #expect(json.contains("bin/swift"))
    #expect(try String(contentsOfFile: sandbox.path("r.xml"), encoding: .utf8).contains("<failure message=\"App.Owner"))
  }

  @Test func namesTheProcessThatCouldNotBeChecked() throws {
    try installTestProgram()
    var environment = try installSwift("./AppTests.xctest Some.Tests/testCrash; exit 0")
    environment["FAKE_FAILURE"] = "why not"
    let output = try sandbox.undead("test", environment: environment)
    #expect(output.status == 70)
    #expect(output.error.contains("AppTests.xctest"))
    #expect(output.error.contains("was not checked: why not"))
  }

  @Test func ownStatusOfTheTestsGoesFirst() throws {
    try installTestProgram()
    var environment = try installSwift("./AppTests.xctest; exit 1")
    environment["FAKE_SNAPSHOT"] = try sandbox.write(SampleSnapshot.leaking(), to: "sample.undead")
    let output = try sandbox.undead("test", environment: environment)
    #expect(output.status == 1)
    #expect(output.error.contains("undead: 1 leak"))
  }

  @Test func isTurnedOffByTheEnvironment() throws {
    var environment = try installSwift("echo $LD_PRELOAD$UNDEAD_SESSION$UNDEAD_ONLY; exit 0")
    environment["UNDEAD"] = "0"
    let output = try sandbox.undead("test", environment: environment)
    #expect(output.status == 0 && output.out == "\n")
    #expect(output.error.contains("UNDEAD=0"))
  }

  /// A test that is to end its process runs in one of its own.
  @Test func aChildOfATestThatDiesIsToldAndNoFailure() throws {
    try sandbox.compile(
      """
      #include <stdlib.h>
      #include <sys/wait.h>
      #include <unistd.h>
      int main(int n, char **a) {
        if (n > 1) abort();
        if (fork() == 0) { execl("/proc/self/exe", a[0], "x", (char *)0); _exit(1); }
        int status; wait(&status);
        return !WIFSIGNALED(status);
      }
      """, to: "AppTests.xctest")
    var environment = try installSwift("./AppTests.xctest; exit $?")
    environment["FAKE_SNAPSHOT"] = try sandbox.write(SampleSnapshot.clean(), to: "clean.undead")
    let output = try sandbox.undead("test", environment: environment)
    #expect(output.status == 0, "\(output.error)")
    #expect(output.error.contains("not checked: 1 process that tests started and that died"), "\(output.error)")
    #expect(output.error.contains("undead: no leaks"), "\(output.error)")
  }

  @Test func looksForZombiesWhenAsked() throws {
    let environment = try installSwift("echo $UNDEAD_ZOMBIES $UNDEAD_ZOMBIE_POLICY; exit 3")
    #expect(try sandbox.undead("test", environment: environment).out == "\n")
    let arguments = ["test", "--zombie-mode", "guard", "--zombie-policy", "report"]
    let output = try sandbox.command([sandbox.path("bin/undead")] + arguments, environment: environment)
    #expect(output.out == "guard report\n", "\(output.error)")
    let alone = try sandbox.undead("test", "--zombie-policy", "report", environment: environment)
    #expect(alone.status == 64 && alone.error.contains("no effect without --zombies"))
  }

  // MARK: Reports

  @Test func furtherReportsNeedAKnownFormAndAFile() throws {
    let environment = try installSwift("echo started")
    for (value, reason) in [("nonsense=x", "'nonsense=x' is invalid"), ("junit", "'junit' is invalid")] {
      let output = try sandbox.undead("test", "--report", value, environment: environment)
      #expect(output.status == 64 && output.out == "" && output.error.contains(reason))
    }
    let unwritable = try sandbox.undead("test", "--report", "json=/nowhere/x", environment: environment)
    #expect(unwritable.status == 64 && unwritable.out == "")
    #expect(unwritable.error.contains("'/nowhere/x' (--report)"))
    let twice = try sandbox.undead("test", "--output", "x", "--report", "json=x", environment: environment)
    #expect(twice.status == 64 && twice.error.contains("same file"))
  }

  @Test(arguments: ["junit", "github", "gitlab", "sarif", "markdown", "json", "html", "text"])
  func runAndReportWriteEveryForm(_ form: String) throws {
    let snapshot = try sandbox.write(SampleSnapshot.leaking(), to: "sample.undead")
    let run = try sandbox.undead(
      "run", "--report", "\(form)=further", "--", "true", environment: ["FAKE_SNAPSHOT": snapshot])
    #expect(run.error.contains("undead: 1 leak"))
    let shown = try sandbox.undead("leaks", "--format", form, "--report", "\(form)=again", snapshot)
    #expect(shown.out.contains("App.Owner"))
    for file in ["further", "again"] {
      #expect(try String(contentsOfFile: sandbox.path(file), encoding: .utf8).contains("App.Owner"))
    }
  }

  @Test func theSummaryOfAStepIsAppended() throws {
    let snapshot = try sandbox.write(SampleSnapshot.leaking(), to: "sample.undead")
    let file = try sandbox.write("before\n", to: "summary.md")
    let environment = ["GITHUB_STEP_SUMMARY": file, "FAKE_SNAPSHOT": snapshot]
    func summary() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }
    let run = try sandbox.undead("run", "--", "true", environment: environment)
    #expect(run.error.contains("undead: 1 leak") && !run.error.contains("##"), "the terminal has the text")
    let once = try summary()
    #expect(once.hasPrefix("before\n## Undead: ") && once.contains(": 1 leak ("), "\(once)")
    _ = try sandbox.undead("leaks", "--format", "json", snapshot, environment: environment)
    #expect(try summary().ranges(of: "## Undead").count == 2)
    // Asked for by name it is there once, and what the option empties is its own affair.
    _ = try sandbox.undead("leaks", "--report", "markdown=\(file)", snapshot, environment: environment)
    #expect(try summary().ranges(of: "## Undead").count == 1)
  }

  @Test func aSummaryThatCannotBeWrittenChangesNothing() throws {
    let snapshot = try sandbox.write(SampleSnapshot.leaking(), to: "sample.undead")
    let large = try sandbox.write(String(repeating: "x", count: 1 << 20), to: "large.md")
    for (file, reason) in [("/nowhere/summary.md", "No such file"), (large, "more than 1 MiB")] {
      let shown = try sandbox.undead("leaks", snapshot, environment: ["GITHUB_STEP_SUMMARY": file])
      #expect(shown.status == 23 && shown.out.contains("undead: 1 leak"))
      #expect(shown.error.contains("the summary was not added to '\(file)' (GITHUB_STEP_SUMMARY): "))
      #expect(shown.error.contains(reason), "\(shown.error)")
    }
    #expect(try String(contentsOfFile: large, encoding: .utf8).utf8.count == 1 << 20)
  }

  @Test func theNumberOfCulpritsIsChosen() throws {
    let snapshot = try sandbox.write(SampleSnapshot.leaking(), to: "sample.undead")
    for option in [["--top", "1"], ["--all"]] {
      let shown = try sandbox.command([sandbox.path("bin/undead"), "leaks"] + option + [snapshot])
      #expect(shown.out.contains("LEAK 1 of 1"), "\(shown.error)")
    }
    for (options, reason) in [(["--top", "0"], "--top 0: give a number"), (["--top", "3", "--all"], "give only one")] {
      let output = try sandbox.command([sandbox.path("bin/undead"), "leaks"] + options + [snapshot])
      #expect(output.status == 64 && output.error.contains(reason), "\(output.error)")
    }
  }

  @Test func profilesNeedAFile() throws {
    let snapshot = try sandbox.write(SampleSnapshot.leaking(), to: "sample.undead")
    let without = try sandbox.undead("leaks", "--format", "pprof", snapshot)
    #expect(without.status == 64 && without.error.contains("--output"))
    let with = try sandbox.undead("leaks", "--format", "pprof", "--output", "leaks.pb", snapshot)
    #expect(with.status == 23, "\(with.error)")
    let profile = try ReadProfile(gunzip(Array(Data(contentsOf: URL(filePath: sandbox.path("leaks.pb"))))))
    #expect(profile.stringTable.contains("inuse_space") && profile.stringTable.contains("App.Owner"))
  }

  @Test func diffWritesTextAndJSONOnly() throws {
    let snapshot = try sandbox.write(SampleSnapshot.leaking(), to: "sample.undead")
    for arguments in [["--format", "junit"], ["--report", "json=x"]] {
      let output = try sandbox.command([sandbox.path("bin/undead"), "diff"] + arguments + [snapshot, snapshot])
      #expect(output.status == 64, "\(output.error)")
    }
  }
}
