import UndeadSystem

/// Starts the program exactly as the tool itself was started, but for its environment.
enum Launcher {
  /// Starts `executable` and returns its process id.
  ///
  /// The program stays in the tool's process group and terminal, inherits its descriptors (all of the tool's own are
  /// closed), its signal dispositions, and gets `mask` as its signal mask.
  static func start(
    executable: String, arguments: [[UInt8]], environment: [[UInt8]], mask: sigset_t
  ) throws(ToolError) -> pid_t {
    func start(_ path: String, _ arguments: [[UInt8]]) throws(Spawn.Refusal) -> pid_t {
      var spawn = Spawn(path, arguments)
      spawn.environment = environment
      spawn.signalMask = mask
      return try spawn.start()
    }
    do throws(Spawn.Refusal) {
      do throws(Spawn.Refusal) {
        return try start(executable, arguments)
      } catch {
        guard error.code == ENOEXEC else { throw error }
        // A script without a first line that names its interpreter: every shell and execvp give it to sh.
        return try start("/bin/sh", [Array("sh".utf8), Array(executable.utf8)] + arguments.dropFirst())
      }
    } catch {
      throw .misuse("cannot run '\(executable)': \(explain(error.code))")
    }
  }

  private static func explain(_ code: Int32) -> String {
    switch code {
    case E2BIG: "its arguments and environment are too long; pass fewer"
    case ENOENT: "the dynamic loader that it asks for does not exist on this machine"
    case ENOMEM, EAGAIN: "\(SystemError.text(code)); free memory or processes, or raise the limit (ulimit -a)"
    default: SystemError.text(code)
    }
  }
}
