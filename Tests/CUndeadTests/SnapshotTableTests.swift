import Testing

@Suite(.timeLimit(.minutes(20))) struct SnapshotTableTests {
  @Test(arguments: Recorder.levels)
  func everyTextIsThereOnce(optimization: String) throws {
    let program = try Recorder.linkProgram("session/strings.c", optimization: optimization)
    try Recorder.run(program, []).expectSuccess()
  }
}
