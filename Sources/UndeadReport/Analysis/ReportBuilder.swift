import UndeadSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What makes a run fail.
package enum FailureCondition: String, Sendable, CaseIterable {
  case leaks, suspects, known, zombies, incomplete

  /// What fails a run unless the user says otherwise.
  package static let standard: Set<FailureCondition> = [.leaks, .zombies]
}

extension LeakReport {
  /// Analyses the snapshots of a program and of its children: the first one is the program's.
  ///
  /// Deterministic: the same snapshots give the same report. A leak that a forked child inherited counts once.
  public init(analyzing snapshots: [LeakSnapshot], options: ReportOptions = ReportOptions()) {
    self.init(analyzing: snapshots.map { ReportInput($0) }, options: options)
  }

  /// The same with names from elsewhere, by another tool.
  package init(analyzing inputs: [ReportInput], options: ReportOptions = ReportOptions(), tool: Tool = Tool()) {
    self.init(tool: tool)
    if let first = inputs.first { process = Process(first.snapshot) }
    var merger = GroupMerger()
    for input in inputs {
      let inherited = Self.inherited(by: input.snapshot, inputs)
      merger.add(
        ProcessAnalysis(input.snapshot, symbols: input.symbols, inherited: inherited),
        isForked: input.snapshot.metadata("forkedFrom") != nil)
      merger.add(input.snapshot.zombies.zombies)
      refutedLeaks += RefutedLeak.all(in: input.snapshot, symbols: input.symbols)
    }
    (leaks, knownLeaks, suspects) = (merger.leaks, merger.knownLeaks, merger.suspects)
    keptAlone = merger.keptAlone
    diagnostics = merger.diagnostics
    zombies = merger.zombies
    addRunLoops(inputs.map(\.snapshot))
    addMeasurements(inputs.map(\.snapshot))
    // Of the processes of a test run none is the program itself.
    if inputs.first?.symbols.tests == nil { addChildren(inputs.map(\.snapshot)) }
    apply(options)
  }

  /// True if the report holds something that the given conditions call a failure.
  package func fails(on conditions: Set<FailureCondition> = FailureCondition.standard) -> Bool {
    conditions.contains { condition in
      switch condition {
      case .leaks: !leaks.isEmpty
      case .suspects: !suspects.isEmpty
      case .known: !knownLeaks.isEmpty
      case .zombies: !zombies.isEmpty
      case .incomplete: !summary.complete
      }
    }
  }

  /// Applies suppressions and the minimum count, also to a report that was read from a file.
  package mutating func apply(_ options: ReportOptions) {
    var filter = SuppressionFilter(options.suppressions)
    leaks.removeAll { filter.removes($0) }
    suspects.removeAll { filter.removes($0) }
    zombies.removeAll { filter.removes($0) }
    summary.suppressed += filter.suppressed
    options.baseline?.apply(to: &self)
    let before = leaks.count + suspects.count
    leaks.removeAll { $0.count < options.minCount }
    suspects.removeAll { $0.count < options.minCount }
    let hidden = before - leaks.count - suspects.count
    if hidden > 0 {
      summary.notes.append(
        "\(hidden) group\(hidden == 1 ? " is" : "s are") not shown: fewer than \(options.minCount) leaks of the kind")
    }
    summary.notes += filter.notes
    sortByTest()
    updateCounts()
  }

  private static func inherited(
    by snapshot: Snapshot, _ inputs: [ReportInput]
  ) -> Set<ProcessAnalysis.Identity> {
    guard let parent = snapshot.metadata("forkedFrom") else { return [] }
    let parents = inputs.filter { $0.snapshot.metadata("pid") == parent && $0.snapshot != snapshot }
    return parents.reduce(into: []) { $0.formUnion(ProcessAnalysis.identities($1.snapshot)) }
  }

  /// Those of the first process that has any: the program's own, unless only a child runs loops.
  private mutating func addRunLoops(_ snapshots: [Snapshot]) {
    guard let text = snapshots.first(where: { !$0.runLoops.isEmpty })?.runLoops else { return }
    do {
      runLoops = try JSONDecoder().decode(JSONValue.self, from: Data(text))
    } catch {
      summary.notes.append("the state of the run loops is missing: it is no valid JSON")
    }
  }

