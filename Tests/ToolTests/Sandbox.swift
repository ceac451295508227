import Foundation
import Synchronization
import Testing
import UndeadTestSupport

@testable import UndeadReport
@testable import UndeadTool

/// A directory with a copy of the tool, the fake library where the tool looks for it, and files to run it on.
final class Sandbox {
  private let files: TemporaryDirectory
  private var environment: [String: String]

  struct Output {
    var status: Int32
    var out: String
    var error: String
  }

  init() throws {
    files = try TemporaryDirectory()
    for folder in ["bin", "lib/undead", "tmp"] {
      try FileManager.default.createDirectory(
        at: files.url.appending(path: folder), withIntermediateDirectories: true)
    }
    environment = ProcessInfo.processInfo.environment
    for name in [
      "LD_PRELOAD", "UNDEAD_SESSION", "XDG_RUNTIME_DIR", "UNDEAD", "GITHUB_STEP_SUMMARY",
    ] {
      environment[name] = nil
    }
    environment["TMPDIR"] = path("tmp")
    try installTool()
  }

  private func installTool() throws {
    let target = files.url.appending(path: "bin/undead")
    do {
      try FileManager.default.linkItem(at: Self.tool, to: target)
    } catch {
      // On another file system: one copy for all.
      try Self.made.once("tool", at: target) { copy in try writeByChild(["cp", Self.tool.path, copy]) }
    }
  }

  /// What several sandboxes have is made once, and not to be changed.
  static let made = MadeOnce()

  /// Has a child process write what is to be executed: descriptors of this one are for a moment also those of other
  /// children, and a file that somebody has open for writing cannot be executed.
  private func writeByChild(_ words: [String], input: String = "") throws {
    let result = try command(words, input: input)
    try #require(result.status == 0, "\(result.error)")
  }

  var directory: URL { files.url }

  /// The tool beside the test bundle.
  static let tool = BuildProducts.directory.appending(path: "undead")

  func path(_ name: String) -> String { files.path(name) }

  @discardableResult
  func write(_ text: String, to name: String, mode: Int = 0o644) throws -> String {
    if mode & 0o111 != 0 {
      try writeByChild(["dd", "status=none", "of=\(path(name))"], input: text)
    } else {
      try Data(text.utf8).write(to: directory.appending(path: name))
    }
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
    return path(name)
  }

  /// Writes a snapshot as the instrument would.
  @discardableResult
  func write(_ snapshot: Snapshot, to name: String) throws -> String {
    try snapshot.encoded().write(to: directory.appending(path: name))
    return path(name)
  }

  func compile(_ source: String, to name: String, _ options: String...) throws {
    try compile(source, to: name, options)
  }

  func compile(_ source: String, to name: String, _ options: [String]) throws {
    try Self.made.once("\(options) \(source)", at: directory.appending(path: name)) { program in
      let input = try write(source, to: "\(UUID().uuidString).c")
      let result = try command(["clang", "-w", "-o", program, input] + options)
      try #require(result.status == 0, "\(result.error)")
    }
  }

  /// Puts the fake library where the tool finds it.
  func installFakeLibrary() throws {
    try compile(FakeLibrary.source, to: "lib/undead/libUndeadPreload.so", "-shared", "-fPIC")
  }

  /// Puts the library that users get where the tool finds it.
  func installRealLibrary() throws {
    try FileManager.default.copyItem(
      atPath: BuildProducts.preloadLibrary(), toPath: path("lib/undead/libUndeadPreload.so"))
  }

  /// Builds a Swift program.
  func compileSwift(_ source: String, to name: String, _ options: String...) throws {
    try Self.made.once("swiftc \(name) \(options) \(source)", at: directory.appending(path: name)) { program in
      let input = try write(source, to: "\(name).swift")
      let result = try command(["swiftc", "-module-name", "App", "-o", program, input] + options)
      try #require(result.status == 0, "\(result.error)")
    }
  }

  /// Runs the tool.
  func undead(_ arguments: String..., environment extra: [String: String] = [:], input: String = "") throws -> Output {
    try undead(list: arguments, environment: extra, input: input)
  }

