import Glibc

/// What a process of the session has said about itself (`Documentation/session-protocol.md`, "State file").
struct ProcessState: Equatable {
  enum Stage: UInt32 {
    case loaded = 1
    case recording, scanning, snapshotWritten, stoodAside, snapshotFailed, exitedWithoutCheck, aboutToExec
  }

  static let size = 4096
  /// Where the tool writes what it asks for.
  static let requestOffset = 3200
  private static let magic = Array("UNDEADST".utf8)
  private static let version: UInt32 = 1

  var pid: pid_t
  var parent: pid_t
  /// Counts the programs that this process has been, from 1.
  var generation: UInt32
  /// nil for a stage that this version of the tool does not know.
  var stage: Stage?
  var swiftSeen: Bool
  var forkedWithoutExec: Bool
  var snapshotsWritten: UInt32
  var requestsReceived: UInt32
  var requestsAnswered: UInt32
  /// Of the step under way, per mille.
  var progress: UInt32
  /// The generation that the last request to mark one began; 0 if it could not.
  var marked: UInt32
  var step: String
  var message: String
  var newestSnapshot: String
  var executable: String
  /// The first ones, its own name before them, separated by blanks.
  var arguments: String

  /// Reads the content of a state file; nil if it is none, or is not yet filled in.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.size, bytes.starts(with: Self.magic) else { return nil }
    func number(_ offset: Int) -> UInt32 {
      bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
    func text(_ offset: Int, _ size: Int) -> String {
      String(decoding: bytes[offset..<offset + size].prefix { $0 != 0 }, as: UTF8.self)
    }
    guard number(8) == Self.version, let pid = pid_t(exactly: number(12)), pid > 0 else { return nil }
    self.pid = pid
    parent = pid_t(truncatingIfNeeded: number(16))
    generation = number(20)
    stage = Stage(rawValue: number(24))
    swiftSeen = number(28) & 1 != 0
    forkedWithoutExec = number(28) & 2 != 0
    snapshotsWritten = number(32)
    requestsReceived = number(36)
    progress = min(number(40), 1000)
    requestsAnswered = number(44)
    marked = number(3456)
    step = text(64, 64)
    message = text(128, 512)
    newestSnapshot = text(640, 512)
    executable = text(1152, 1024)
    arguments = text(2176, 1024)
  }

  /// True if the process, once it has ended, was killed or crashed before the check could be made.
  var wasKilled: Bool { stage == .loaded || stage == .recording || stage == .scanning }

  /// True if it ended in a way that allows no check.
  var diedUnchecked: Bool { wasKilled || stage == .exitedWithoutCheck || stage == .aboutToExec }

  /// The executable and its arguments, shortened to read well in a sentence.
  var commandLine: String {
    let words = arguments.split(separator: " ").dropFirst()
    guard !words.isEmpty else { return executable }
    let text = ([executable] + words.map(String.init)).joined(separator: " ")
    return text.count > 200 ? text.prefix(197) + "..." : text
  }
}
