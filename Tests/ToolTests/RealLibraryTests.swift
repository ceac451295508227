import Foundation
import Testing
import UndeadReport

/// Real programs of every sort under the tool, with the library that users get.
@Suite(.timeLimit(.minutes(20))) struct RealLibraryTests {
  private let sandbox: Sandbox
  private static let leaky = """
    final class Owner { var child: Child? }
    final class Child { var parent: Owner? }
    @inline(never) @_optimize(none) func use(_ object: AnyObject) {}
    @inline(never) func makeCycle() {
      let owner = Owner()
      let child = Child()
      owner.child = child
      child.parent = owner
      use(owner)
    }
    makeCycle()
    while let line = readLine() { print(line) }
    """

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installRealLibrary()
  }

  private func compileLeaky(_ options: String...) throws {
    try Sandbox.made.once("leaky \(options)", at: sandbox.directory.appending(path: "leaky")) { program in
      let input = try sandbox.write(Self.leaky, to: "leaky.swift")
      let result = try sandbox.command(["swiftc", "-module-name", "App", "-g", "-o", program, input] + options)
      try #require(result.status == 0, "\(result.error)")
    }
  }

  private func run(_ command: String..., input: String = "") throws -> Sandbox.Output {
    try sandbox.command([sandbox.path("bin/undead"), "run", "--"] + command, input: input)
  }

  private func expectCycle(_ output: Sandbox.Output, place: String = "leaky.swift:5") {
    #expect(output.status == 23, "\(output.error)")
    for text in ["App.Owner", "App.Child", ".child", ".parent", place] { #expect(output.error.contains(text)) }
  }

  @Test(arguments: [["-Onone"], ["-O"], ["-Onone", "-static-stdlib"]])
  func areChecked(_ options: [String]) throws {
    let input = try sandbox.write(Self.leaky, to: "leaky.swift")
    let built = try sandbox.command(
      ["swiftc", "-module-name", "App", "-g", "-o", sandbox.path("leaky"), input] + options)
    try #require(built.status == 0, "\(built.error)")
    let output = try run("./leaky", input: "one\ntwo\n")
    expectCycle(output)
    #expect(output.out == "one\ntwo\n")
    // Files inside the current directory are shown without it.
    #expect(!output.error.contains("/leaky.swift:"))
  }

  /// The caches of libdispatch and of the runtime are no loss; what the program's own C code lost is reported.
  @Test func onlyBlocksOfTheProgramsCCodeAreCounted() throws {
    try sandbox.write(
      """
      #include <stdlib.h>
      void lose(int count) { for (int i = 0; i < count; i++) ((char *volatile)malloc(100))[0] = 1; }
      """, to: "lose.c")
    let source = """
      import Dispatch
      @_silgen_name("lose") func lose(_ count: CInt)
      func overwrite(_ depth: Int) -> Int { depth == 0 ? 0 : 1 + overwrite(depth - 1) }
      let group = DispatchGroup()
      for number in 0..<3000 { DispatchQueue.global().async(group: group) { _ = number } }
      group.wait()
      await withTaskGroup(of: Int.self) { tasks in
        for number in 0..<2000 { tasks.addTask { number } }
        for await _ in tasks {}
      }
      lose(CommandLine.argc == 1 ? 0 : 700)
      _ = overwrite(200)
      """
    let input = try sandbox.write(source, to: "storm.swift")
    let object = try sandbox.command(["cc", "-c", "-O0", "lose.c", "-o", sandbox.path("lose.o")])
    try #require(object.status == 0, "\(object.error)")
    let built = try sandbox.command(["swiftc", "-g", "-o", sandbox.path("storm"), input, sandbox.path("lose.o")])
    try #require(built.status == 0, "\(built.error)")
    let clean = try run("./storm")
    #expect(clean.status == 0 && !clean.error.contains("C code"), "\(clean.error)")
    let lossy = try run("./storm", "x")
    // A word on a stack may still name one or two of them.
    let counted = lossy.error.firstMatch(of: /not listed: (\d+) unreachable blocks of C code/).flatMap { Int($0.1) }
    #expect((690...700).contains(counted ?? 0), "\(lossy.error)")
  }

  @Test func ofAShellAreCheckedWithTheirNames() throws {
    try compileLeaky()
    let direct = try run("bash", "-c", "exec ./leaky")
    expectCycle(direct)
    let child = try run("bash", "-c", "./leaky; exit 0")
    expectCycle(child)
    let pipeline = try run("bash", "-c", "echo through | ./leaky | tr a-z A-Z")
    expectCycle(pipeline)
    #expect(pipeline.out == "THROUGH\n")
    try sandbox.write("#!/bin/sh\nexec ./leaky \"$@\"\n", to: "script", mode: 0o755)
    expectCycle(try run("./script"))
  }

  @Test func withoutSwiftRunAsEver() throws {
    for command in ["bash -c 'exit 3'", "sh -c 'exit 3'", "python3 -c 'import sys; sys.exit(3)'"] {
      let output = try run(
        "bash", "-c", "command -v \(command.split(separator: " ")[0]) >/dev/null || exit 3; \(command)")
      #expect(output.status == 3)
      #expect(output.error.contains("no Swift runtime was seen"))
    }
  }

  @Test func thatCannotBeCheckedRunAndSaySo() throws {
    try sandbox.compile("#include <stdio.h>\nint main() { puts(\"ran\"); return 0; }", to: "static", "-static")
    let output = try run("./static")
    #expect(output.out == "ran\n")
    #expect(output.status == 70)
    #expect(output.error.contains("static executable"))
    try sandbox.compile("#include <stdio.h>\nint main() { puts(\"ran\"); return 4; }", to: "static", "-static")
    #expect(try run("./static").status == 4)
    // It does not link the runtime that can be seen, and it is not a program without one.
    try compileLeaky("-static-stdlib", "-Xlinker", "-s")
    let stripped = try run("./leaky")
    #expect(stripped.status == 70 && stripped.error.contains("its symbols were stripped"), "\(stripped.error)")
    let diagnosis = try sandbox.undead("doctor", "./leaky")
    #expect(diagnosis.out.contains("its symbols were stripped"), "\(diagnosis.out)")
  }

  /// States that are legal, however odd: of the allocator, of the system, of the program. The answer stays the same.
  @Test func inOddStatesGiveTheSameAnswer() throws {
    try compileLeaky("-O")
    try #require(
      try sandbox.command(["strip", "-s", "-o", sandbox.path("stripped"), sandbox.path("leaky")]).status == 0)
    let allocators = [
      "tcache_count=0 mxfast=0 arena_max=1 perturb=5", "tcache_max=65536 tcache_count=127 hugetlb=1 top_pad=100000000",
      "mmap_threshold=4096 trim_threshold=0 top_pad=0", "tcache_unsorted_limit=1 arena_test=1 mmap_max=0",
    ]
    let tunables = allocators.map { $0.split(separator: " ").map { "glibc.malloc.\($0)" }.joined(separator: ":") }
    let states =
      (tunables + ["glibc.pthread.rseq=0"]).map { (["GLIBC_TUNABLES": $0], "exec ./leaky") } + [
        (["MALLOC_ARENA_MAX": "1", "MALLOC_PERTURB_": "77", "LC_ALL": "tr_TR.UTF-8"], "exec ./leaky"),
        (["LONG": String(repeating: "x", count: 100_000)], "exec ./leaky"), ([:], "exec ./stripped"),
        ([:], "ulimit -n 20; ulimit -s 64; exec ./leaky"), ([:], "exec ./leaky <&- >&-"),
        ([:], "mkdir gone && cd gone && rmdir ../gone && exec ../leaky"),
      ]
    for (number, (environment, script)) in states.enumerated() {
      let mode = [[], ["--zombies"], ["--zombie-mode", "guard"]][number % 3]
      let output = try sandbox.command(
        [sandbox.path("bin/undead"), "run"] + mode + ["--", "sh", "-c", script], environment: environment)
      #expect(output.status == 23, "\(environment) \(script): \(output.error)")
      #expect(output.error.contains("undead: 1 leak (2 objects"), "\(environment) \(script): \(output.error)")
    }
  }

  @Test func withASanitizerRunAndSaySo() throws {
    try compileLeaky("-sanitize=address")
    let output = try sandbox.command(
      [sandbox.path("bin/undead"), "run", "--", "./leaky"], environment: ["ASAN_OPTIONS": "detect_leaks=0"],
      input: "ran\n")
    #expect(output.out == "ran\n")
    #expect(output.status == 70)
    #expect(output.error.contains("AddressSanitizer"))
  }

  @Test func thatAreKilledAreNotCalledClean() throws {
    try sandbox.compileSwift(
      "import Glibc\nlet kept = [1, 2, 3].map { [$0] }\nkill(getpid(), SIGKILL)\nprint(kept)", to: "killed")
    let killed = try run("./killed")
    #expect(killed.status == 137)
    #expect(killed.error.contains("no check was made: the program was ended by SIGKILL"))
    try sandbox.compileSwift("import Glibc\nprint([1].map { [$0] })\nfflush(stdout)\n_exit(0)", to: "quitting")
    let quitting = try run("./quitting")
    #expect(quitting.status == 70)
    #expect(quitting.error.contains("_exit"))
    #expect(quitting.out == "[[1]]\n")
    try sandbox.compileSwift("let numbers = [1].map { $0 }\nprint(numbers[numbers.count])", to: "crashing")
    let crashing = try run("./crashing")
    #expect(crashing.status > 128)
    #expect(crashing.error.contains("no check was made"))
  }

  @Test func withLittleMemoryStillRun() throws {
    try compileLeaky()
    for kilobytes in [150_000, 400_000, 4_000_000] {
      let bare = try sandbox.command(["bash", "-c", "ulimit -v \(kilobytes); exec ./leaky"], input: "ran\n")
      let output = try run("bash", "-c", "ulimit -v \(kilobytes); exec ./leaky", input: "ran\n")
      #expect(output.out == bare.out)
      // Found, or said not to have been looked for; never silent.
      #expect([bare.status, 23, 70].contains(output.status))
      #expect(output.status != 0, "\(output.error)")
    }
  }

  @Test func withLimitedFilesStillRun() throws {
    try compileLeaky()
    let child = try run("bash", "-c", "(ulimit -f 0; ./leaky; echo $?) | cat", input: "ran\n")
    #expect(child.out == "ran\n0\n")
  }

  @Test func withoutStandardErrorKeepTheirStatus() throws {
    try compileLeaky()
    let script = "\(sandbox.path("bin/undead")) run --output report -- ./leaky 2>&-; echo $?"
    #expect(try sandbox.command(["bash", "-c", script]).out == "23\n")
    #expect(try String(contentsOfFile: sandbox.path("report"), encoding: .utf8).contains("App.Owner"))
  }

  @Test func areSnapshottedWhileTheyRun() throws {
    try compileLeaky()
    let pipe = Pipe()
    let child = try sandbox.start([sandbox.path("bin/undead"), "run", "--", "./leaky"], input: pipe)
    pipe.fileHandleForWriting.write(Data("ready\n".utf8))
    #expect(child.wait { (try? self.sandbox.undead("leaks", "\(self.program(of: child))").status) == 23 })
    pipe.fileHandleForWriting.write(Data("still here\n".utf8))
    try pipe.fileHandleForWriting.close()
    let output = child.finish()
    #expect(output.status == 23)
    #expect(output.out == "ready\nstill here\n")
  }

  /// The process that a tool runs; 0 while there is none.
  private func program(of tool: Sandbox.Child) -> Int32 {
    let children = try? String(contentsOfFile: "/proc/\(tool.pid)/task/\(tool.pid)/children", encoding: .utf8)
    return children?.split(separator: " ").first.flatMap { Int32($0) } ?? 0
  }
}
