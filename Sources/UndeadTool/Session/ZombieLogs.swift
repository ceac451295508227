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

  /// Reads what is new in the logs of a session that goes on.
  ///
  /// - Parameter isWanted: true for an event that is to be read, with its process.
  init(session: SessionFolder, files: [String], where isWanted: (ZombieLog.Event, pid_t) -> Bool) {
    for file in files { add(file, session, where: isWanted) }
    inputs.removeAll(where: \.log.events.isEmpty)
  }

  /// How much each process of a session has logged, by the name of its log.
  static func sizes(in session: SessionFolder) -> [String: UInt64] {
    var sizes: [String: UInt64] = [:]
    for file in session.names(endingIn: suffix) { sizes[file] = session.word(of: file, at: ZombieLog.usedOffset) }
    return sizes
  }

  private mutating func add(
    _ file: String, _ session: SessionFolder, where isWanted: (ZombieLog.Event, pid_t) -> Bool = { _, _ in true }
  ) {
    guard let bytes = session.read(file, limit: Self.limit) else {
      problems.append("the log of zombies '\(file)' cannot be read: \(SystemError.text())")
      return
    }
    do throws(ZombieLogError) {
      guard var log = try ZombieLog.decode(bytes) else { return }
      let pid = log.pid
      log.events.removeAll { !isWanted($0, pid) }
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
