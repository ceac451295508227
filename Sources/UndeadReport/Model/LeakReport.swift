import CUndeadInterface

/// The result of a check: what leaked, what is suspected, what is known, and how complete the check was.
///
/// Encodes to and decodes from the JSON of `Documentation/report-schema.md`; keys that it does not know are ignored.
public struct LeakReport: Codable, Sendable, Equatable {
  /// The version of the JSON schema that this code writes, and the highest that it reads.
  package static let schemaVersion = 1

  /// The version of the schema that the report follows.
  package var schemaVersion = LeakReport.schemaVersion
  /// What made the report.
  public var tool: Tool
  /// What was checked.
  public var process: Process
  /// The numbers of the check.
  public var summary: Summary
  /// Certain leaks, the worst first.
  public var leaks: [Leak]
  /// Objects held only by what fires or waits.
  public var suspects: [Suspect]
  /// What one timer or task alone keeps, without a field for it: no suspects.
  package var keptAlone: [KeptAlone] = []
  /// Leaks of the toolchain, each with its reason.
  public var knownLeaks: [Leak]
  /// Uses of objects after they died.
  public var zombies: [Zombie]
  /// What is no leak but deserves a look.
  public var diagnostics: [Diagnostic]
  /// Leaks of earlier checks of the processes that turned out to be none.
  package var refutedLeaks: [RefutedLeak] = []
  /// The state of all run loops, as `TrackedRunLoop.inspect()` shows it; nil if there are none.
  public var runLoops: JSONValue?

  /// Makes a report; the counts of `summary` are taken as they are.
  package init(
    tool: Tool = Tool(), process: Process = Process(), summary: Summary = Summary(), leaks: [Leak] = [],
    suspects: [Suspect] = [], knownLeaks: [Leak] = [], zombies: [Zombie] = [], diagnostics: [Diagnostic] = [],
    runLoops: JSONValue? = nil
  ) {
    self.tool = tool
    self.process = process
    self.summary = summary
    self.leaks = leaks
    self.suspects = suspects
    self.knownLeaks = knownLeaks
    self.zombies = zombies
    self.diagnostics = diagnostics
    self.runLoops = runLoops
  }

  /// The program that made the report.
  public struct Tool: Codable, Sendable, Equatable {
    /// Name of the program.
    public var name: String
    /// Its version.
    public var version: String

    /// Version of this package, from `undead_version.h`.
    package static let currentVersion = UNDEAD_VERSION

    /// Makes a tool; see the properties for the meaning of each part.
    package init(name: String = "undead", version: String = currentVersion) {
      self.name = name
      self.version = version
    }
  }

  /// The process that was checked.
  public struct Process: Codable, Sendable, Equatable {
    /// Path of the executable.
    public var path: String
    /// Its arguments.
    package var arguments: [String]
    /// Number of the process.
    public var pid: Int
    /// Exit status, if the process exited.
    public var exitStatus: Int?
    /// Number of the signal, if one ended the process.
    public var signal: Int?
    /// Start in UTC, ISO 8601.
    package var startedAt: String
    /// How long it ran.
    package var durationSeconds: Double

    /// Makes a process; see the properties for the meaning of each part.
    package init(
      path: String = "", arguments: [String] = [], pid: Int = 0, exitStatus: Int? = nil, signal: Int? = nil,
      startedAt: String = "", durationSeconds: Double = 0
    ) {
      self.path = path
      self.arguments = arguments
      self.pid = pid
      self.exitStatus = exitStatus
      self.signal = signal
      self.startedAt = startedAt
      self.durationSeconds = durationSeconds
    }
  }

  /// The numbers of a check.
  public struct Summary: Codable, Sendable, Equatable {
    /// Groups in `leaks`.
    public var leaks = 0
    /// Swift objects and blocks of raw memory in `leaks`.
    public var leakedObjects = 0
    /// Bytes of everything in `leaks`.
    public var leakedBytes = 0
    /// Groups in `suspects`.
    public var suspects = 0
    /// Groups in `zombies`.
    public var zombies = 0
    /// Entries in `diagnostics`.
    public var diagnostics = 0
    /// Groups that a suppression took out.
    package var suppressed = 0
    /// Blocks that the check looked at.
    package var liveBlocks = 0
    /// Bytes of them.
    package var liveBytes = 0
    /// How long the threads of the program stood still.
    package var pauseMilliseconds = 0.0
    /// How long the whole check took.
    package var scanMilliseconds = 0.0
    /// False if no check was made, or it could not look at everything; `notes` says why.
    public var complete = true
    /// What the answer rests on, and whether it was seen to hold; nil if no process said so.
    package var premises: Premises?
    /// What was dropped, not listed or suppressed, one sentence each.
    public var notes: [String] = []
    /// What became of the leaks that earlier checks found; nil if there was none before this one.
    package var earlierChecks: EarlierChecks?

    /// Makes a summary of nothing.
    package init() {}
  }

  /// Facts about the Swift runtime and the C library that were checked in the process itself before its first check for leaks.
  package struct Premises: Codable, Sendable, Equatable {
    /// How many were compared with known objects; of several processes the least.
    package var checked: Int
    /// Those that did not hold, one sentence each, with what is not answered for that reason.
    package var failed: [String] = []

    /// Adds what another process found.
    mutating func formUnion(_ other: Premises) {
      checked = min(checked, other.checked)
      failed += other.failed.filter { !failed.contains($0) }
    }
  }
}

