import UndeadReport
import UndeadSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes a report as a log of SARIF 2.1.0, which code scanning and editors show beside the sources.
///
/// A result for each thing that is to blame, the worst first. Known and suppressed leaks are left out: readers show
/// whatever is in a log.
package enum SARIFRenderer {
  /// The report as a log, the same bytes for the same report and options.
  ///
  /// - Parameters:
  ///   - report: what was found.
  ///   - options: `directory` is the root of the repository.
  ///   - hosts: of merged reports, how many hosts have a finding, by its signature.
  package static func render(
    _ report: LeakReport, options: ReportTextOptions = ReportTextOptions(), hosts: [String: Int] = [:]
  ) throws -> Data {
    var options = options
    options.color = false
    var builder = SARIFBuilder(program: report.process.path, options, hosts: hosts)
    let findings = Findings(report, byCulprit: options.groupsByCulprit)
    for group in findings.leaks { builder.add(group) }
    for zombie in findings.zombies { builder.add(zombie: zombie) }
    for group in findings.suspects { builder.add(group) }
    for diagnostic in report.diagnostics { builder.add(diagnostic) }
    return try JSONRenderer.encode(builder.log(report, notes: findings.notes))
  }
}

/// Makes the results of a SARIF log, and the tables that they refer to.
struct SARIFBuilder {
  private let program: String
  private let options: ReportTextOptions
  private let hosts: [String: Int]
  private var rules = SARIFRules()
  private var places: SARIFPlaces
  private var results: [SARIF.Result] = []

  init(program: String, _ options: ReportTextOptions, hosts: [String: Int] = [:]) {
    self.program = program
    self.hosts = hosts
    self.options = options
    places = SARIFPlaces(options)
  }

  func log(_ report: LeakReport, notes: [String]) -> SARIF.Log {
    let complete = report.summary.complete
    var run = SARIF.Run(
      tool: SARIF.Tool(report.tool, rules: rules.rules),
      invocations: [
        SARIF.Invocation(
          executionSuccessful: complete, startTimeUtc: report.process.startedAt,
          notifications: notes.map { SARIF.Notification(complete ? .note : .warning, $0) })
      ],
      automationDetails: SARIF.AutomationDetails(program: program))
    run.originalUriBaseIds = places.bases
    run.logicalLocations = places.logicalLocations.isEmpty ? nil : places.logicalLocations
    run.results = results
    run.properties = ["program": .string(program), "summary": .string(TextRenderer.summary(report))]
    return SARIF.Log(runs: [run])
  }

  // MARK: Findings

  /// What one thing is to blame for: its worst finding in full, the places of the others.
  mutating func add(_ group: Findings.Group) {
    let worst = group.worst
    var text = options
    text.stacks = false
    var result = start(
      worst.cause, worst.kind == .leak ? .error : .warning, worst, title: group.title,
      FindingText.lines(group, title: "", text))
    let culprit = group.culprit
    result.partialFingerprints =
      options.groupsByCulprit ? ["undeadCulprit/v1": culprit.signature] : ["undeadGroup/v1": worst.signature]
    result.occurrenceCount = culprit.count
    result.locations[0].logicalLocations = [blame(culprit)]
    result.relatedLocations = related(group, to: result.locations[0])
    result.codeFlows = flows(worst, near: result.locations[0].physicalLocation)
    result.properties = properties(worst, signatures: culprit.findings)
    result.properties?["culprit"] = .string(culprit.title)
    result.properties?["totalBytes"] = .integer(culprit.totalBytes)
    result.properties?["objectCount"] = culprit.objectCount.map { .integer($0) }
    if let tests = culprit.tests?.compactMap(\.test), !tests.isEmpty {
      result.properties?["tests"] = .array(tests.map { .string($0) })
    }
    results.append(result)
  }

  mutating func add(zombie: Finding) {
    var text = options
    text.stacks = false
    var result = start(
      SARIFRules.zombie, .error, zombie, title: zombie.title, FindingText.lines(zombie, title: "", text))
    result.partialFingerprints = zombie.signature.isEmpty ? nil : ["undeadGroup/v1": zombie.signature]
    result.occurrenceCount = max(1, zombie.count)
    if let used = zombie.site(.used)?.frame {
      result.locations[0].logicalLocations = [places.function(StackText.function(used))]
    }
    result.properties = properties(zombie, signatures: [zombie.signature])
    for mark in zombie.marks { result.properties?[mark] = .bool(true) }
    results.append(result)
  }

