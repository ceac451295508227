import UndeadSystem

/// Thin wrappers around the C library, for what Swift has no words for.
enum System {
  /// A variable of the tool's environment; nil if it is unset or empty.
  static func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  /// The tool's whole environment as `NAME=VALUE`, byte for byte: nothing says that it is UTF-8.
  static func environment() -> [[UInt8]] {
    var entries: [[UInt8]] = []
    var next = environ
    while let entry = next.pointee {
      entries.append(bytes(of: entry))
      next += 1
    }
    return entries
  }

  /// The last `count` arguments of the tool, byte for byte.
  static func lastArguments(_ count: Int) -> [[UInt8]] {
    let end = Int(CommandLine.argc)
    return (max(0, end - count)..<end).compactMap { CommandLine.unsafeArgv[$0].map { bytes(of: $0) } }
  }

  private static func bytes(of text: UnsafePointer<CChar>) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }

  static var currentDirectory: String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
  }

  /// The directory of the repository that the current directory is in; the current directory if it is in none.
  static var repositoryRoot: String {
    var directory = currentDirectory
    while !directory.isEmpty, access("\(directory)/.git", F_OK) != 0 {
      directory = directory.lastIndex(of: "/").map { String(directory[..<$0]) } ?? ""
    }
    return directory.isEmpty ? currentDirectory : directory
  }

  static func status(of path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }

  static func isDirectory(_ path: String) -> Bool {
    status(of: path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
  }

  /// Writes everything, or returns the error number.
  static func write(_ bytes: some Collection<UInt8>, to descriptor: Int32) -> Int32? {
    Array(bytes).withUnsafeBytes { StreamWriter.write($0, to: descriptor) }
  }

  /// Keeps files of the tool's own off the numbers of standard streams that it was started without.
  ///
  /// The program is started without them, too.
  static func occupyClosedStandardStreams() {
    for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
      // The lowest free number is the one that is missing.
      _ = open("/dev/null", O_RDWR | O_CLOEXEC)
    }
  }
}
