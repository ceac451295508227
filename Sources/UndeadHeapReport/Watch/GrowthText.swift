import UndeadHeap
import UndeadReport
import UndeadSystem

/// What a watch found, as text.
package enum GrowthText {
  /// The whole report, which ends with a line that a script can look for.
  ///
  /// - Parameters:
  ///   - findings: what grew.
  ///   - origins: who holds what grew, and where it was allocated.
  ///   - notes: sentences on what is not in it.
  package static func render(_ findings: GrowthFindings, _ origins: GrowthOrigins, notes: [String] = []) -> String {
    var lines: [TextLine] = [TextLine(heading(findings)), ""]
    let growing = Set(findings.types.map(\.name))
    let parts = Dictionary(grouping: findings.types) { origins.owner(of: $0.name, among: growing) }
    for type in parts[nil] ?? [] {
      lines += row(type)
      let origin = origins.origins[type.name] ?? GrowthOrigins.Origin()
      lines += origin.containers.map { "    held by \($0.text): \(Quantity.grouped($0.count))" }
      lines += origin.sites.map { "    allocated at \($0.text): \(Quantity.grouped($0.count))" }
      lines += (parts[type.name] ?? []).prefix(most).map { part in
        "    with it \(Number.readable(part.name)): now \(now(part))"
      }
      if let rest = parts[type.name]?.dropFirst(most), !rest.isEmpty {
        lines.append("    and \(Quantity.of(rest.count, "more type"))")
      }
      lines.append("")
    }
    if let all = findings.all {
      lines.append(TextLine(summary(of: all)))
      if let resident = findings.resident { lines.append(TextLine(summary(ofResident: resident))) }
      for (name, growth) in [("Open descriptors", findings.descriptors), ("Threads", findings.threads)] {
        guard let growth, growth.countGrows else { continue }
        let now = Quantity.grouped(Int(clamping: growth.now.count))
        lines.append(
          "\(name): \(Rate.objects.text(growth.count)); now \(now) (undead heap PID --by \(name.first == "O" ? "descriptor" : "thread"))"
        )
      }
      if findings.growsBesideBlocks {
        lines.append(
          "  No block that is alive accounts for it: 'undead heap PID' says what does (free memory that malloc keeps, stacks, files)"
        )
      }
      lines.append("")
    }
    lines += findings.broken.map { "rule '\($0.text)' is broken: \($0.types.joined(separator: ", "))" }
    lines += notes.map { "note: \($0)" }
    if !findings.broken.isEmpty || !notes.isEmpty { lines.append("") }
    lines.append(TextLine(verdict(findings, parts: findings.types.count - (parts[nil]?.count ?? 0))))
    return lines.text(ReportTextOptions())
  }

  private static func heading(_ findings: GrowthFindings) -> String {
    let censuses = findings.censuses == 1 ? "1 census" : "\(findings.censuses) censuses"
    var text = "undead: watched for \(Quantity.duration(findings.watched)), \(censuses)"
    if findings.longestCensus > 0 {
      text +=
        " of at most \(Quantity.duration(findings.longestPause)) pause, \(Quantity.duration(findings.longestCensus)) in all"
    }
    return findings.isJudged ? "\(text); the first \(Quantity.duration(findings.warmUp)) are taken for a warm-up" : text
  }

  private static func row(_ type: TypeGrowth) -> [TextLine] {
    var lines: [TextLine] = ["  \(Number.readable(type.name)): now \(now(type))"]
    if type.countGrows { lines.append("    \(Rate.objects.text(type.count)) objects") }
    if type.bytesGrow { lines.append("    \(Rate.bytes.text(type.bytes))") }
    return lines
  }

  private static func summary(of all: TypeGrowth) -> String {
    guard all.grows else { return "All memory: no certain growth; now \(now(all))" }
    let rate = all.bytesGrow ? Rate.bytes.text(all.bytes) : "\(Rate.objects.text(all.count)) blocks"
    return "All memory: \(rate); now \(now(all))"
  }

  private static func summary(ofResident resident: TypeGrowth) -> String {
    let rate = resident.bytesGrow ? Rate.bytes.text(resident.bytes) : "no certain growth"
    return "Resident memory: \(rate); now \(Quantity.bytes(resident.now.bytes))"
  }

  private static func now(_ type: TypeGrowth) -> String {
    "\(Quantity.grouped(Int(clamping: type.now.count))), \(Quantity.bytes(type.now.bytes))"
  }

  private static let most = 4

  private static func verdict(_ findings: GrowthFindings, parts: Int) -> String {
    guard findings.isJudged else {
      return "undead: too little was seen to judge growth: \(findings.judged) censuses after the warm-up, "
        + "\(Trend.least) are needed; watch for longer (--for) or more often (--every)"
    }
    let count = findings.types.count - parts
    let types =
      (count == 0 ? "nothing grows" : count == 1 ? "1 type grows" : "\(count) types grow")
      + (parts == 0 ? "" : " with \(Quantity.of(parts, "part"))")
    if findings.ruleCount == 0 { return "undead: \(types)" }
    let rules = findings.ruleCount == 1 ? "1 rule" : "\(findings.ruleCount) rules"
    return "undead: \(types), \(findings.broken.count) of \(rules) broken"
  }

  /// Without zeros at the end.
  static func trimmed(_ number: Double, digits: Int) -> String {
    let scale = pow(10, Double(digits))
    let rounded = (number * scale).rounded() / scale
    guard abs(rounded) < 1e15 else { return "\(number)" }
    guard rounded != rounded.rounded() else { return Quantity.grouped(Int(rounded)) }
    // Foundation's formatting would bring its tables of all languages into the process.
    let (whole, part) = Int((abs(rounded) * scale).rounded()).quotientAndRemainder(dividingBy: Int(scale))
    let decimals = String(part)
    return (rounded < 0 ? "-" : "") + "\(whole)." + String(repeating: "0", count: digits - decimals.count) + decimals
  }

  /// Units of slopes.
  enum Rate {
    case objects, bytes

    /// "+120/min (118 to 122)".
    func text(_ trend: Trend) -> String {
      let (unit, seconds) = abs(trend.slope) * 60 >= (self == .objects ? 1 : 1024) ? ("min", 60.0) : ("h", 3600.0)
      let low = trend.interval.lowerBound * seconds
      let high = trend.interval.upperBound * seconds
      return "+\(number(trend.slope * seconds))/\(unit) (\(bound(low)) to \(bound(high)))"
    }

    private func bound(_ number: Double) -> String { number.isFinite ? self.number(number) : "unknown" }

    private func number(_ number: Double) -> String {
      self == .bytes ? Quantity.bytes(number) : GrowthText.trimmed(number, digits: abs(number) < 10 ? 1 : 0)
    }
  }
}
