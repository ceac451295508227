import Foundation
import Synchronization
import UndeadTestSupport

/// The instrument's recording half, compiled apart from the package: so that it can be built at any level of
/// optimisation, be linked into C programs, and be preloaded without a session.
enum Recorder {
  static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

  /// The sources, with the definition that makes recording begin at the first allocation.
  private static let sources: [String] =
    InstrumentSources.Layer.shared.files(["instruction_x86_64"]) + InstrumentSources.Layer.platform.units
    + InstrumentSources.Layer.record.units
    + ["record/preload.c", "record/compare.c"].map { fixtures.appending(path: $0).path }

  /// How the instrument is compiled: as packages have it, and without optimisation where everything is tried.
  static let levels = Thorough.isOn ? ["-O0", "-O2"] : ["-O2"]

  /// As on a system whose C library has nothing that is newer than 2.26 (`platform/images/c_library.c`).
  static let old = "-O0, old C library"

  private static let objects = Dictionary(uniqueKeysWithValues: [old, "-O0", "-O2"].map { ($0, Once()) })

  /// The instrument as one object file, compiled by the first who asks.
  private static func object(optimization: String) throws -> String {
    guard let object = objects[optimization] else { throw Failure(description: "no such level: \(optimization)") }
    return try object.get {
      let path = try temporaryPath("instrument.o")
      try run(
        "clang",
        (optimization == old ? ["-O0", "-DUNDEAD_AS_GLIBC_2_26"] : [optimization])
          + ["-g", "-fPIC", "-r"] + InstrumentSources.includeOptions + sources + ["-o", path]
      ).expectSuccess()
      return path
    }
  }

  private static let programs = Mutex<[String: Once]>([:])

  /// Compiles a C program of the fixtures and links the instrument into it; the first who asks does.
  static func linkProgram(_ source: String, optimization: String) throws -> String {
    let once = programs.withLock { programs in
      let once = programs["\(source) \(optimization)"] ?? Once()
      programs["\(source) \(optimization)"] = once
      return once
    }
    return try once.get {
      let program = try temporaryPath("program")
      try run(
        "clang",
        [
          optimization == old ? "-O0" : optimization, "-g", "-fno-builtin", "-pthread", "-Wl,-z,now",
          fixtures.appending(path: source).path,
        ]
          + InstrumentSources.includeOptions + [try object(optimization: optimization), "-lm", "-o", program]
      ).expectSuccess()
      return program
    }
  }

  /// Links the instrument as a library to preload.
  static func buildLibrary(optimization: String) throws -> String {
    let library = try temporaryPath("library.so")
    try run("clang", ["-shared", try object(optimization: optimization), "-o", library]).expectSuccess()
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
    var text: String { output + errors }

    /// Throws what the command wrote unless it ended with status 0.
    func expectSuccess() throws {
      guard signalled || status != 0 else { return }
      throw Failure(description: "\(command) ended with \(status)\n\(output)\n\(errors)")
    }
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Runs a command, found by PATH, and waits for it. Settings of the tests are not for it, those in `environment` are.
  static func run(_ command: String, _ arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = environment.map { "\($0.key)=\($0.value)" } + [command] + arguments
    process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("UNDEAD") }
    let directory = try TemporaryDirectory()
    let files = ["output", "errors"]
    for file in files { _ = FileManager.default.createFile(atPath: directory.path(file), contents: nil) }
    process.standardOutput = FileHandle(forWritingAtPath: directory.path("output"))
    process.standardError = FileHandle(forWritingAtPath: directory.path("errors"))
    try process.runUnblocked()
    let deadline = Deadline(
      of: process.processIdentifier, command: ([command] + arguments).joined(separator: " "))
    process.waitUntilExit()
    let texts = files.map(directory.contents)
    try deadline.check(output: texts.joined(separator: "\n"))
    return Outcome(
      command: ([command] + arguments).joined(separator: " "), output: texts[0], errors: texts[1],
      status: process.terminationStatus, signalled: process.terminationReason == .uncaughtSignal)
  }
}
