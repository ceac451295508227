import Foundation
import Testing
import UndeadReport

@testable import UndeadTool

/// A directory with a copy of the tool, the fake library where the tool looks for it, and files to run it on.
final class Sandbox {
  let directory: URL
  private var environment: [String: String]

  struct Output {
    var status: Int32
    var out: String
    var error: String
  }

  init() throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "undead-tests-\(UUID().uuidString)")
    for folder in ["bin", "lib/undead", "tmp"] {
      try FileManager.default.createDirectory(
        at: directory.appending(path: folder), withIntermediateDirectories: true)
    }
    try FileManager.default.copyItem(at: Self.tool, to: directory.appending(path: "bin/undead"))
    environment = ProcessInfo.processInfo.environment
    for name in ["LD_PRELOAD", "UNDEAD_SESSION", "XDG_RUNTIME_DIR", "UNDEAD"] { environment[name] = nil }
    environment["TMPDIR"] = path("tmp")
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// The tool beside the test bundle.
  static let tool: URL = {
    let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let arguments = CommandLine.arguments.map { URL(fileURLWithPath: $0) }
    let folders = (arguments + [executable]).map { $0.deletingLastPathComponent() }
    let found = folders.map { $0.appending(path: "undead") }.first { FileManager.default.fileExists(atPath: $0.path) }
    return found ?? URL(fileURLWithPath: ".build/debug/undead")
  }()

  func path(_ name: String) -> String { directory.appending(path: name).path }

  @discardableResult
  func write(_ text: String, to name: String, mode: Int = 0o644) throws -> String {
    try Data(text.utf8).write(to: directory.appending(path: name))
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
    let input = try write(source, to: "\(UUID().uuidString).c")
    let result = try command(["clang", "-w", "-o", path(name), input] + options)
    try #require(result.status == 0, "\(result.error)")
  }

  /// Puts the fake library where the tool finds it.
  func installFakeLibrary() throws {
    try compile(FakeLibrary.source, to: "lib/undead/libUndeadPreload.so", "-shared", "-fPIC")
  }

  /// Puts the library that users get where the tool finds it.
  func installRealLibrary() throws {
    let library = Self.tool.deletingLastPathComponent().appending(path: "libUndeadPreload.so")
    try FileManager.default.copyItem(at: library, to: directory.appending(path: "lib/undead/libUndeadPreload.so"))
  }

  /// Builds a Swift program.
  func compileSwift(_ source: String, to name: String, _ options: String...) throws {
    let input = try write(source, to: "\(name).swift")
    let result = try command(["swiftc", "-module-name", "App", "-o", path(name), input] + options)
    try #require(result.status == 0, "\(result.error)")
  }

  /// Runs the tool.
  func undead(_ arguments: String..., environment extra: [String: String] = [:], input: String = "") throws -> Output {
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
    private let out = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    private let error = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

    init(_ process: Process, input: Any?) throws {
      self.process = process
      for file in [out, error] { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
      process.standardOutput = try FileHandle(forWritingTo: out)
      process.standardError = try FileHandle(forWritingTo: error)
      process.standardInput = input ?? FileHandle.nullDevice
      // Tests run on threads that block every signal, which a child would inherit.
      var none = sigset_t()
      var before = sigset_t()
      sigemptyset(&none)
      pthread_sigmask(SIG_SETMASK, &none, &before)
      defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
      try process.run()
    }

    deinit { for file in [out, error] { try? FileManager.default.removeItem(at: file) } }

    var pid: Int32 { process.processIdentifier }
    var outputSoFar: String { (try? String(contentsOf: out, encoding: .utf8)) ?? "" }
    var errorSoFar: String { (try? String(contentsOf: error, encoding: .utf8)) ?? "" }

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
      let status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
      return Output(status: status, out: outputSoFar, error: errorSoFar)
    }
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
