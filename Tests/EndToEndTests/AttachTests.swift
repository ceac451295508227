import Foundation
import Testing
import UndeadHeap
import UndeadHeapReport
import UndeadTestSupport

/// Looks at programs that were not started under the tool.
@Suite struct AttachTests {
  /// How the program is compiled.
  enum Build: String, CaseIterable, CustomStringConvertible {
    case debug = "-Onone -g"
    case optimised = "-O"
    case staticRuntime = "-O -static-stdlib"

    var description: String { rawValue }
    var tool: String { self == .debug ? Tool.path : Tool.releasePath }
  }

  private static let programs = AttachedProgram.folders(of: Build.self) { build in
    """
    sources=\(quoted(AttachedProgram.sources))/Attach && clang -O2 -c "$sources/untouched.c" -o untouched.o &&
    clang -O1 "$sources/filtered.c" -o filtered &&
    swiftc \(build.rawValue) -module-name App -import-objc-header "$sources/untouched.h" "$sources/main.swift" \
      untouched.o -o app
    """
  }

  private func run(_ build: Build, _ script: String) async throws -> (outcome: Outcome, directory: TemporaryDirectory) {
    let words = """
      mkdir files; export TMPDIR=$PWD/files
      children() { ps -o stat=,comm= --ppid $program; }
      ended() { kill -9 $program; wait $program 2> /dev/null; }
      """
    return try await AttachedProgram.run(Self.programs[build]!, tool: build.tool, words: words, script)
  }

  private func report(_ name: String, _ directory: TemporaryDirectory) throws -> ReportFile {
    try JSONDecoder().decode(ReportFile.self, from: Data(directory.contents(name).utf8))
  }

  @Test(arguments: Build.allCases)
  func leaksAreNamedAndTheProgramGoesOn(_ build: Build) async throws {
    let (outcome, directory) = try await run(
      build,
      """
      start ./app busy
      $tool leaks $program --format json --output report.json --heap heap.undead; echo status $?
      ask
      $tool heap $program --format json --output heap.json 2> heap.errors; echo status $?
      ask; children; ls files
      ended
      """)
    let lines = outcome.output.split(separator: "\n")
    #expect(outcome.errors == "" && lines.count == 4, "\(outcome)")
    #expect(lines.first == "status 23" && lines.dropFirst(2).first == "status 0")
    #expect(lines.filter { $0.hasPrefix("ok interruptions=0 ") }.count == 2)
    let report = try report("report.json", directory)
    let leak = try #require(report.leaks.first { $0.kind == "retainCycle" })
    #expect(report.leaks.count == 2 && leak.count == 100)
    let forgotten = try #require(report.leaks.first { $0.kind == "unreferenced" })
    #expect(forgotten.count == 5 && forgotten.objects.first?.type == "App.Forgotten")
    #expect(leak.cycle?.map { "\($0.type) \($0.field ?? "")" } == ["App.Node next", "App.Node next"])
    #expect(directory.contents("heap.errors").contains("is not recorded"))
    let heap = try JSONDecoder().decode(HeapReport.self, from: Data(directory.contents("heap.json").utf8))
    let counts = Dictionary(heap.types.map { ($0.type, $0.count) }) { $0 + $1 }
    #expect(counts["App.Session"] == 1000 && counts["App.Node"] == 200 && counts["App.Store"] == 1)
  }

  @Test(arguments: [Build.debug, .optimised])
  func theHeapIsThatOfARecordedProgram(_ build: Build) async throws {
    let (outcome, directory) = try await run(
      build,
      """
      start ./app
      $tool heap $program --format json --output attached.json 2> /dev/null; echo $?
      ended; rm in
      start $tool run --output /dev/null -- ./app
      $tool heap $program --format json --output recorded.json; echo $?
      exec 7>&-; wait $program
      """)
    #expect(outcome.output == "0\n0\n", "\(outcome)")
    let counts = try ["attached.json", "recorded.json"].map { name in
      let heap = try JSONDecoder().decode(HeapReport.self, from: Data(directory.contents(name).utf8))
      return Dictionary(
        heap.types.lazy.filter { $0.type.hasPrefix("App.") || $0.type.hasPrefix("Swift.") }.map { ($0.type, $0.count) }
      ) { $0 + $1 }
    }
    #expect(counts[0] == counts[1] && counts[0].count > 4)
  }

  @Test func growthIsTold() async throws {
    let (outcome, directory) = try await run(
      .optimised,
      """
      start ./app
      $tool leaks $program --for 3s --format json --output growth.json & look=$!
      # However long the first look takes, some of it comes after that one.
      while kill -0 $look 2> /dev/null; do ask grow; sleep 0.2; done
      wait $look; echo status $?
      ended
      """)
    #expect(outcome.output.hasSuffix("status 0\n"), "\(outcome)")
    #expect(directory.contents("growth.json").contains("App.Session"))
  }

