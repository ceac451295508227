import Foundation

#if FUZZING
  /// The reader that is tried, by `UNDEAD_FUZZ`.
  private let reader: Reader = {
    guard let reader = ProcessInfo.processInfo.environment["UNDEAD_FUZZ"].flatMap(Reader.init) else {
      fatalError("UNDEAD_FUZZ names no reader: \(Reader.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return reader
  }()

  private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  /// The driver of libFuzzer, which the compiler links with `-sanitize=fuzzer`. Its own `main` gives way to that of SwiftPM.
  @_silgen_name("LLVMFuzzerRunDriver")
  private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>,
    _ read: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
  ) -> CInt

  /// What libFuzzer calls with each input.
  @_cdecl("LLVMFuzzerTestOneInput")
  public func readInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    reader.read(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Gives the inputs of the corpora to the readers; with `-D FUZZING` libFuzzer makes inputs (`scripts/check/fuzz`).
@main enum Fuzzing {
  static func main() throws {
    if CommandLine.argc == 3, CommandLine.arguments[1] == "--seeds" {
      return try Seeds.write(to: URL(filePath: CommandLine.arguments[2]))
    }
    #if FUZZING
      var count = CommandLine.argc
      var arguments = CommandLine.unsafeArgv
      exit(runDriver(&count, &arguments, readInput))
    #else
      try replay(CommandLine.arguments.dropFirst())
    #endif
  }

  /// Reads each file of the folders in `arguments`; the name of a folder is that of a reader.
  private static func replay(_ arguments: ArraySlice<String>) throws {
    guard !arguments.isEmpty else {
      print("usage: undead-fuzz CORPUS... | --seeds DIRECTORY")
      exit(64)
    }
    for argument in arguments {
      let folder = URL(filePath: argument)
      guard let reader = Reader(rawValue: folder.lastPathComponent) else {
        print(
          "undead-fuzz: '\(argument)' is not named like a reader: \(Reader.allCases.map(\.rawValue).joined(separator: ", "))"
        )
        exit(64)
      }
      let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      for file in files.sorted(by: { $0.path < $1.path }) {
        // A trap ends the process: the last line names the file.
        print("\(reader.rawValue)/\(file.lastPathComponent)")
        reader.read(Array(try Data(contentsOf: file)))
      }
    }
    if Reader.problems > 0 { exit(1) }
  }
}
