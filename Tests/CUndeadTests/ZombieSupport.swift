import Foundation
import UndeadTestSupport

/// A zombie in a log of a session directory (Documentation/session-protocol.md).
struct LoggedZombie {
  var kind: String
  var flags: UInt32
  var accessor: UInt32
  var offset: UInt32
  var count: UInt64
  var implementation: UInt64
  var deathTime: UInt64
  var allocation: [UInt64]
  var deallocation: [UInt64]
  var access: [UInt64]
  var type: String
  var field: String
  var note: String
}

/// What one process logged.
struct ZombieLog {
  static let kinds = [
    "void", "method", "release", "retain", "field", "unowned", "cast", "closure", "timerTarget", "overflow",
    "escape",
  ]

  var flags: UInt32
  var lastSignal: UInt32
  var zombies: [LoggedZombie] = []
  var modules: [(range: Range<UInt64>, path: String)] = []

  init?(_ data: Data) {
    func number<Number: FixedWidthInteger>(_ offset: Int, as type: Number.Type) -> Number {
      data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
    func texts(_ start: Int, _ size: Int) -> [String] {
      data[start..<start + size].split(separator: 0, omittingEmptySubsequences: false).map {
        String(decoding: $0, as: UTF8.self)
      }
    }
    guard data.count >= 256, data.prefix(8).elementsEqual("UNDEADZO".utf8) else { return nil }
    flags = number(24, as: UInt32.self)
    lastSignal = number(28, as: UInt32.self)
    var record = Int(number(12, as: UInt32.self))
    let used = Int(number(32, as: UInt64.self))
    while record < used {
      func field(_ offset: Int) -> UInt32 { number(record + offset, as: UInt32.self) }
      func wide(_ offset: Int) -> UInt64 { number(record + offset, as: UInt64.self) }
      if field(4) == 1 {
        let counts = [field(72), field(76), field(80)].map(Int.init)
        let frames = (0..<counts.reduce(0, +)).map { wide(88 + 8 * $0) }
        let text = texts(record + 88 + 8 * frames.count, Int(field(84)))
        zombies.append(
          LoggedZombie(
            kind: Self.kinds[Int(field(8))], flags: field(12), accessor: field(16), offset: field(20), count: wide(56),
            implementation: wide(32), deathTime: wide(48), allocation: Array(frames.prefix(counts[0])),
            deallocation: Array(frames.dropFirst(counts[0]).prefix(counts[1])), access: Array(frames.suffix(counts[2])),
            type: text[0], field: text[1], note: text[4]))
      } else if field(4) == 2 {
        var module = record + 16
        for _ in 0..<field(8) {
          let size = Int(number(module + 24, as: UInt32.self))
          let range = number(module, as: UInt64.self)..<number(module + 8, as: UInt64.self)
          modules.append((range, texts(module + 32, size)[0]))
          module += (32 + size + 7) & ~7
        }
      }
      record += Int(field(0))
    }
  }

  /// The zombies that no later record explains.
  var findings: [LoggedZombie] { zombies.filter { $0.kind != "void" } }
}

/// `Programs/Zombies`, with the preloaded library in a session of its own.
enum ZombieProgram {
  struct Run {
    var text: String
    var exit: Int32?
    var signal: Int32?
    var logs: [ZombieLog]
    var findings: [LoggedZombie] { logs.flatMap(\.findings) }
  }

  enum Build: String, CaseIterable {
    case debug = "-Onone"
    case release = "-O"
    case staticRuntime = "-static-stdlib"
  }

  static func run(_ build: Build, _ ways: String..., settings: [String: String] = [:]) throws -> Run {
    try run(build, ways, settings: settings)
  }

  static func run(
    _ build: Build, _ ways: [String], settings: [String: String], in group: ControlGroup? = nil
  ) throws -> Run {
    let session = try TemporaryDirectory()
    let given = [
      "LD_PRELOAD": try BuildProducts.preloadLibrary(), "UNDEAD_SESSION": session.path, "UNDEAD_ZOMBIES": "1",
      "SWIFT_BACKTRACE": "enable=no",
    ]
    let program = try executable(build)
    let arguments = group.map { ["-c", $0.command, program] + ways } ?? ways
    let outcome = try Recorder.run(
      group == nil ? program : "/bin/sh", arguments, environment: given.merging(settings) { $1 })
    let files = try FileManager.default.contentsOfDirectory(at: session.url, includingPropertiesForKeys: nil)
    let logs = try files.filter { $0.pathExtension == "zombies" }.compactMap { ZombieLog(try Data(contentsOf: $0)) }
    return Run(
      text: outcome.text, exit: outcome.signalled ? nil : outcome.status,
      signal: outcome.signalled ? outcome.status : nil, logs: logs)
  }

  private static let programs = Dictionary(uniqueKeysWithValues: Build.allCases.map { ($0, Once()) })

  /// Compiled when it is first needed.
  private static func executable(_ build: Build) throws -> String { try programs[build]!.get { try compile(build) } }

  private static func compile(_ build: Build) throws -> String {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Programs").path
    let imported = InstrumentSources.interfaceOptions.map { "-Xcc '\($0)'" }.joined(separator: " ")
    let program = "\(try TemporaryDirectory.untilExit().path)/zombie"
    let options = "\(build.rawValue) -g -swift-version 5 -module-name App"
    let bridge = "-import-objc-header '\(InstrumentSources.interface)/undead_zombies.h' \(imported)"
    try ScanProgram.shell("swiftc \(options) \(bridge) '\(sources)'/Zombies/*.swift -o '\(program)'")
    return program
  }
}

/// A value that is made once, by the first who asks.
final class Once: @unchecked Sendable {
  // Guarded by the lock.
  private var result: Result<String, any Error>?
  private let lock = NSLock()

  func get(_ make: () throws -> String) throws -> String {
    lock.lock()
    defer { lock.unlock() }
    let made = result ?? Result { try make() }
    result = made
    return try made.get()
  }
}
