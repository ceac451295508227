import Testing
import UndeadTestSupport

/// The store of backtraces by itself.
@Suite(.timeLimit(.minutes(20))) struct StoreTests {
  @Test func eachBacktraceIsThereOnceAndReadsAsItWas() throws {
    let program = try Recorder.temporaryPath("store")
    let source = Recorder.fixtures.appending(path: "unwind/store.c").path
    let platform = InstrumentSources.Layer.platform.files(["reserve", "memory", "own_data"])
    let store = InstrumentSources.Layer.record.folder.appending(path: "unwind/store/store.c").path
    let options = ["-O1", "-g", "-pthread"] + InstrumentSources.includeOptions
    try Recorder.run("clang", options + [source, store] + platform + ["-o", program]).expectSuccess()
    try Recorder.run(program, []).expectSuccess()
  }
}
