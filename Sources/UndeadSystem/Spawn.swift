#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  /// A process that is to be started: the one place in Swift code that calls `posix_spawn`.
  ///
  /// It stays in the process group and terminal of this one, keeps its ignored signals, and inherits the descriptors that are not
  /// closed at `exec`.
  package struct Spawn {
    /// What a descriptor of the new process is.
    package enum File {
      case same(as: Int32)
      case null
    }

    /// The system did not start it.
    package struct Refusal: Error {
      /// As `errno`.
      package let code: Int32
    }

    package let path: String
    /// The first one is the name that the process goes by.
    package let arguments: [[UInt8]]
    /// As `NAME=VALUE`; nil for that of this process.
    package var environment: [[UInt8]]?
    package var files: [Int32: File] = [:]
    /// Signals that it begins with blocked; nil for those of this thread.
    package var signalMask: sigset_t?
    /// True for a session of its own: Ctrl-C in the terminal does not concern it.
    package var hasOwnSession = false

    package init(_ path: String, _ arguments: [[UInt8]]) {
      self.path = path
      self.arguments = arguments
    }

    package init(_ path: String, _ arguments: [String]) {
      self.init(path, arguments.map { Array($0.utf8) })
    }

    package func start() throws(Refusal) -> pid_t {
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      for (number, file) in files.sorted(by: { $0.key < $1.key }) {
        switch file {
        case .same(let other): posix_spawn_file_actions_adddup2(&actions, other, number)
        case .null: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        }
      }
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      // POSIX_SPAWN_SETSID of <spawn.h>, which Swift does not see.
      var flags: Int16 = hasOwnSession ? 0x80 : 0
      if var signalMask {
        posix_spawnattr_setsigmask(&attributes, &signalMask)
        flags |= Int16(POSIX_SPAWN_SETSIGMASK)
      }
      posix_spawnattr_setflags(&attributes, flags)
      var pid: pid_t = 0
      let code = Self.withCStrings(arguments) { argv in
        guard let environment else { return posix_spawn(&pid, path, &actions, &attributes, argv, environ) }
        return Self.withCStrings(environment) { posix_spawn(&pid, path, &actions, &attributes, argv, $0) }
      }
      guard code == 0 else { throw Refusal(code: code) }
      return pid
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
#endif
