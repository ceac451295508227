import UndeadReport
import UndeadSystem

/// The uses of dead objects that processes logged, with their names.
struct ZombieLogs {
  private var inputs: [ZombieInput] = []
  private var notes: [String] = []
  private var symbolizer = Symbolizer()
  /// Logs that could not be read: zombies may be missing from the report.
  private(set) var problems: [String] = []

  /// Of a session in which nobody looked for zombies.
  init() {}

  /// Reads the logs of all processes, the program's first.
  init(_ source: ZombieLogSource, program: pid_t, symbolizer: Symbolizer = Symbolizer()) {
    self.symbolizer = symbolizer
    let files = source.names
    let ofProgram = files.filter { Self.pid($0) == program }
    for file in ofProgram + files.filter({ Self.pid($0) != program }) { add(file, source) }
  }

  /// What was seen, and what the reader of the report must know about it.
  var findings: ZombieFindings {
    var findings = ZombieFindings(inputs)
    for note in notes { findings.add(note: note) }
    return findings
  }

  /// True if a process began to look at a sample of the uses.
  var areSampled: Bool { inputs.contains { $0.log.isSampled } }

  private static func pid(_ file: String) -> pid_t? { file.split(separator: ".").first.flatMap { pid_t($0) } }

  /// Reads what is new in logs that programs write.
  ///
  /// - Parameter isWanted: true for an event that is to be read, with its process.
  init(_ source: ZombieLogSource, files: [String], where isWanted: (ZombieLog.Event, pid_t) -> Bool) {
    for file in files { add(file, source, where: isWanted) }
    inputs.removeAll(where: \.log.events.isEmpty)
  }

  private mutating func add(
    _ file: String, _ source: ZombieLogSource, where isWanted: (ZombieLog.Event, pid_t) -> Bool = { _, _ in true }
  ) {
    guard let bytes = source.read(file) else {
      problems.append("the log of zombies '\(file)' cannot be read: \(SystemError.text())")
      return
    }
    do throws(ZombieLogError) {
      guard var log = try ZombieLog.decode(bytes) else { return }
      let pid = log.pid
      log.events.removeAll { !isWanted($0, pid) }
      let executable = source.executable(of: log.pid) ?? ""
      let name = executable.split(separator: "/").last.map(String.init) ?? ""
      let (input, names) = ZombieInput.symbolizing(log, program: name, symbolizer: symbolizer)
      inputs.append(input)
      for note in names where !notes.contains(note) { notes.append(note) }
    } catch {
      problems.append("process \(Self.pid(file) ?? 0): \(error)")
    }
  }
}
