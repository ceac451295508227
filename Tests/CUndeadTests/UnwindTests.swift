import Foundation
import Testing
import UndeadTestSupport

/// Runs programs with every captured backtrace compared, frame by frame, with libunwind's. In one of two builds images are found
/// as before glibc 2.35.
@Suite(.timeLimit(.minutes(20))) struct UnwindTests {
  static let libraries = Result {
    [
      Recorder.old: try Recorder.buildLibrary(optimization: Recorder.old),
      "-O2": try Recorder.buildLibrary(optimization: "-O2"),
    ]
  }

  private func fixture(_ name: String) -> String {
    Recorder.fixtures.appending(path: "unwind").appending(path: name).path
  }

  /// Checks that `program` runs as without the library, and that at least `atLeast` backtraces were compared.
  private func compare(
    _ program: String, _ arguments: [String] = [], interval: Int = 1, atLeast: Int
  ) throws {
    for (optimization, library) in try Self.libraries.get() {
      let outcome = try Recorder.run(
        program, arguments,
        environment: ["LD_PRELOAD": library, "UNDEAD_COMPARE": String(interval)])
      try outcome.expectSuccess()
      let summary = #/compared ([0-9]+) of [0-9]+ backtraces, ([0-9]+) differ/#
      let line = try #require(outcome.errors.firstMatch(of: summary))
      #expect(try #require(Int(line.1)) >= atLeast, "\(optimization)")
      #expect(line.2 == "0", "\(optimization): \(outcome.errors)")
    }
  }

  /// Two libraries of which the second one comes to the place of the first one.
  private func plugins(compiler: String, optimization: String) throws -> [String] {
    try ["24", "40"].map { frame in
      let plugin = try Recorder.temporaryPath("plugin.so")
      try Recorder.run(
        compiler, [optimization, "-shared", "-fPIC", "-DFRAME=\(frame)", fixture("plugin.c"), "-o", plugin]
      ).expectSuccess()
      return plugin
    }
  }

  @Test(arguments: ["-O2", Recorder.old])
  func whatAnUnloadedLibraryAllocatedIsNotItsSuccessors(optimization: String) throws {
    let program = try Recorder.linkProgram("unwind/reloaded.c", optimization: optimization)
    try Recorder.run(program, try plugins(compiler: "clang", optimization: "-O2")).expectSuccess()
  }

  /// Compilers of C, each with one level of optimisation, and with the other where everything is tried.
  private static let compilers =
    [("clang", "-O2"), ("gcc", "-O0")] + (Thorough.isOn ? [("clang", "-O0"), ("gcc", "-O2")] : [])

  @Test(arguments: compilers)
  func hostileStacksOfC(compiler: String, optimization: String) throws {
    let program = try Recorder.temporaryPath("hostile")
    let bare = try Recorder.temporaryPath("bare.o")
    let withoutTables = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-omit-frame-pointer"]
    try Recorder.run(compiler, [optimization, "-c", fixture("bare.c"), "-o", bare] + withoutTables).expectSuccess()
    try Recorder.run(
      compiler,
      [optimization, "-fomit-frame-pointer", "-fno-builtin", fixture("hostile.c"), bare, "-o", program]
        + ["-pthread", "-ldl"]
    ).expectSuccess()
    let plugins = try plugins(compiler: compiler, optimization: optimization)
    try compare(program, plugins, atLeast: 20_000)
  }

  /// With frame pointers: where libunwind goes on by one, it does not know the stack pointer.
  @Test(arguments: compilers)
  func framesWithoutAPlainRule(compiler: String, optimization: String) throws {
    let program = try Recorder.temporaryPath("odd_frames")
    try Recorder.run(
      compiler,
      [optimization, "-fno-omit-frame-pointer", "-fno-builtin", fixture("odd_frames.c"), "-o", program, "-pthread"]
    ).expectSuccess()
    try compare(program, ["15"], atLeast: 20_000)
  }

  @Test(arguments: Recorder.levels)
  func exceptionsAndContainersOfCPlusPlus(optimization: String) throws {
    let program = try Recorder.temporaryPath("exceptions")
    try Recorder.run(
      "clang++", [optimization, "-std=c++17", fixture("exceptions.cpp"), "-o", program, "-pthread"]
    ).expectSuccess()
    try compare(program, atLeast: 2_000)
  }

  @Test(arguments: [["-O"], ["-Onone", "-g"]])
  func swiftConcurrencyDispatchAndFoundation(flags: [String]) throws {
    let program = try Recorder.temporaryPath("concurrency")
    try Recorder.run(
      "swiftc", flags + ["-parse-as-library", fixture("concurrency.swift"), "-o", program]
    ).expectSuccess()
    try compare(program, atLeast: 3_000)
  }

  /// A search tree and a parser: nearly each block has another stack, whose outer frames are those of the last one.
  @Test(arguments: Thorough.isOn ? [["-O"], ["-Onone", "-g"]] : [["-O"]])
  func recursionsWithAStackForEachBlock(flags: [String]) throws {
    let program = try Recorder.temporaryPath("recursions")
    try Recorder.run("swiftc", flags + [fixture("recursions.swift"), "-o", program]).expectSuccess()
    try compare(program, interval: 3, atLeast: 10_000)
  }

  @Test(arguments: Thorough.isOn ? [["-O"], ["-Onone", "-g"]] : [["-O"]])
  func codersOfFoundation(flags: [String]) throws {
    let program = try Recorder.temporaryPath("json")
    let source = fixture("../../../../Checks/BenchWorkloads/foundation_json.swift")
    try Recorder.run("swiftc", flags + [source, "-o", program]).expectSuccess()
    try compare(program, ["3"], interval: 5, atLeast: 5_000)
  }

  /// Functions without unwind information are left by what their code does: the same as their tables say, where they have
  /// one.
  @Test func waysOutOfFunctionsAreFollowed() throws {
    let target = try Recorder.run("swiftc", ["-print-target-info"])
    let libraries = try #require(target.output.firstMatch(of: #/"runtimeLibraryPaths": \[\s*"([^"]+)"/#))
    let program = try Recorder.linkProgram("unwind/epilogues.c", optimization: "-O2")
    let outcome = try Recorder.run(program, [libraries.1 + "/libswiftCore.so"])
    try outcome.expectSuccess()
    let counts = outcome.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    try #require(counts.count == 4, "\(outcome.output)")
    #expect(counts[0] > 10_000)
    #expect(counts[1] == 0, "\(outcome.errors)")
    #expect(counts[2] < counts[0] / 5)
    #expect(counts[3] == 0)
  }

  @Test func oddFramesStayInTheCacheAndDeadEndsAreRemembered() throws {
    let program = try Recorder.linkProgram("unwind/dead_ends.c", optimization: "-O2")
    try Recorder.run(program, []).expectSuccess()
  }

  /// Stacks that come again, and those that differ from them far out or in one word; contexts, alternate signal stacks and stacks made
  /// by hand, whose memory goes away and comes again; captures in a signal handler, which do not disturb the interrupted one.
  @Test(arguments: ["memo", "other_stacks", "walked"], Recorder.levels)
  func capturesAreWhatAWalkFinds(name: String, optimization: String) throws {
    let program = try Recorder.linkProgram("unwind/\(name).c", optimization: optimization)
    try Recorder.run(program, []).expectSuccess()
  }
}
