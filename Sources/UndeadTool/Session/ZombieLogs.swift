import Glibc
import UndeadReport
import UndeadSystem

/// The uses of dead objects that the processes of a session logged, with their names.
struct ZombieLogs {
  private var inputs: [ZombieInput] = []
  private var notes: [String] = []
  /// Logs that could not be read: zombies may be missing from the report.
  private(set) var problems: [String] = []

  /// Of a session in which nobody looked for zombies.
  init() {}

  /// Reads the logs of all processes, the program's first.
  init(session: SessionFolder, program: pid_t) {
    let files = session.names(endingIn: Self.suffix)
    let ofProgram = files.filter { Self.pid($0) == program }
    for file in ofProgram + files.filter({ Self.pid($0) != program }) { add(file, session) }
  }

  /// What was seen, and what the reader of the report must know about it.
  var findings: ZombieFindings {
    var findings = ZombieFindings(inputs)
    for note in notes { findings.add(note: note) }
    return findings
  }

  /// True if a process began to look at a sample of the uses.
  var areSampled: Bool { inputs.contains { $0.log.isSampled } }

  private static let suffix = ".zombies"
  /// More than the library ever writes.
  private static let limit = 16 << 20

  private static func pid(_ file: String) -> pid_t? { file.split(separator: ".").first.flatMap { pid_t($0) } }

  private mutating func add(_ file: String, _ session: SessionFolder) {
    guard let bytes = session.read(file, limit: Self.limit) else {
      problems.append("the log of zombies '\(file)' cannot be read: \(SystemError.text())")
      return
    }
    do throws(ZombieLogError) {
      guard let log = try ZombieLog.decode(bytes) else { return }
      let executable = session.state(of: log.pid)?.executable ?? ""
      let name = executable.split(separator: "/").last.map(String.init) ?? ""
      let (input, names) = ZombieInput.symbolizing(log, program: name)
      inputs.append(input)
      for note in names where !notes.contains(note) { notes.append(note) }
    } catch {
      problems.append("process \(Self.pid(file) ?? 0): \(error)")
    }
  }
}
