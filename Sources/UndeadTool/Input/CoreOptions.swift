import UndeadAttach

/// Where the files of the program are that a core file is of.
struct CoreOptions: ParsableArguments {
  @Option(
    "--sysroot <directory>",
    help:
      "Of a core file from another machine or container: the root directory of a file system that has the program's files.",
    brief: "of a core file from elsewhere: where its program's files are", completion: .directory)
  var sysroot: String?

  @Option(
    "--binaries <directory>",
    help:
      "Of a core file: a directory with files of the program (executable, libraries), found by name. Can be given several "
      + "times.", completion: .directory)
  var binaries: [String] = []

  func search() throws(ToolError) -> BinarySearch {
    for (option, directory) in [("--sysroot", sysroot)] + binaries.map({ ("--binaries", $0) }) {
      guard let directory, !System.isDirectory(directory) else { continue }
      throw .misuse("\(option) \(directory): there is no such directory")
    }
    return BinarySearch(root: sysroot, directories: binaries)
  }
}
