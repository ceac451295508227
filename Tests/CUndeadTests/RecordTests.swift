import Testing
import UndeadTestSupport

@Suite(.timeLimit(.minutes(20))) struct RecordTests {
  /// What each shows is said at its start.
  @Test(arguments: ["semantics", "storm", "ways", "claims", "jumps", "endings"], Recorder.levels)
  func aProgramThatKnowsItsBlocks(name: String, optimization: String) throws {
    let program = try Recorder.linkProgram("record/\(name).c", optimization: optimization)
    try Recorder.run(program, []).expectSuccess()
  }

  /// What they cost: the instrument is optimised in every build.
  @Test(arguments: ["stacks", "threads"])
  func littleStackAndMemoryIsNeeded(name: String) throws {
    let program = try Recorder.linkProgram("record/\(name).c", optimization: "-O2")
    try Recorder.run(program, []).expectSuccess()
  }

  /// Its lists of freed blocks are used without a call, unless somebody set how long they are.
  @Test(arguments: Recorder.levels)
  func glibcDoesNotNoticeThatItsCachesAreUsed(optimization: String) throws {
    let program = try Recorder.linkProgram("record/caches.c", optimization: optimization)
    try Recorder.run(program, []).expectSuccess()
    try Recorder.run(program, [], environment: ["UNDEAD_SAMPLE": "4KiB"]).expectSuccess()
    let settings = ["GLIBC_TUNABLES": "glibc.malloc.tcache_count=3"]
    try Recorder.run(program, ["not known"], environment: settings).expectSuccess()
  }

  /// The list of them by itself.
  @Test func groupsWhereBlocksCameLatelyAreEachKnownOnce() throws {
    let program = try Recorder.temporaryPath("recent")
    let source = Recorder.fixtures.appending(path: "record/recent.c").path
    let platform = InstrumentSources.Layer.platform.files(["memory", "own_data"])
    let recent = InstrumentSources.Layer.record.folder.appending(path: "record/blocks/recent.c").path
    let options = ["-O1", "-g", "-pthread"] + InstrumentSources.includeOptions
    try Recorder.run("clang", options + [source, recent] + platform + ["-o", program]).expectSuccess()
    try Recorder.run(program, []).expectSuccess()
  }

  @Test(arguments: Recorder.levels)
  func eachBlockTellsItsGeneration(optimization: String) throws {
    let program = try Recorder.linkProgram("record/generations.c", optimization: optimization)
    try Recorder.run(program, []).expectSuccess()
    let compared = try Recorder.run(program, [], environment: ["UNDEAD_COMPARE": "1"])
    try compared.expectSuccess()
    #expect(compared.errors.contains(", 0 differ"), "\(compared.errors)")
  }

  /// Blocks, what of them is sampled with which chance, what is thrown away, estimates.
  @Test(arguments: Recorder.levels)
  func aSampleIsBoundedAndUnbiased(optimization: String) throws {
    let program = try Recorder.linkProgram("record/sampled.c", optimization: optimization)
    let settings = ["UNDEAD_SAMPLE": "4KiB", "UNDEAD_STORE_BYTES": "64KiB"]
    try Recorder.run(program, [], environment: settings).expectSuccess()
  }

  /// Threads, forks, signal handlers that allocate or jump away, ends of threads, and small stacks.
  @Test(arguments: ["storm", "jumps", "endings", "stacks"])
  func aSampleBearsWhatFullRecordingBears(name: String) throws {
    let program = try Recorder.linkProgram("record/\(name).c", optimization: "-O2")
    let settings = ["UNDEAD_SAMPLE": "256", "UNDEAD_STORE_BYTES": "64KiB"]
    try Recorder.run(program, [], environment: settings).expectSuccess()
  }

  @Test func nothingIsRecordedWhereItIsSwitchedOff() throws {
    let library = try Recorder.buildLibrary(optimization: "-O2")
    let outcome = try Recorder.run(
      "bash", ["-c", "exit 7"], environment: ["LD_PRELOAD": library, "UNDEAD": "0", "UNDEAD_COMPARE": "1"])
    #expect(outcome.status == 7)
    #expect(outcome.errors.isEmpty)
  }

  @Test func aLimitOfTheAddressSpaceLeavesMostOfItToTheProgram() throws {
    let library = try Recorder.buildLibrary(optimization: "-O2")
    let outcome = try Recorder.run(
      "bash", ["-c", "ulimit -v 400000; LD_PRELOAD=\(library) sort </dev/null && echo sorted"])
    #expect(outcome.output == "sorted\n", "\(outcome.errors)")
  }
}
