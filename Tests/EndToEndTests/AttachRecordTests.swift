import Foundation
import Testing
import UndeadTestSupport

/// Recording that is put into programs which were not started under the tool.
@Suite struct AttachRecordTests {
  /// How the program is compiled.
  enum Build: String, CaseIterable, CustomStringConvertible {
    case debug = "-Onone -g"
    case optimised = "-O -g"
    case staticRuntime = "-O -static-stdlib"

    var description: String { rawValue }
    var tool: String { self == .debug ? Tool.path : Tool.releasePath }
  }

  /// A program that lets no call of `clone` pass in another one.
  private static let filter = AttachedProgram.sources + "/Attach/filtered.c"

  private static let programs = AttachedProgram.folders(of: Build.self) { build in
    "swiftc \(build.rawValue) -module-name App \(quoted(AttachedProgram.sources))/AttachRecord/main.swift -o app"
  }

  private func run(_ build: Build, _ script: String) async throws -> (outcome: Outcome, directory: TemporaryDirectory) {
    try await AttachedProgram.run(Self.programs[build]!, tool: build.tool, words: AttachedProgram.ended, script)
  }

  @Test(arguments: Build.allCases)
  func growthIsToldWithTheLineThatAllocates(_ build: Build) async throws {
    let (outcome, directory) = try await run(
      build,
      """
      start ./app
      $tool record $program --for 1s --format json --output growth.json & look=$!
      while kill -0 $look 2> /dev/null; do ask grow > /dev/null; sleep 0.1; done
      wait $look; echo look $?
      $tool record $program --stop > /dev/null 2> errors; echo detach $?
      ask check | cut -d' ' -f1-3
      ended
      """)
    #expect(outcome.output == "look 0\ndetach 64\nok signals=0 files=4\nstatus 0\nright\n", "\(outcome)")
    #expect(directory.contents("errors").contains("is not recorded"))
    let growth = directory.contents("growth.json")
    #expect(growth.contains("App.Session"))
    // Without debug information at least the function is known.
    #expect(growth.contains("App.Store.remember"))
  }

  @Test func manyRoundsLeaveNothingBehind() async throws {
    let (outcome, _) = try await run(
      .optimised,
      """
      start ./app
      ask check | cut -d' ' -f3
      for round in 1 2 3 4 5 6 7 8; do
        $tool record $program > /dev/null || echo record $?
        kill -USR1 $program
        $tool record $program > /dev/null 2>&1; [ $? = 64 ] || echo again
        $tool record $program --stop || echo detach $?
      done | sort -u
      kill -USR1 $program; sleep 0.1
      ask check | cut -d' ' -f1-3
      grep -c 'r-xp .*/memfd:undead-record' /proc/$program/maps
      ended
      # A sleep that was interrupted is another system call afterwards.
      sleep 1000 & program=$!
      until grep -q nanosleep /proc/$program/wchan; do sleep 0.01; done
      for round in 1 2; do
        $tool record $program > /dev/null && $tool record $program --stop > /dev/null || echo sleeper $?
      done
      kill $program; wait $program; echo $?
      """)
    let lines = outcome.output.split(separator: "\n")
    let pid = lines.dropFirst().first?.split(separator: " ").dropFirst(2).first ?? ""
    #expect(
      lines == [
        "files=4", "undead: process \(pid) is not recorded any more; the library stays in it without use",
        "ok signals=9 files=4", "1", "status 0", "right", "143",
      ], "\(outcome)")
  }

  /// Before a request to the system that the tool makes, it is killed: what is left must find its way alone.
  @Test func theProgramSurvivesTheEndOfTheTool() async throws {
    let (outcome, _) = try await run(
      .optimised,
      """
      \(AttachedProgram.killed)
      start ./app
      for verb in "" --stop; do
        number=1
        while KILL_AT=$number LD_PRELOAD=$PWD/killed.so $tool record $program $verb > /dev/null 2>&1; [ $? -gt 128 ]; do
          ask check | cut -d' ' -f1 >> answers
          number=$((number + \(Self.stride)))
        done
        [ $number -gt 20 ] || echo only $number
      done
      # A call that lost its tool waits for it for three seconds.
      sleep 3.2
      $tool record $program --stop > /dev/null 2>&1
      $tool record $program > /dev/null; echo record $?
      $tool record $program --stop > /dev/null; echo detach $?
      sort -u answers
      kill -USR1 $program; sleep 0.1
      ask check | cut -d' ' -f1-3
      ended
      """)
    #expect(
      outcome.output == "record 0\ndetach 0\nok\nok signals=1 files=4\nstatus 0\nright\n", "\(outcome)")
  }

  /// A sample, and with ``Thorough`` a larger one; with `UNDEAD_REPEAT` every single one.
  private static let stride = Tool.repetitions > 1 ? 1 : Thorough.count(17, of: 7)

  @Test func filtersOfSystemCallsAreAsked() async throws {
    let (outcome, _) = try await run(
      .optimised,
      """
      clang -O1 \(quoted(Self.filter)) -o filtered
      sed s/SYS_clone/SYS_memfd_create/ \(quoted(Self.filter)) | clang -O1 -x c - -o strict
      start ./strict ./app
      $tool record $program 2> errors; echo $?; grep -c 'filter of system calls' errors
      ended; rm in
      start ./filtered ./app
      $tool record $program > /dev/null; echo $?
      $tool record $program --stop > /dev/null; echo $?
      ended
      """)
    #expect(outcome.output == "64\n1\nstatus 0\nright\n0\n0\nstatus 0\nright\n", "\(outcome)")
  }

  @Test func whatCannotBeRecorded() async throws {
    let (outcome, _) = try await run(
      .optimised,
      """
      say() { "$@" 2>&1 > /dev/null | tail -1; }
      say $tool record 999999999
      start $tool run --output /dev/null -- ./app
      say $tool record $(ps -o pid= --ppid $program)
      exec 7>&-; wait $program; rm in
      start ./app
      kill -STOP $program; say $tool record $program; kill -CONT $program
      say $tool record $program --stop
      ended
      """)
    let lines = outcome.output.split(separator: "\n")
    let expected = ["no such process", "under undead already", "does not run", "is not recorded", "status 0", "right"]
    try #require(lines.count == expected.count, "\(outcome)")
    for (line, text) in zip(lines, expected) { #expect(line.contains(text), "\(line)") }
  }
}