  mutating func add(_ diagnostic: Diagnostic) {
    let frames = diagnostic.backtrace?.frames ?? diagnostic.backtraces?.first?.frames ?? []
    let place = RepositoryPlace.first(frames, options)
    let index = rules.index(of: diagnostic.kind, title: "Diagnostic of kind \(diagnostic.kind)", level: .note)
    var traces = diagnostic.backtrace.map { [("at", $0)] } ?? []
    traces += (diagnostic.backtraces ?? []).map { ($0.role, Backtrace(frames: $0.frames)) }
    results.append(
      SARIF.Result(
        ruleId: diagnostic.kind, ruleIndex: index, level: .note, message: SARIF.Message(diagnostic.message),
        locations: [
          SARIF.Location(physicalLocation: place.map { places.file($0.file, line: $0.line) } ?? fallback(frames))
        ],
        stacks: stacks(traces),
        properties: diagnostic.details.isEmpty ? nil : diagnostic.details.mapValues { .string($0) }))
  }

  mutating func add(_ growth: SARIFRenderer.Growth) {
    // What it kept is shown in full, where it is kept and not where it leaked.
    var finding = Finding(growth: growth.lines.first?.plain ?? growth.type, cause: SARIFRules.growth)
    finding.sites = growth.allocations.map { Site(allocated: $0) }
    finding.chains = growth.retainPath.isEmpty ? [] : [Chain(path: growth.retainPath)]
    var result = start(SARIFRules.growth, .warning, finding, title: finding.title, growth.lines)
    let name =
      growth.field.isEmpty ? places.variable(growth.container) : places.field(growth.field, of: growth.container)
    result.locations[0].logicalLocations = [name]
    result.codeFlows = flows(finding, near: result.locations[0].physicalLocation)
    var hash = StableHash(SARIFRules.growth)
    for part in [growth.container, growth.field, growth.type] { hash.mix(StableHash(part)) }
    result.partialFingerprints = ["undeadGrowth/v1": hash.hexadecimal]
    result.properties = ["addedObjects": .integer(growth.count), "addedBytes": .integer(growth.bytes)]
    results.append(result)
  }

  private mutating func start(
    _ rule: String, _ level: SARIF.Level, _ finding: Finding, title: String, _ lines: [TextLine]
  ) -> SARIF.Result {
    let place = RepositoryPlace(finding, options)
    let physical =
      place.map { places.file($0.file, line: $0.line) } ?? fallback(finding.sites.compactMap(\.frame))
    let first = lines.first?.plain ?? VisibleText.line(title)
    let heading = String(first.drop { $0 == " " }).replacing("  (", with: " (")
    let rest = Array(lines.dropFirst().reversed().drop(while: \.isEmpty).reversed())
    return SARIF.Result(
      ruleId: rule, ruleIndex: rules.index(of: rule, title: title, level: level), level: level,
      message: SARIF.Message(
        ([heading] + rest.map(\.plain)).joined(separator: "\n"),
        markdown: "\(heading)\n\n\(MarkdownText.block(Array(rest.drop(while: \.isEmpty))))"),
      locations: [SARIF.Location(physicalLocation: physical)],
      stacks: stacks(finding.sites.map { ($0.role.label, $0.backtrace) }))
  }

  private func properties(_ finding: Finding, signatures: [String]) -> [String: JSONValue] {
    var properties: [String: JSONValue] = [
      "kind": .string(finding.cause), "signatures": .array(signatures.map { .string($0) }),
    ]
    properties["advice"] = finding.advice.map { .string($0) }
    properties["hosts"] = signatures.compactMap { hosts[$0] }.max().map { .integer($0) }
    return properties
  }

  // MARK: Places

  /// Readers refuse a log in which a result has no file: a file outside of the repository, else the program itself.
  private func fallback(_ frames: [Frame]) -> SARIF.PhysicalLocation {
    if let frame = frames.first(where: { !$0.system && $0.line != nil }), let file = places.file(of: frame) {
      return file
    }
    return places.file(program.isEmpty ? "unknown" : program, line: 1)
  }

