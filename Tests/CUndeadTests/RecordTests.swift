import Testing
import UndeadTestSupport

@Suite(.timeLimit(.minutes(20))) struct RecordTests {
  @Test(arguments: Recorder.levels)
  func theAllocatorBehavesAsBeforeAndEveryLiveBlockIsKnown(optimization: String) throws {
    let program = try Recorder.linkProgram("record/semantics.c", optimization: optimization)
    try Recorder.run(program, []).expectSuccess()
  }

  @Test(arguments: Recorder.levels)
  func threadsAndForkedChildrenAllocateAtTheSameTime(optimization: String) throws {
    let program = try Recorder.linkProgram("record/storm.c", optimization: optimization)
    try Recorder.run(program, []).expectSuccess()
  }

  /// What is not asked at each allocation any more: modes, scopes, filters, what a child of a fork did not inherit.
  @Test(arguments: Recorder.levels)
  func hooksTakeTheShortWayWhereThatIsEnough(optimization: String) throws {
    let program = try Recorder.linkProgram("record/ways.c", optimization: optimization)
    try Recorder.run(program, []).expectSuccess()
  }

  /// What a check called a leak and the program frees is found out; other blocks are freed as before when there is nothing to look for.
  @Test(arguments: Recorder.levels)
  func blocksThatChecksCalledLeaksAreLookedForAmongThoseThatAreFreed(optimization: String) throws {
    let program = try Recorder.linkProgram("record/claims.c", optimization: optimization)
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

  /// Also where a function of the program stands at the place of the hook that was left.
  @Test(arguments: Recorder.levels)
  func signalHandlersMayJumpOutOfTheAllocator(optimization: String) throws {
    let program = try Recorder.linkProgram("record/jumps.c", optimization: optimization)
    try Recorder.run(program, []).expectSuccess()
  }

  @Test(arguments: Recorder.levels)
  func threadsMayEndAndForkInTheMiddleOfTheAllocator(optimization: String) throws {
    let program = try Recorder.linkProgram("record/endings.c", optimization: optimization)
    try Recorder.run(program, []).expectSuccess()
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

  /// The instrument is optimised in every build.
  @Test func allocationsNeedLittleStack() throws {
    let program = try Recorder.linkProgram("record/stacks.c", optimization: "-O2")
    try Recorder.run(program, []).expectSuccess()
  }

  @Test func thousandsOfThreadsAreRecordedAtABoundedCost() throws {
    let program = try Recorder.linkProgram("record/threads.c", optimization: "-O2")
    try Recorder.run(program, []).expectSuccess()
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
