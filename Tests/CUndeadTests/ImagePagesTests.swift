import Testing
import UndeadTestSupport

/// Code and tables of images are given back where they are as in their files.
@Suite(.timeLimit(.minutes(20))) struct ImagePagesTests {
  @Test func pagesAsInTheFileGoAndChangedOnesStay() throws {
    let program = try Recorder.temporaryPath("image-pages")
    let source = Recorder.fixtures.appending(path: "platform/image_pages.c").path
    let code = InstrumentSources.Layer.platform.folder.appending(path: "platform/images/image_pages.c").path
    try Recorder.run("clang", ["-O1", "-g"] + InstrumentSources.includeOptions + [source, code, "-o", program])
      .expectSuccess()
    try Recorder.run(program, []).expectSuccess()
  }
}
