import Foundation

/// Compares the zombies of a report with those that were expected.
///
/// Keys of `EXPECT zombie`, with alternatives joined by `|`: `kind`; `type` (`*` matches anything); `member` (part of
/// the method or field that the report names, `member~` the same where it may also be unknown); `operation` (`read` or
/// `write`); `count`; `thread` and `freedOn` (names of threads, `*` for any name); `allocated`, `freed` and `used` (a
/// frame of that backtrace has this function).
struct ZombieJudge {
  static let keys: Set = [
    "kind", "type", "member", "member~", "operation", "count", "thread", "freedOn", "allocated", "freed", "used",
  ]

  let expected: [Expectation.Group]

  /// Says in one line each where the zombies differ; empty if they do not.
  func complaints(about zombies: [ReportFile.Zombie]) -> [String] {
    var complaints: [String] = []
    var rest = zombies
    for group in expected {
      let candidates = rest.enumerated().map { (index: $0.offset, complaints: Self.complaints($0.element, group)) }
      guard let best = candidates.min(by: { $0.complaints.count < $1.complaints.count }) else {
        complaints.append("missing: zombie \(group.values)")
        continue
      }
      let nearest = rest.remove(at: best.index)
      if !best.complaints.isEmpty {
        complaints.append(
          "no zombie is as expected, \(group.values); the nearest is \(Self.line(nearest)): "
            + best.complaints.joined(separator: "; "))
      }
    }
    complaints += rest.map { "not expected: zombie \(Self.line($0))" }
    for zombie in zombies { complaints += Self.inconsistencies(zombie) }
    return complaints
  }

  private static func line(_ zombie: ReportFile.Zombie) -> String {
    "\(zombie.kind) of \(zombie.type) x\(zombie.count), '\(zombie.message)'"
  }

  private static func complaints(_ zombie: ReportFile.Zombie, _ group: Expectation.Group) -> [String] {
    var complaints: [String] = []
    func check(_ key: String, _ value: String?, _ isRight: (String) -> Bool) {
      guard let alternatives = group.list(key).first, !alternatives.contains(where: isRight) else { return }
      complaints.append("\(key) is \(value ?? "missing")")
    }
    check("kind", zombie.kind) { $0 == zombie.kind }
    check("type", zombie.type) { Judge.matches(zombie.type, anyOf: [$0]) }
    check("member", zombie.member) { zombie.member?.contains($0) ?? false }
    check("member~", zombie.member) { zombie.member?.contains($0) ?? true }
    check("operation", zombie.operation) { $0 == zombie.operation }
    check("count", "\(zombie.count)") { $0 == "\(zombie.count)" }
    check("thread", zombie.thread) { Judge.matches(zombie.thread, anyOf: [$0]) }
    check("freedOn", zombie.deallocationThread) { Judge.matches(zombie.deallocationThread ?? "", anyOf: [$0]) }
    for (key, backtrace) in [
      ("allocated", zombie.allocation), ("freed", zombie.deallocation), ("used", zombie.access),
    ] {
      let symbols = backtrace.frames.map(\.symbol)
      check(key, symbols.prefix(6).joined(separator: ", ")) { name in symbols.contains { $0.contains(name) } }
    }
    return complaints
  }

  /// What must hold for every zombie.
  private static func inconsistencies(_ zombie: ReportFile.Zombie) -> [String] {
    var complaints: [String] = []
    if !zombie.address.hasPrefix("0x") || (zombie.address != "0x0" && !zombie.message.contains(zombie.address)) {
      complaints.append("the message does not tell the address \(zombie.address): \(zombie.message)")
    }
    if !zombie.message.contains(zombie.type) {
      complaints.append("the message does not tell the type: \(zombie.message)")
    }
    if zombie.count < 1 { complaints.append("a zombie that occurred \(zombie.count) times") }
    if zombie.signature.count < 16 { complaints.append("the signature is '\(zombie.signature)'") }
    if zombie.access.frames.isEmpty { complaints.append("no backtrace of the use") }
    return complaints
  }
}