  private mutating func blame(_ culprit: Culprit) -> SARIF.LogicalLocation {
    if let field = culprit.field { return places.field(field, of: culprit.type) }
    return culprit.function.map { places.function($0) } ?? places.type(culprit.type)
  }

  private static let relatedLimit = 10

  /// Where the other findings of the culprit were made, each place once.
  private func related(_ group: Findings.Group, to first: SARIF.Location) -> [SARIF.Location]? {
    var seen = [first.physicalLocation]
    var locations: [SARIF.Location] = []
    for finding in group.findings.dropFirst() {
      guard let place = RepositoryPlace(finding, options) else { continue }
      let physical = places.file(place.file, line: place.line)
      guard !seen.contains(physical) else { continue }
      seen.append(physical)
      locations.append(SARIF.Location(physicalLocation: physical, message: SARIF.Message("also: \(finding.heading)")))
      if locations.count == Self.relatedLimit { break }
    }
    return locations.isEmpty ? nil : locations
  }

  private mutating func stacks(_ traces: [(role: String, backtrace: Backtrace)]) -> [SARIF.Stack]? {
    guard options.stacks else { return nil }
    let told = traces.filter { !$0.backtrace.frames.isEmpty }
    let stacks = told.map { trace in
      SARIF.Stack(message: SARIF.Message(trace.role), frames: trace.backtrace.frames.map { frame($0) })
    }
    return stacks.isEmpty ? nil : stacks
  }

  private mutating func frame(_ frame: Frame) -> SARIF.StackFrame {
    SARIF.StackFrame(
      location: SARIF.Location(
        physicalLocation: frame.line == nil ? nil : places.file(of: frame),
        logicalLocations: [places.function(StackText.function(frame))]),
      module: frame.module.isEmpty ? nil : frame.module)
  }

  // MARK: References

  /// A code flow for each cycle and path: a step for the root, and one for each reference.
  private mutating func flows(_ finding: Finding, near place: SARIF.PhysicalLocation?) -> [SARIF.CodeFlow]? {
    var flows: [SARIF.CodeFlow] = []
    for chain in finding.chains {
      let steps = steps(chain, near: place)
      guard !steps.isEmpty else { continue }
      flows.append(
        SARIF.CodeFlow(
          message: chain.introduction.map { SARIF.Message($0) }, threadFlows: [SARIF.ThreadFlow(locations: steps)]))
    }
    return flows.isEmpty ? nil : flows
  }

  private mutating func steps(_ chain: Chain, near place: SARIF.PhysicalLocation?) -> [SARIF.ThreadFlowLocation] {
    var steps: [SARIF.ThreadFlowLocation] = []
    func add(_ text: String, _ name: SARIF.LogicalLocation, _ file: SARIF.PhysicalLocation?, essential: Bool = false) {
      // A field's line is not known: the step stands where the object was made, as steps without a file are not shown.
      steps.append(
        SARIF.ThreadFlowLocation(
          location: SARIF.Location(
            physicalLocation: file ?? place, logicalLocations: [name], message: SARIF.Message(text)),
          importance: essential ? "essential" : "important"))
    }
    if let root = chain.root {
      let text = root.kind == "runLoop" ? root.text : "[\(root.kindText)]" + (root.text.isEmpty ? "" : " \(root.text)")
      add(text + root.owners, places.variable(root.text.isEmpty ? root.kindText : root.text), nil)
    }
    for (number, link) in chain.links.enumerated() {
      if number == chain.links.count / 2, chain.omitted > 0 {
        add("... \(Quantity.of(chain.omitted, "more reference")) ...", places.type(link.from), nil)
      }
      add(
        text(link), places.field(link.field, of: link.from),
        link.closure.flatMap { $0.line == nil ? nil : places.file(of: $0) }, essential: link.isCulprit)
    }
    if chain.links.isEmpty, let start = chain.start { add(start, places.type(start), nil) }
    return steps
  }

  /// "App.Owner .handler → closure #1 in App.start(), which captures self → App.Owner".
  private func text(_ link: Chain.Link) -> String {
    let start = "\(link.from) \(link.fieldText) \u{2192} "
    guard link.holdsClosure else { return start + link.to }
    let captured = link.captures.map { " \($0)" } ?? ""
    return start
      + "\(StackText.closure(link.closure, options).plain), which captures\(captured) \u{2192} \(link.to)"
  }
}
