import Foundation
import UndeadTestSupport

/// The instrument's recording half, compiled apart from the package: so that it can be built at any level of
/// optimisation, be linked into C programs, and be preloaded without a session.
enum Recorder {
  static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
  static let sourceRoot = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Sources/CUndead")

  /// The sources, with the definition that makes recording begin at the first allocation.
  static let sources: [String] = {
    var sources = [
      sourceRoot.appending(path: "platform/memory.c").path, fixtures.appending(path: "record/preload.c").path,
    ]
    for folder in ["record", "unwind"] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: sourceRoot.appending(path: folder).path)) ?? []
      sources += names.filter { $0.hasSuffix(".c") }.map { sourceRoot.appending(path: folder).appending(path: $0).path }
    }
    return sources
  }()

  /// Compiles a C program of the fixtures together with the instrument.
  static func linkProgram(_ source: String, optimization: String) throws -> String {
    let program = try temporaryPath("program")
    try run(
      "clang",
      [optimization, "-g", "-fno-builtin", "-pthread", "-I", sourceRoot.path, fixtures.appending(path: source).path]
        + sources + ["-o", program]
    ).expectSuccess()
    return program
  }

  /// Compiles the instrument as a library to preload.
  static func buildLibrary(optimization: String) throws -> String {
    let library = try temporaryPath("library.so")
    try run(
      "clang", [optimization, "-g", "-fPIC", "-shared", "-I", sourceRoot.path] + sources + ["-o", library]
    ).expectSuccess()
    return library
  }

  /// A path in a directory of its own, which stays until the tests have ended.
  static func temporaryPath(_ name: String) throws -> String {
    try TemporaryDirectory.untilExit().appending(path: name).path
  }

  struct Outcome {
    let command: String
    let output: String
    let errors: String
    let status: Int32
    let signalled: Bool

    /// Throws what the command wrote unless it ended with status 0.
    func expectSuccess() throws {
      guard signalled || status != 0 else { return }
      throw Failure(description: "\(command) ended with \(status)\n\(output)\n\(errors)")
    }
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Runs a command, found by PATH, and waits for it.
  static func run(_ command: String, _ arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = environment.map { "\($0.key)=\($0.value)" } + [command] + arguments
    let directory = try TemporaryDirectory()
    let files = ["output", "errors"]
    for file in files { _ = FileManager.default.createFile(atPath: directory.path(file), contents: nil) }
    process.standardOutput = FileHandle(forWritingAtPath: directory.path("output"))
    process.standardError = FileHandle(forWritingAtPath: directory.path("errors"))
    try process.run()
    process.waitUntilExit()
    let texts = files.map(directory.contents)
    return Outcome(
      command: ([command] + arguments).joined(separator: " "), output: texts[0], errors: texts[1],
      status: process.terminationStatus, signalled: process.terminationReason == .uncaughtSignal)
  }
}