  private mutating func addMeasurements(_ snapshots: [Snapshot]) {
    for snapshot in snapshots {
      summary.liveBlocks.addSaturating(snapshot.counter("liveBlocks"))
      summary.liveBytes.addSaturating(snapshot.counter("liveBytes"))
      summary.pauseMilliseconds += Self.milliseconds(snapshot.counter("pauseNanoseconds"))
      summary.scanMilliseconds += Self.milliseconds(snapshot.counter("scanNanoseconds"))
      summary.complete = summary.complete && snapshot.isComplete
      summary.add(snapshot.premises)
      let prefix = snapshots.count > 1 ? "process \(snapshot.metadata("pid") ?? "?"): " : ""
      summary.notes += Self.notes(on: snapshot).map { prefix + $0 }
    }
    addEarlierChecks(snapshots)
    addUnlistedBlocks(snapshots)
    addOwnBlocks(snapshots)
    for note in snapshots.flatMap(\.zombies.notes) where !summary.notes.contains(note) { summary.notes.append(note) }
  }

  private mutating func addChildren(_ snapshots: [Snapshot]) {
    guard snapshots.count > 1 else { return }
    let others = snapshots.dropFirst().map { snapshot in
      "\(SymbolText.fileName(snapshot.metadata("path") ?? "?")) (pid \(snapshot.metadata("pid") ?? "?"))"
    }
    let hidden = others.count - Self.namedProcessLimit
    summary.notes.append(
      "also checked: " + others.prefix(Self.namedProcessLimit).joined(separator: ", ")
        + (hidden > 0 ? " and \(hidden) more" : ""))
  }

  /// What became of the leaks of earlier checks, in the notes for all processes.
  private mutating func addEarlierChecks(_ snapshots: [Snapshot]) {
    var all = EarlierChecks()
    for snapshot in snapshots {
      var own = EarlierChecks()
      (own.checks, own.leaks) = (
        Int(clamping: snapshot.counter("earlierChecks")), Int(clamping: snapshot.counter("earlierLeaks"))
      )
      own.refuted = Int(clamping: snapshot.counter("refutedLeaks"))
      own.named = Int(clamping: snapshot.counter("namedLeaks"))
      own.revived = Int(clamping: snapshot.counter("revivedLeaks"))
      all.add(own)
    }
    guard all.checks > 0 else { return }
    summary.earlierChecks = all
    summary.notes += all.notes
  }

  /// Blocks of C code, in one note for all processes.
  private mutating func addUnlistedBlocks(_ snapshots: [Snapshot]) {
    var (blocks, bytes) = (0, 0)
    for snapshot in snapshots {
      blocks.addSaturating(snapshot.counter("unreachableCBlocks"))
      bytes.addSaturating(snapshot.counter("unreachableCBytes"))
    }
    guard blocks > 0 else { return }
    summary.notes.append(
      "not listed: \(Quantity.of(blocks, "unreachable block")) of C code (\(Quantity.bytes(bytes))), "
        + "of which only C tools can tell whether they are leaks")
  }

  /// Blocks that the toolchain's own functions lost: few are caches, many are worth a note.
  private mutating func addOwnBlocks(_ snapshots: [Snapshot]) {
    for snapshot in snapshots {
      let bytes = snapshot.counter("unreachableOwnBytes")
      guard bytes >= Self.leastOwnBytes, bytes >= 1 << 20 || bytes >= snapshot.counter("liveBytes") / 20 else {
        continue
      }
      let blocks = Quantity.of(Int(clamping: snapshot.counter("unreachableOwnBlocks")), "unreachable block")
      let most = Quantity.bytes(Int(clamping: snapshot.counter("unreachableOwnMost")))
      let site = (snapshot.metadata("unreachableOwnSite") ?? "").split(separator: " ").map(String.init)
      let names = site.map(Demangler.readable).map(SymbolText.short).joined(separator: ", called by ")
      let reason = KnownLeaks.reason(ofOwnBlocksMadeIn: site) ?? Self.reason(ofOwnBlocksOf: snapshot)
      if site.isEmpty, reason == nil {
        summary.notes.append(
          "\(LeakReport.memoryWithoutPlace), \(blocks) (\(Quantity.bytes(Int(clamping: bytes)))): \(KnownLeaks.needsPlace)"
        )
        continue
      }
      summary.notes.append(
        "not listed: \(blocks) of the toolchain's own functions (\(Quantity.bytes(Int(clamping: bytes))))"
          + (names.isEmpty ? "" : ", most of it (\(most)) made in \(names)")
          + (reason.map { ": \($0)" } ?? ""))
    }
  }

