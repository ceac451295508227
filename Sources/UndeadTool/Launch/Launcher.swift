import Glibc

/// Starts the program exactly as the tool itself was started, but for its environment.
enum Launcher {
  /// Starts `executable` and returns its process id.
  ///
  /// The program stays in the tool's process group and terminal, inherits its descriptors (all of the tool's own are
  /// closed), its signal dispositions, and gets `mask` as its signal mask.
  ///
  /// - Throws: `ToolError` (misuse) if the system refuses to run it.
  static func start(
    executable: String, arguments: [[UInt8]], environment: [[UInt8]], mask: sigset_t
  ) throws(ToolError) -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = mask
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

    var (code, pid) = spawn(executable, arguments, environment, &attributes)
    if code == ENOEXEC {
      // A script without a first line that names its interpreter: every shell and execvp give it to sh.
      (code, pid) = spawn(
        "/bin/sh", [Array("sh".utf8), Array(executable.utf8)] + arguments.dropFirst(), environment, &attributes)
    }
    guard code == 0 else { throw .misuse("cannot run '\(executable)': \(explain(code))") }
    return pid
  }

  private static func spawn(
    _ executable: String, _ arguments: [[UInt8]], _ environment: [[UInt8]], _ attributes: inout posix_spawnattr_t
  ) -> (code: Int32, pid: pid_t) {
    var pid: pid_t = 0
    let code = withCStrings(arguments) { argv in
      withCStrings(environment) { envp in posix_spawn(&pid, executable, nil, &attributes, argv, envp) }
    }
    return (code, pid)
  }

  private static func explain(_ code: Int32) -> String {
    switch code {
    case E2BIG: "its arguments and environment are too long; pass fewer"
    case ENOENT: "the dynamic loader that it asks for does not exist on this machine"
    case ENOMEM, EAGAIN: "\(System.reason(code)); free memory or processes, or raise the limit (ulimit -a)"
    default: System.reason(code)
    }
  }

  private static func withCStrings<Output>(
    _ strings: [[UInt8]], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Output
  ) -> Output {
    var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { bytes in
      (bytes + [0]).withUnsafeBytes { strdup($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
    }
    pointers.append(nil)
    defer { for pointer in pointers { free(pointer) } }
    return body(&pointers)
  }
}
