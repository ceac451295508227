import Foundation
import UndeadReport
import UndeadTestSupport

/// A child process with the preloaded library, in a session directory of its own.
final class SessionChild {
  /// How a process ended.
  enum Ending: Equatable {
    case exited(Int32)
    case signalled(Int32)
  }

  var session: URL { directory.url }
  let pid: pid_t
  private let directory: TemporaryDirectory
  private let output: FileHandle
  private let deadline: Deadline
  private(set) var text = ""

  /// Starts `session_child` in a mode; `shell` are commands of `sh` that come before it.
  init(_ mode: String, shell: String? = nil, environment: [String: String] = [:]) throws {
    directory = try TemporaryDirectory()
    var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("UNDEAD") }
    variables["UNDEAD_SESSION"] = directory.path
    variables["LD_PRELOAD"] = try BuildProducts.preloadLibrary()
    variables.merge(environment) { _, new in new }
    let program = try ChildProgram.path()
    let arguments = shell.map { ["/bin/sh", "-c", "\($0); exec '\(program)' \(mode)"] } ?? [program, mode]
    let pipe = Pipe()
    pid = try ChildProgram.spawn(arguments, variables, output: pipe.fileHandleForWriting)
    try pipe.fileHandleForWriting.close()
    output = pipe.fileHandleForReading
    deadline = Deadline(of: pid, command: arguments.joined(separator: " "))
  }

  deinit {
    kill(pid, SIGKILL)
    waitpid(pid, nil, 0)
  }

  /// Waits until the program has written `line`.
  func waitFor(_ line: String) throws {
    while !text.contains(line + "\n") {
      let data = output.availableData
      guard !data.isEmpty else {
        try deadline.check(output: text)
        throw ChildError(description: "ended without \(line): \(text)")
      }
      text += String(decoding: data, as: UTF8.self)
    }
  }

  /// Waits for the end of the process and reads the rest of what it wrote.
  func end() throws -> Ending {
    var status: Int32 = 0
    guard waitpid(pid, &status, 0) == pid else { throw ChildError(description: "no such process: \(text)") }
    text += String(decoding: try output.readToEnd() ?? Data(), as: UTF8.self)
    try deadline.check(output: text)
    return status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signalled(status & 0x7f)
  }

  var state: SessionState? { SessionState(contentsOf: session.appendingPathComponent("\(pid).state")) }

  /// The states of all processes but the first.
  var otherStates: [SessionState] {
    files(".state").compactMap { SessionState(contentsOf: $0) }.filter { $0.pid != pid }
  }

  /// Polls the state until `condition` holds.
  func waitForState(_ condition: (SessionState) -> Bool) throws {
    let end = Date().addingTimeInterval(300)
    while true {
      if let state, condition(state) { return }
      guard Date() < end else { throw ChildError(description: "no such state: \(String(describing: state))") }
      usleep(1000)
    }
  }

  /// Snapshot number `number` of the process, decoded.
  func snapshot(_ number: Int = 1, generation: Int = 1) throws -> Snapshot {
    let file = session.appendingPathComponent("\(pid).\(generation).\(number).undead")
    guard FileManager.default.fileExists(atPath: file.path) else {
      throw ChildError(description: "no snapshot \(number); the process left \(String(describing: state))")
    }
    return try Snapshot(contentsOfFile: file.path)
  }

  func files(_ suffix: String) -> [URL] {
    let all = (try? FileManager.default.contentsOfDirectory(at: session, includingPropertiesForKeys: nil)) ?? []
    return all.filter { $0.lastPathComponent.hasSuffix(suffix) }
  }
}

struct ChildError: Error, CustomStringConvertible {
  let description: String
}

/// The program that the tests run, compiled once, and the library that is preloaded into it.
enum ChildProgram {
  static func path() throws -> String { "\(try compiled.get())/child" }

  /// A library that makes the instrument crash.
  static func crasher() throws -> String { "\(try compiled.get())/crasher.so" }

  static func spawn(_ arguments: [String], _ variables: [String: String], output: FileHandle) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output.fileDescriptor, 1)
    posix_spawn_file_actions_adddup2(&actions, output.fileDescriptor, 2)
    // Nothing of the test runner's own descriptors: the program checks its list.
    for descriptor: Int32 in 3..<256 { posix_spawn_file_actions_addclose(&actions, descriptor) }
    // The threads of the test runner block signals, which a child would inherit.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var pid: pid_t = 0
    var list = arguments.map { strdup($0) } + [nil]
    var environment = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in list + environment { free(text) } }
    let error = posix_spawn(&pid, arguments[0], &actions, &attributes, &list, &environment)
    guard error == 0 else { throw ChildError(description: "\(arguments[0]): \(String(cString: strerror(error)))") }
    return pid
  }

  // Linked by swiftc, so that the Swift runtime is loaded and there is something to check.
  private static let compiled = Result { () throws -> String in
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Programs").path
    let directory = try TemporaryDirectory.untilExit().path
    for command in [
      "clang -O1 -g -c '\(sources)/session_child.c' -o '\(directory)/child.o'",
      "swiftc '\(directory)/child.o' -o '\(directory)/child'",
      "clang -shared -fPIC '\(sources)/crasher.c' -o '\(directory)/crasher.so'",
    ] { try ScanProgram.shell(command) }
    return directory
  }
}