  /// By what stands in them: nobody recorded where they were made.
  private static func reason(ofOwnBlocksOf snapshot: Snapshot) -> String? {
    let messages = snapshot.counter("unreachableMessages")
    return messages > snapshot.counter("unreachableOwnBytes") / 2 ? KnownLeaks.reasonForMessages : nil
  }

  private static let leastOwnBytes: UInt64 = 1 << 16

  private static let namedProcessLimit = 8

  private static func milliseconds(_ nanoseconds: UInt64) -> Double {
    // Whole microseconds read better, and print the same everywhere.
    Double(nanoseconds / 1000) / 1000
  }

  /// Said of a look at a program that was not recorded.
  package static let noBacktraces =
    "no backtraces: the program was not recorded ('undead record PID' begins that in a running one)"

  /// The note on a run in which only a sample of the uses of deallocated objects was looked at begins with this.
  package static let onlySample =
    "a sample of the uses of deallocated objects was looked at; nothing was recorded to find leaks"

  /// The note on memory of which nobody recorded who allocated it begins with this.
  fileprivate static let memoryWithoutPlace = "not listed: memory that nothing leads to and that is no object"

  static func notes(on snapshot: Snapshot) -> [String] {
    var notes = snapshot.notes.map { snapshot.strings[$0] }
    let lookedForLeaks = !snapshot.zombies.notes.contains { $0.hasPrefix(onlySample) }
    if snapshot.isBare { notes.append(noBacktraces) }
    if !snapshot.isComplete, lookedForLeaks {
      notes.append("the check is incomplete: leaks may be missing from this report")
    }
    let nodes = snapshot.counter("droppedNodes")
    if nodes > 0 {
      notes.append(
        "the counts are too low: \(nodes) more leaked block\(nodes == 1 ? "" : "s") did not fit into the snapshot")
    }
    let stacks = snapshot.counter("droppedBacktraces")
    if stacks > 0 { notes.append("no backtrace for \(stacks) allocation\(stacks == 1 ? "" : "s"): the store was full") }
    let samples = snapshot.counter("droppedSamples")
    if samples > 0 {
      notes.append(
        "\(samples) sampled allocation\(samples == 1 ? "" : "s") could not be kept: estimates by site are too low; "
          + "give the samples more room (UNDEAD_STORE_BYTES)")
    }
    return notes
  }
}

extension Snapshot {
  /// A snapshot of a process in which no check was made.
  package init(unchecked process: LeakReport.Process) {
    self.init()
    isComplete = false
    setMetadata("path", process.path)
    metadata += process.arguments.map { MetadataEntry(key: "argument", value: $0) }
    setMetadata("pid", "\(process.pid)")
    if let status = process.exitStatus { setMetadata("exitStatus", "\(status)") }
    if let signal = process.signal { setMetadata("signal", "\(signal)") }
  }
}

extension LeakReport.Process {
  /// The process that a snapshot is about.
  package init(_ snapshot: LeakSnapshot) {
    self.init(
      path: snapshot.metadata("path") ?? "",
      arguments: snapshot.metadata.filter { $0.key == "argument" }.map(\.value),
      pid: snapshot.metadata("pid").flatMap(Int.init) ?? 0,
      exitStatus: snapshot.metadata("exitStatus").flatMap(Int.init),
      signal: snapshot.metadata("signal").flatMap(Int.init),
      startedAt: Timestamp.text(secondsSince1970: snapshot.metadata("startedAt") ?? ""),
      durationSeconds: snapshot.metadata("durationSeconds").flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil } ?? 0
    )
  }
}

extension LeakReport.Summary {
  /// True if a note says that memory is lost of which nobody knows who allocated it.
  package var hasMemoryWithoutPlace: Bool { notes.contains { $0.hasPrefix(LeakReport.memoryWithoutPlace) } }
}
