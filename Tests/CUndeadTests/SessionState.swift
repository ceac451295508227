import Foundation

/// The state file of a process (`Documentation/session-protocol.md`).
struct SessionState {
  enum Stage: UInt32 {
    case loaded = 1
    case recording, scanning, written, stoodAside, failed, unchecked, aboutToExec
  }

  var pid: Int32
  var parent: Int32
  var generation: UInt32
  var stage: Stage?
  var swiftSeen: Bool
  var forked: Bool
  var snapshots: UInt32
  var requests: UInt32
  var answers: UInt32
  var message: String
  var newestSnapshot: String

  init?(contentsOf file: URL) {
    guard let bytes = try? Data(contentsOf: file), bytes.count == 4096 else { return nil }
    guard bytes.prefix(8) == Data("UNDEADST".utf8) else { return nil }
    func number(_ offset: Int) -> UInt32 {
      bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
    func text(_ offset: Int, _ size: Int) -> String {
      String(decoding: bytes[offset..<offset + size].prefix { $0 != 0 }, as: UTF8.self)
    }
    pid = Int32(number(12))
    parent = Int32(number(16))
    generation = number(20)
    stage = Stage(rawValue: number(24))
    swiftSeen = number(28) & 1 != 0
    forked = number(28) & 2 != 0
    snapshots = number(32)
    requests = number(36)
    answers = number(44)
    message = text(128, 512)
    newestSnapshot = text(640, 512)
  }
}
