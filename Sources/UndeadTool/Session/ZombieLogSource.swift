import UndeadAttach
import UndeadReport
import UndeadSystem

/// Where the logs of uses of dead objects are.
enum ZombieLogSource {
  /// In the files of a session.
  case session(SessionFolder)
  /// In the memory of a process that was not started under the tool.
  case process(LiveZombieLog)

  /// More than the library ever writes.
  private static let limit = 16 << 20
  private static let suffix = ".zombies"

  var names: [String] {
    switch self {
    case .session(let session): session.names(endingIn: Self.suffix)
    case .process(let log): log.read() == nil ? [] : ["\(log.pid)\(Self.suffix)"]
    }
  }

  /// How much each process has logged, by the name of its log.
  var sizes: [String: UInt64] {
    var sizes: [String: UInt64] = [:]
    for name in names {
      switch self {
      case .session(let session): sizes[name] = session.word(of: name, at: ZombieLog.usedOffset)
      case .process(let log): sizes[name] = log.last.map { UInt64($0.count) }
      }
    }
    return sizes
  }

  /// The bytes of a log; nil with `errno` set.
  func read(_ name: String) -> [UInt8]? {
    switch self {
    case .session(let session): session.read(name, limit: Self.limit)
    case .process(let log): log.last
    }
  }

  /// The file of the process's program; nil if it is not known.
  func executable(of pid: pid_t) -> String? {
    switch self {
    case .session(let session): session.state(of: pid)?.executable
    case .process(let log): log.executable
    }
  }
}