extension LeakReport.Summary {
  private enum CodingKeys: String, CodingKey {
    case leaks, leakedObjects, leakedBytes, suspects, zombies, diagnostics, suppressed, liveBlocks, liveBytes
    case pauseMilliseconds, scanMilliseconds, complete, premises, notes, foldedNotes, earlierChecks
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    let numbers: [(CodingKeys, Int)] = [
      (.leaks, leaks), (.leakedObjects, leakedObjects), (.leakedBytes, leakedBytes), (.suspects, suspects),
      (.zombies, zombies), (.diagnostics, diagnostics), (.suppressed, suppressed), (.liveBlocks, liveBlocks),
      (.liveBytes, liveBytes),
    ]
    for (key, number) in numbers { try values.encode(number, forKey: key) }
    try values.encode(pauseMilliseconds, forKey: .pauseMilliseconds)
    try values.encode(scanMilliseconds, forKey: .scanMilliseconds)
    try values.encode(complete, forKey: .complete)
    try values.encodeIfPresent(premises, forKey: .premises)
    try values.encode(notes, forKey: .notes)
    let folded = NoteFolding.folded(notes)
    try values.encodeIfPresent(earlierChecks, forKey: .earlierChecks)
    if folded.count < notes.count { try values.encode(folded, forKey: .foldedNotes) }
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    func number(_ key: CodingKeys) throws -> Int { try values.decodeIfPresent(Int.self, forKey: key) ?? 0 }
    leaks = try number(.leaks)
    leakedObjects = try number(.leakedObjects)
    leakedBytes = try number(.leakedBytes)
    suspects = try number(.suspects)
    zombies = try number(.zombies)
    diagnostics = try number(.diagnostics)
    suppressed = try number(.suppressed)
    liveBlocks = try number(.liveBlocks)
    liveBytes = try number(.liveBytes)
    pauseMilliseconds = try values.decodeIfPresent(Double.self, forKey: .pauseMilliseconds) ?? 0
    scanMilliseconds = try values.decodeIfPresent(Double.self, forKey: .scanMilliseconds) ?? 0
    complete = try values.decode(Bool.self, forKey: .complete)
    premises = try values.decodeIfPresent(LeakReport.Premises.self, forKey: .premises)
    notes = try values.decodeIfPresent([String].self, forKey: .notes) ?? []
    earlierChecks = try values.decodeIfPresent(EarlierChecks.self, forKey: .earlierChecks)
  }
}

extension LeakReport {
  private enum CodingKeys: String, CodingKey {
    case schemaVersion, tool, process, summary, culprits, leaks, suspects, knownLeaks, zombies, diagnostics, runLoops
    case refutedLeaks, keptAlone
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    schemaVersion = try values.decode(Int.self, forKey: .schemaVersion)
    guard schemaVersion <= LeakReport.schemaVersion else {
      throw DecodingError.dataCorruptedError(
        forKey: .schemaVersion, in: values,
        debugDescription: "the report has schema version \(schemaVersion), this undead reads up to "
          + "\(LeakReport.schemaVersion): read it with the version that wrote it")
    }
    tool = try values.decode(Tool.self, forKey: .tool)
    process = try values.decode(Process.self, forKey: .process)
    summary = try values.decode(Summary.self, forKey: .summary)
    leaks = try values.decode([Leak].self, forKey: .leaks)
    suspects = try values.decodeIfPresent([Suspect].self, forKey: .suspects) ?? []
    knownLeaks = try values.decodeIfPresent([Leak].self, forKey: .knownLeaks) ?? []
    zombies = try values.decodeIfPresent([Zombie].self, forKey: .zombies) ?? []
    diagnostics = try values.decodeIfPresent([Diagnostic].self, forKey: .diagnostics) ?? []
    keptAlone = try values.decodeIfPresent([KeptAlone].self, forKey: .keptAlone) ?? []
    refutedLeaks = try values.decodeIfPresent([RefutedLeak].self, forKey: .refutedLeaks) ?? []
    runLoops = try values.decodeIfPresent(JSONValue.self, forKey: .runLoops)
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(schemaVersion, forKey: .schemaVersion)
    try values.encode(tool, forKey: .tool)
    try values.encode(process, forKey: .process)
    try values.encode(summary, forKey: .summary)
    // They follow from the lists, so nothing reads them.
    try values.encode(culprits, forKey: .culprits)
    try values.encode(leaks, forKey: .leaks)
    try values.encode(suspects, forKey: .suspects)
    try values.encode(knownLeaks, forKey: .knownLeaks)
    try values.encode(zombies, forKey: .zombies)
    try values.encode(diagnostics, forKey: .diagnostics)
    if !keptAlone.isEmpty { try values.encode(keptAlone, forKey: .keptAlone) }
    if !refutedLeaks.isEmpty { try values.encode(refutedLeaks, forKey: .refutedLeaks) }
    try values.encodeIfPresent(runLoops, forKey: .runLoops)
  }

  /// Brings the counts of the summary in line with the lists.
  package mutating func updateCounts() {
    summary.leaks = leaks.count
    summary.leakedObjects = 0
    summary.leakedBytes = 0
    for leak in leaks {
      summary.leakedObjects.addSaturating(UInt64(clamping: leak.objectCount))
      summary.leakedBytes.addSaturating(UInt64(clamping: leak.totalBytes))
    }
    summary.suspects = suspects.count
    summary.zombies = zombies.count
    summary.diagnostics = diagnostics.count
  }
}
