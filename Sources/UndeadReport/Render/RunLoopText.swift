import UndeadSystem

/// The state of the run loops in a few lines; `TrackedRunLoop.inspect()` shows everything.
package enum RunLoopText {
  private static let loopLimit = 8
  private static let timerLimit = 6

  /// Nothing for loops that never had anything to do.
  static func lines(_ inspection: JSONValue) -> [TextLine] {
    let loops = (inspection["loops"]?.elements ?? []).filter { loop in
      !(loop["timers"]?.elements ?? []).isEmpty || number(loop, "fires") > 0
    }
    guard !loops.isEmpty else { return [] }
    var lines = [TextStyle.heading.apply("RUN LOOPS")]
    for loop in loops.prefix(loopLimit) { lines += self.loop(loop) }
    if loops.count > loopLimit { lines.append("  ... \(Quantity.of(loops.count - loopLimit, "more run loop"))") }
    return lines + [""]
  }

  /// The same without a heading, for pages.
  package static func statements(_ inspection: JSONValue) -> [String] {
    lines(inspection).dropFirst().filter { !$0.isEmpty }.map(\.plain)
  }

  private static func loop(_ loop: JSONValue) -> [TextLine] {
    let timers = loop["timers"]?.elements ?? []
    // Of many timers the inspection lists some, and shows their number by mode.
    let count = (loop["modes"]?.elements ?? []).map { number($0, "timers") }.reduce(timers.count, max)
    let state = loop["runningMode"]?.text.map { "running in \($0)" } ?? "not running"
    var head = "  \"\(loop["name"]?.text ?? "")\": \(state), \(Quantity.of(count, "timer")), "
    head += Quantity.of(number(loop, "fires"), "fire")
    if number(loop, "missed") > 0 { head += ", \(number(loop, "missed")) missed" }
    if let owner = loop["owner"]?.text, loop["ownerAlive"]?.truth == false { head += ", its owner \(owner) is gone" }
    var lines = [TextLine(head)] + timers.prefix(timerLimit).map { TextLine(timer($0)) }
    let shown = min(timers.count, timerLimit)
    if count > shown, shown > 0 { lines.append("    ... \(Quantity.of(count - shown, "more timer"))") }
    return lines
  }

  private static func timer(_ timer: JSONValue) -> String {
    let name = timer["name"]?.text ?? ""
    var parts = ["    timer" + (name.isEmpty ? "" : " \"\(name)\"")]
    let interval = timer["interval"]?.double ?? 0
    parts[0] += interval > 0 ? " every \(Quantity.duration(interval))" : " once"
    let modes = (timer["modes"]?.elements ?? []).compactMap(\.text)
    if !modes.isEmpty { parts[0] += " in " + modes.joined(separator: ", ") }
    if let target = timer["target"], let type = target["type"]?.text {
      let holding = target["holding"]?.text ?? ""
      parts.append("target \(type) (\(holding), \(target["isAlive"]?.truth == false ? "gone" : "alive"))")
    }
    parts.append(Quantity.of(number(timer, "fires"), "fire"))
    if number(timer, "missed") > 0 { parts.append("\(number(timer, "missed")) missed") }
    if let worst = timer["worstLateness"]?.double, worst > 0 {
      parts.append("at worst \(Quantity.duration(worst)) late")
    }
    return parts.joined(separator: ", ")
  }

  private static func number(_ value: JSONValue, _ key: String) -> Int {
    Int(exactly: (value[key]?.double ?? 0).rounded()) ?? 0
  }
}