  /// Counted in copies, again and again.
  @Test func growthIsWatched() async throws {
    let (outcome, directory) = try await run(
      .optimised,
      """
      start ./app; ask grow by the clock > /dev/null
      # 70: on a busy machine too few counts were taken in that time.
      for time in 4s 16s 64s 160s; do
        rule="--fail-on-growth App.Session"
        $tool watch --every 100ms --for $time $rule --heap watched.heap --output growth.txt $program; status=$?
        [ $status -eq 70 ] || break
      done
      echo status $status; $tool heap watched.heap > heap.txt; echo status $?
      ask; ended
      """)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.prefix(2) == ["status 23", "status 0"], "\(outcome)")
    #expect(lines.last?.hasPrefix("ok interruptions=0") == true, "\(outcome)")
    #expect(directory.contents("growth.txt").contains("held by `.sessions` of `App.Store`"), "\(outcome)")
  }

  @Test func growthIsToldWhenTheUserEndsTheWait() async throws {
    let (outcome, directory) = try await run(
      .optimised,
      """
      start ./app
      $tool leaks $program --for 1h --format json --output growth.json & look=$!
      # From now on the signal is an answer: bit 1 is SIGINT.
      until [ $((0x$(awk '/^SigBlk/ { print $2 }' /proc/$look/status) & 2)) -ne 0 ]; do kill -0 $look || exit 91; sleep 0.05; done
      ask grow
      kill -INT $look
      wait $look; echo status $?
      ended
      """)
    #expect(outcome.output.hasSuffix("status 0\n"), "\(outcome)")
    #expect(directory.contents("growth.json").contains("\"after\""), "\(directory.contents("growth.json"))")
  }

  /// Before each request to the system that the tool makes, it can be killed: what is left must find its way alone.
  @Test func theProgramSurvivesTheEndOfTheTool() async throws {
    let (outcome, _) = try await run(
      .optimised,
      """
      \(AttachedProgram.killed)
      start ./app busy
      number=1
      while KILL_AT=$number LD_PRELOAD=$PWD/killed.so $tool leaks $program > /dev/null 2>&1; [ $? -gt 128 ]; do
        turn=0
        while grep -h '^State' /proc/$program/task/*/status 2> /dev/null | grep -q '[tT] ('; do
          turn=$((turn + 1)); [ $turn -lt 100 ] || { echo stopped $number; break; }
          sleep 0.05
        done
        number=$((number + \(Self.stride)))
      done
      [ $number -gt 100 ] || echo only $number
      # The guardian tries for half a minute: no thread may come to stand in time while others have the processors.
      for turn in $(seq 400); do [ -z "$(children)" ] && break; sleep 0.1; done
      children; ls files
      ask | cut -d' ' -f1
      $tool leaks $program --format json --output report.json; echo status $?
      ask | cut -d' ' -f1; children
      ended
      """)
    #expect(outcome.output == "ok\nstatus 23\nok\n", "\(outcome)")
  }

  /// A sample, and with ``Thorough`` a larger one; with `UNDEAD_REPEAT` every single one.
  private static let stride = Tool.repetitions > 1 ? 1 : Thorough.count(97, of: 29)

  @Test func strangeStates() async throws {
    let (outcome, _) = try await run(
      .optimised,
      """
      start ./app busy
      kill -STOP $program
      $tool leaks $program > /dev/null; echo stopped $? $(cut -d' ' -f3 /proc/$program/stat)
      kill -CONT $program; ask | cut -d' ' -f1
      ask lose the first thread
      $tool leaks $program > /dev/null; echo headless $?
      ended; rm in
      start ./filtered ./app busy
      $tool leaks $program > /dev/null; echo filtered $?
      ask | cut -d' ' -f1
      ended
      """)
    #expect(
      outcome.output == "stopped 23 T\nok\nlost\nheadless 23\nfiltered 23\nok\n", "\(outcome)")
  }

  @Test func whatCannotBeLookedAt() async throws {
    let (outcome, _) = try await run(
      .optimised,
      """
      say() { "$@" 2>&1 > /dev/null | tail -1; }
      say $tool leaks 999999999
      sleep 100 & say $tool leaks $!; kill $!
      # A child that ends when its parent has become a program that waits for none.
      sh -c '{ until grep -q sleep /proc/$$/comm; do :; done; } & echo $! > zombie; exec sleep 100' & parent=$!
      until [ "$(cut -d' ' -f3 /proc/$(cat zombie)/stat 2> /dev/null)" = Z ]; do sleep 0.01; done
      say $tool leaks $(cat zombie); kill $parent
      start ./app busy
      # The oldest but the first: others live for a moment.
      say $tool leaks $(for t in /proc/$program/task/*; do cut -d' ' -f1,22 $t/stat; done 2> /dev/null |
        grep -v "^$program " | sort -n -k2 | head -1 | cut -d' ' -f1)
      $tool leaks $program > /dev/null & one=$!; $tool leaks $program > /dev/null 2> other; echo $? >> other
      wait $one; echo one $?
      ask | cut -d' ' -f1
      ended
      """)
    let lines = outcome.output.split(separator: "\n")
    let expected = [
      "no such process", "does not use the Swift runtime", "has ended (state Z)", "is a thread of process", "", "ok",
    ]
    try #require(lines.count == expected.count, "\(outcome)")
    for (line, text) in zip(lines, expected) { #expect(text.isEmpty || line.contains(text), "\(line)") }
  }
}
