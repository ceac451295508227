import UndeadFormats
import UndeadHeap
import UndeadReport
import UndeadSystem

/// Writes what grew for a person: the containers that grew, the worst first, each with field, type and site.
package enum HeapDiffText {
  private static let growthLimit = 10
  private static let siteLimit = 3
  private static let withLimit = 4
  private static let lessLimit = 5
  /// What changed by less, and by less than a hundredth of what grew most, is shown in one line.
  private static let leastBytes = 4096

  package static func render(_ diff: HeapDiff, options: ReportTextOptions = ReportTextOptions()) -> String {
    var lines = heading(diff)
    lines += diff.notes.map { "note: \($0)" as TextLine }
    let least = min(leastBytes, (diff.growth.first?.bytes ?? 0) / 100)
    // What leaked is listed with the leaks, where these are known.
    let all = diff.leaks == nil ? diff.growth : diff.growth.filter { !isUnreachable($0) }
    let shown = all.prefix(growthLimit).filter { $0.bytes >= least }
    for (number, growth) in shown.enumerated() {
      lines.append("")
      let block = Self.lines(growth, options)
      lines += ["\(number + 1). \(block[0])"] + block.dropFirst()
    }
    let rest = all.dropFirst(shown.count)
    if !rest.isEmpty {
      let bytes = rest.total(\.bytes)
      lines += ["", "and \(Quantity.of(rest.count, "more container")) that grew by \(Quantity.bytes(bytes))"]
    }
    let leaked = diff.leaks == nil ? [] : diff.growth.filter(isUnreachable)
    if !leaked.isEmpty {
      lines += ["", "and \(Quantity.bytes(leaked.total(\.bytes))) that nothing reaches: the leaks are below"]
    }
    lines += less(diff)
    let more =
      ResourcesText.lines(diff.resources, limit: growthLimit) + FindingsText.lines(diff.findings, options)
    if !more.isEmpty { lines += [""] + more.dropLast() }
    lines.append("")
    let text = lines.text(options)
    guard let leaks = diff.leaks else { return text + "undead: \(summary(diff))\n" }
    return text + DiffRenderer.text(leaks, options: options, start: "\(summary(diff)); leaks: ")
  }

  private static func isUnreachable(_ growth: HeapDiff.Growth) -> Bool { growth.containerType == "unreachable" }

  /// "grew by 49.3 MB in 1 container".
  private static func summary(_ diff: HeapDiff) -> String {
    let bytes = diff.growth.total(\.bytes)
    return diff.growth.isEmpty
      ? "nothing grew" : "grew by \(Quantity.bytes(bytes)) in \(Quantity.of(diff.growth.count, "container"))"
  }

  /// "12.3 MB -> 110.4 MB": what the whole heap did.
  private static func heading(_ diff: HeapDiff) -> [TextLine] {
    let (old, new) = (diff.before.blocks, diff.after.blocks)
    let change = new.bytes.minus(old.bytes)
    let verb = change > 0 ? "grew by" : change < 0 ? "shrank by" : "is as large as before:"
    let size = change == 0 ? Quantity.bytes(new.bytes) : Quantity.bytes(change.absolute)
    var text = "The heap of \(SymbolText.fileName(diff.process.path)) \(verb) \(size)"
    if change != 0 { text += " (\(Quantity.bytes(old.bytes)) -> \(Quantity.bytes(new.bytes)))" }
    let blocks = new.count.minus(old.count)
    if blocks != 0 { text += ", \(signed(blocks)) blocks" }
    var lines: [TextLine] = [TextStyle.heading.apply(text)]
    if let turnover = diff.turnover {
      let seconds = diff.after.process.durationSeconds - diff.before.process.durationSeconds
      let time = seconds > 0 ? " in \(Quantity.duration(seconds))" : ""
      lines.append(
        "One process, pid \(diff.process.pid): \(Quantity.grouped(turnover.came)) blocks came and "
          + "\(Quantity.grouped(turnover.went)) went\(time).")
    } else {
      lines.append("Two runs: types and sites are matched by their names.")
    }
    if let verdict = diff.verdict {
      lines.append("\(verdict.sentence)")
      lines.append("  advice: \(verdict.advice)")
    }
    if diff.growth.isEmpty { lines.append("Nothing grew.") }
    return lines
  }

  /// The block of one container without its number.
  static func lines(_ growth: HeapDiff.Growth, _ options: ReportTextOptions) -> [TextLine] {
    var lines = [title(growth)]
    func add(_ label: TextLine, _ text: TextLine) {
      lines.append("   \(label.padded(10)) \(text)")
    }
    if let turnover = growth.turnover, growth.elements == nil, turnover.went > 0 {
      add("", "\(Quantity.grouped(turnover.came)) came, \(Quantity.grouped(turnover.went)) went")
    }
    if !growth.retainPath.isEmpty, !isUnreachable(growth) { add("kept by", path(growth.retainPath)) }
    // That there are no backtraces is a note on the whole.
    for (place, site) in growth.sites.prefix(siteLimit).enumerated()
    where site.allocation.site != nil {
      let margin = site.margin.map { "\u{B1} \(Quantity.grouped($0.count)) " } ?? ""
      let isTold = growth.sites.count > 1 || site.margin != nil
      let count = isTold ? "\(signed(site.after.count.minus(site.before.count))) \(margin)" : ""
      add(place == 0 ? "allocated" : "", "\(count)\(Self.site(site.allocation, options))")
    }
    if growth.sites.count > siteLimit {
      add("", "and at \(Quantity.of(growth.sites.count - siteLimit, "more place"))")
    }
    if !growth.with.isEmpty {
      var texts = growth.with.prefix(withLimit).map { type in
        let count = type.count > 0 ? "\(signed(type.count)) " : ""
        return "\(count)\(Number.readable(type.type)) (\(Quantity.bytes(type.bytes)))"
      }
      if growth.with.count > withLimit { texts.append(Quantity.of(growth.with.count - withLimit, "more type")) }
      add("with", "\(texts.joined(separator: ", "))")
    }
    return lines
  }

  /// "`.sessions` of `App.Cache`: +12,000 App.Session, +96.0 MB (100 -> 12,100)".
  private static func title(_ growth: HeapDiff.Growth) -> TextLine {
    let place = Self.place(type: growth.containerType, field: growth.field)
    let bytes = TextStyle.alarm.apply("+\(Quantity.bytes(growth.bytes))")
    let type = TextStyle.type.apply(Number.readable(growth.type))
    let library = growth.module.map { " (\($0))" } ?? ""
    if let elements = growth.elements {
      let change = "\(Quantity.grouped(elements.before)) -> \(Quantity.grouped(elements.after)) elements"
      return "\(place): \(bytes), \(type) of \(change)"
    }
    guard growth.count > 0 else {
      return "\(place): \(bytes), \(type)\(library) (\(Quantity.grouped(growth.after.count)) as before)"
    }
    let change = "\(Quantity.grouped(growth.before.count)) -> \(Quantity.grouped(growth.after.count))"
    return "\(place): \(bytes), +\(Quantity.grouped(growth.count)) \(type)\(library) (\(change))"
  }

  static func place(type: String, field: String) -> TextLine {
    let name = Number.readable(type)
    guard !field.isEmpty else { return TextStyle.field.apply(name) }
    let dotted: TextLine = field.hasPrefix("[") ? "\(field)" : ".\(field)"
    return "\(TextStyle.field.apply(dotted)) of \(TextStyle.type.apply(name))"
  }

  /// "global App.cache -> App.Cache .sessions[value] -> App.Session".
  static func path(_ steps: [PathStep]) -> TextLine {
    var words: [TextLine] = []
    if let root = steps.first?.root {
      let isNamed = !root.name.isEmpty && root.name != root.kind
      words.append(isNamed ? "\(root.kind == "global" ? "global " : "")\(root.name)" : "\(root.kind)")
    }
    for step in steps {
      var text = TextStyle.type.apply(Number.readable(step.type))
      if let closure = step.closure {
        text += " .\(step.field) {\(StackText.function(closure))}"
      } else if !step.field.isEmpty {
        let name: TextLine = step.field.hasPrefix("[") ? "\(step.field)" : ".\(step.field)"
        text += " \(TextStyle.field.apply(name))"
      }
      words.append(text)
    }
    let most = 8
    if words.count > most { words.replaceSubrange(4..<(words.count - 3), with: ["..."]) }
    return words.joined(separator: " -> ")
  }

  static func site(_ allocation: Backtrace, _ options: ReportTextOptions) -> TextLine {
    guard let frame = allocation.site else { return "in unknown code" }
    return "in \(SymbolText.short(StackText.function(frame)))\(StackText.place(frame, options))"
  }

  /// Types of which there is less.
  private static func less(_ diff: HeapDiff) -> [TextLine] {
    let least = min(leastBytes, (diff.growth.first?.bytes ?? 0) / 100)
    let less = diff.types.filter { $0.before.bytes.minus($0.after.bytes) > least }.reversed()
    guard !less.isEmpty else { return [] }
    var lines: [TextLine] = [""]
    for type in less.prefix(lessLimit) {
      let library = type.module.map { " (\($0))" } ?? ""
      lines.append(
        "\(TextStyle.good.apply("LESS"))   \(Number.readable(type.type))\(library): \(Quantity.grouped(type.before.count)) -> "
          + "\(Quantity.grouped(type.after.count)), -\(Quantity.bytes(type.before.bytes.minus(type.after.bytes)))")
    }
    if less.count > lessLimit {
      let rest = less.dropFirst(lessLimit).total { $0.before.bytes.minus($0.after.bytes) }
      lines.append("       and \(Quantity.of(less.count - lessLimit, "more type")), -\(Quantity.bytes(rest))")
    }
    return lines
  }

  private static func signed(_ number: Int) -> String {
    (number < 0 ? "-" : "+") + Quantity.grouped(number.absolute)
  }
}
