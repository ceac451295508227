/// Files in which a look at a program can be kept.
struct KeptFiles: ParsableArguments {
  @Option(
    "--save <file>",
    help: "Keep the snapshot, with all that is reported and its symbols, for 'undead leaks' and 'undead diff'.",
    brief: "keep what is reported, for 'undead leaks' and 'undead diff'", completion: .file)
  var save: String?

  @Option(
    "--heap <file>",
    help:
      "Keep the whole heap in this file, too ('undead run': at the program's end): every object and who holds it, for "
      + "'undead heap' and 'undead diff'.", brief: "keep the whole heap, for 'undead heap' and 'undead diff'",
    completion: .file)
  var heap: String?

  func checkWritable() throws(ToolError) {
    if let save { try SnapshotFile.checkWritable(save) }
    if let heap { try SnapshotFile.checkWritable(heap, option: "--heap") }
  }
}