  func undead(list arguments: [String], environment extra: [String: String] = [:], input: String = "") throws -> Output
  {
    try command([path("bin/undead")] + arguments, environment: extra, input: input)
  }

  /// Starts a command, found in `PATH`.
  func start(_ command: [String], environment extra: [String: String] = [:], input: Any? = nil) throws -> Child {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.environment = environment.merging(extra) { _, new in new }
    process.currentDirectoryURL = directory
    return try Child(process, input: input)
  }

  func command(
    _ command: [String], environment extra: [String: String] = [:], input: String = ""
  ) throws -> Output {
    let pipe = Pipe()
    let child = try start(command, environment: extra, input: pipe)
    pipe.fileHandleForWriting.write(Data(input.utf8))
    try pipe.fileHandleForWriting.close()
    return child.finish()
  }

  /// A running command whose output is collected in files.
  final class Child {
    private let process: Process
    private let files: TemporaryDirectory
    private let deadline: Deadline

    init(_ process: Process, input: Any?) throws {
      self.process = process
      files = try TemporaryDirectory()
      for file in ["out", "error"] { _ = FileManager.default.createFile(atPath: files.path(file), contents: nil) }
      process.standardOutput = FileHandle(forWritingAtPath: files.path("out"))
      process.standardError = FileHandle(forWritingAtPath: files.path("error"))
      process.standardInput = input ?? FileHandle.nullDevice
      try process.runUnblocked()
      let command = (process.arguments ?? []).joined(separator: " ")
      deadline = Deadline(of: process.processIdentifier, command: command, after: .seconds(600))
    }

    var pid: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }
    var outputSoFar: String { files.contents("out") }
    var errorSoFar: String { files.contents("error") }

    func send(_ signal: Int32) { kill(pid, signal) }

    /// Polls until `condition` holds; false after a minute.
    func wait(until condition: () -> Bool) -> Bool {
      let end = Date(timeIntervalSinceNow: 60)
      while !condition() {
        if Date() > end { return false }
        usleep(5000)
      }
      return true
    }

    func finish() -> Output {
      process.waitUntilExit()
      do {
        try deadline.check(output: outputSoFar + errorSoFar)
      } catch {
        Issue.record(error)
      }
      let status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
      return Output(status: status, out: outputSoFar, error: errorSoFar)
    }
  }
}

/// Files that are made by the first who wants them, and linked to where others do.
final class MadeOnce: Sendable {
  private let files = Mutex<[String: URL]>([:])

  func once(_ key: String, at place: URL, _ make: (_ path: String) throws -> Void) throws {
    let file = try files.withLock { files in
      if let file = files[key] { return file }
      let file = try TemporaryDirectory.untilExit().appending(path: place.lastPathComponent)
      try make(file.path)
      files[key] = file
      return file
    }
    try? FileManager.default.removeItem(at: place)
    try FileManager.default.linkItem(at: file, to: place)
  }
}

/// Snapshots for tests.
enum SampleSnapshot {
  /// A process without leaks.
  static func clean(trigger: String = "exit") -> Snapshot {
    var snapshot = Snapshot()
    snapshot.setMetadata("path", "/opt/app/App")
    snapshot.setMetadata("pid", "42")
    snapshot.setMetadata("startedAt", "1700000000")
    snapshot.setMetadata("trigger", trigger)
    return snapshot
  }

  /// One object that nothing refers to, for each of `types`.
  static func leaking(_ types: [String] = ["App.Owner"], trigger: String = "exit") -> Snapshot {
    var snapshot = clean(trigger: trigger)
    for (number, type) in types.enumerated() {
      let name = snapshot.strings.append(type)
      snapshot.types.append(.init(isa: UInt64(0x1000 + number * 64), name: name, kind: .object, flags: 1))
      snapshot.nodes.append(.init(address: UInt64(0x10000 + number * 64), size: 48, type: UInt32(number)))
    }
    return snapshot
  }
}
