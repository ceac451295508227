import Glibc

/// Where a report goes: standard error, standard output, or a file that was opened before any work was done.
final class OutputSink {
  private let descriptor: Int32
  private let name: String
  private let path: String?
  /// True for a file that this sink made and that is of no use as long as nothing was written.
  private var isBlank = false
  /// Which snapshot on request it is for; nil for the report at the end.
  let number: Int?
  /// True if a person reads along.
  let isTerminal: Bool

  /// The terminal that it is written to; nil for a file or a pipe.
  var terminal: Terminal? { isTerminal ? Terminal(descriptor: descriptor) : nil }

  /// The report of a program goes to standard error, which leaves standard output to the program.
  static var standardError: OutputSink { OutputSink(descriptor: STDERR_FILENO, name: "standard error") }
  static var standardOutput: OutputSink { OutputSink(descriptor: STDOUT_FILENO, name: "standard output") }

  private init(descriptor: Int32, name: String, number: Int? = nil) {
    self.number = number
    self.descriptor = descriptor
    self.name = name
    path = nil
    isTerminal = isatty(descriptor) == 1
  }

  /// Opens a file, which is emptied.
  ///
  /// - Parameters:
  ///   - option: the option that names the file.
  /// - Throws: `ToolError` (misuse) if it cannot be written.
  init(file: String, option: String = "--output", number: Int? = nil) throws(ToolError) {
    self.number = number
    let existed = access(file, F_OK) == 0
    descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0o666)
    name = "'\(file)'"
    path = file
    guard descriptor >= 0 else {
      let reason = System.reason()
      isTerminal = false
      throw .misuse("cannot write the report to '\(file)' (\(option)): \(reason); name a file that you can write")
    }
    isTerminal = isatty(descriptor) == 1
    isBlank = !existed
  }

  deinit {
    // Who looks for the report is to find none rather than an empty one, if there was nothing to report on.
    if isBlank, let path { unlink(path) }
    if path != nil && descriptor >= 0 { close(descriptor) }
  }

  /// A sink for the report of a snapshot on request: a numbered file beside this one, or the same stream.
  func numbered(_ number: Int) throws(ToolError) -> OutputSink {
    guard let path else { return OutputSink(descriptor: descriptor, name: name, number: number) }
    return try OutputSink(file: "\(path).\(number)", number: number)
  }

  /// Writes a report.
  ///
  /// - Throws: `ToolError` (failure) if not all of it could be written.
  func write(_ bytes: some Collection<UInt8>) throws(ToolError) {
    isBlank = false
    if let code = System.write(bytes, to: descriptor) {
      throw .failure("cannot write the report to \(name): \(System.reason(code)); what is there is not complete")
    }
  }

  /// Writes a report in a form of JSON.
  ///
  /// - Throws: `ToolError` (failure): it could not be made or not all of it written.
  func writeJSON<Bytes: Collection<UInt8>>(_ bytes: () throws -> Bytes) throws(ToolError) {
    let made: Bytes
    do {
      made = try bytes()
    } catch {
      throw .failure("cannot write the report as JSON: \(error)")
    }
    try write(made)
  }
}
