import ArgumentParser
import UndeadAttach

/// Where the files of the program are that a core file is of.
struct CoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Of a core file from another machine or container: the root directory of a file system that has the program's files.",
      valueName: "directory"), completion: .directory)
  var sysroot: String?

  @Option(
    help: ArgumentHelp(
      "Of a core file: a directory with files of the program (executable, libraries), found by name. Can be given several "
        + "times.", valueName: "directory"), completion: .directory)
  var binaries: [String] = []

  func search() throws(ToolError) -> BinarySearch {
    for (option, directory) in [("--sysroot", sysroot)] + binaries.map({ ("--binaries", $0) }) {
      guard let directory, !System.isDirectory(directory) else { continue }
      throw .misuse("\(option) \(directory): there is no such directory")
    }
    return BinarySearch(root: sysroot, directories: binaries)
  }
}
