import UndeadSystem

/// Where a report goes: standard error, standard output, or a file that was looked at before any work was done.
///
/// A regular file is replaced when the report is complete (``FileReplacement``), so that until then, and if nothing comes of
/// the run, there is what was there before. What is no regular file is open from the start, and written to as it is.
final class OutputSink {
  private enum Target {
    /// Not closed here.
    case standard(Int32)
    case stream(Int32)
    case file
  }

  private let target: Target
  private let name: String
  private let path: String?
  /// What the file has from this sink, of which a further write makes a whole again.
  private var written: [UInt8] = []
  /// Which snapshot on request it is for; nil for the report at the end.
  let number: Int?
  /// True if a person reads along.
  var isTerminal: Bool { descriptor.map { isatty($0) == 1 } ?? false }

  /// The terminal that it is written to; nil for a file or a pipe.
  var width: Int? { isTerminal ? descriptor.flatMap { Terminal.width($0) } : nil }

  /// The report of a program goes to standard error, which leaves standard output to the program.
  static var standardError: OutputSink { OutputSink(.standard(STDERR_FILENO), name: "standard error") }
  static var standardOutput: OutputSink { OutputSink(.standard(STDOUT_FILENO), name: "standard output") }

  private init(_ target: Target, name: String, number: Int? = nil) {
    self.number = number
    self.target = target
    self.name = name
    path = nil
  }

  /// Names a file that the report will replace.
  ///
  /// - Parameters:
  ///   - option: the option that names the file.
  init(file: String, option: String = "--output", number: Int? = nil) throws(ToolError) {
    self.number = number
    name = "'\(file)'"
    path = file
    func unwritable(_ code: Int32) -> ToolError {
      .misuse(
        "cannot write the report to '\(file)' (\(option)): \(SystemError.text(code)); name a file that you can write")
    }
    do throws(FileReplacement.SystemFailure) {
      target = try FileReplacement.stream(at: file).map { .stream($0) } ?? .file
    } catch {
      throw unwritable(error.code)
    }
    if case .file = target, let code = FileReplacement.obstacle(at: file) { throw unwritable(code) }
  }

  deinit { if case .stream(let descriptor) = target { close(descriptor) } }

  /// nil for a regular file.
  private var descriptor: Int32? {
    switch target {
    case .standard(let descriptor), .stream(let descriptor): descriptor
    case .file: nil
    }
  }

  /// A sink for the report of a snapshot on request: a numbered file beside this one, or the same stream.
  func numbered(_ number: Int) throws(ToolError) -> OutputSink {
    switch target {
    case .standard(let descriptor): OutputSink(.standard(descriptor), name: name, number: number)
    case .stream(let descriptor): OutputSink(.stream(fcntl(descriptor, F_DUPFD_CLOEXEC, 3)), name: name, number: number)
    case .file: try OutputSink(file: "\(path!).\(number)", number: number)
    }
  }

  /// Writes a report, or more of one.
  func write(_ bytes: some Collection<UInt8>) throws(ToolError) {
    if let descriptor {
      guard let code = System.write(bytes, to: descriptor) else { return }
      throw .failure("cannot write the report to \(name): \(SystemError.text(code)); what is there is not complete")
    }
    let all = written + bytes
    if let code = FileReplacement.write(all, to: path!) {
      throw .failure("cannot write the report to \(name): \(SystemError.text(code))")
    }
    written = all
  }

  /// Writes a report in a form of JSON.
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
