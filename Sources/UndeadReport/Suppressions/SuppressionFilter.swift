/// Takes suppressed groups out of a report and counts what each rule did.
struct SuppressionFilter {
  private let suppressions: Suppressions
  private var uses: [Int]
  private(set) var suppressed = 0

  init(_ suppressions: Suppressions) {
    self.suppressions = suppressions
    uses = [Int](repeating: 0, count: suppressions.rules.count)
  }

  /// What the rules look at in a group.
  private struct Subject {
    var frames: [Frame]
    var types: [String]
    var references: [Reference]
  }

  mutating func removes(_ leak: Leak) -> Bool {
    let references = (leak.cycle ?? []) + (leak.retainPath ?? []).map(\.reference)
    return removes(
      Subject(
        frames: leak.allocation.frames + (leak.suspended?.frames ?? []),
        types: leak.objects.map(\.type) + references.map(\.type), references: references))
  }

  mutating func removes(_ suspect: Suspect) -> Bool {
    let cycle = suspect.cycle ?? []
    let references = cycle + suspect.retainPath.map(\.reference) + (suspect.holdsBack ?? [])
    return removes(
      Subject(
        frames: suspect.allocation.frames + (suspect.suspended?.frames ?? []),
        types: suspect.objects.map(\.type) + cycle.map(\.type), references: references))
  }

  mutating func removes(_ zombie: Zombie) -> Bool {
    count(suppressions.rules.firstIndex { Self.matches($0, zombie) })
  }

  private mutating func removes(_ subject: Subject) -> Bool {
    count(suppressions.rules.firstIndex { Self.matches($0, subject) })
  }

  /// Counts what a rule takes out; false if it is none.
  private mutating func count(_ rule: Int?) -> Bool {
    guard let rule else { return false }
    uses[rule] += 1
    suppressed += 1
    return true
  }

  private static func matches(_ rule: Suppressions.Rule, _ subject: Subject) -> Bool {
    let matches = rule.matcher.matches
    switch rule.subject {
    case .leak:
      return subject.frames.contains { Self.matches(rule, $0) }
    case .type:
      return subject.types.contains(where: matches)
    case .field:
      return subject.references.contains {
        !$0.field.isEmpty && (matches($0.field) || matches("\($0.type).\($0.field)"))
      }
    case .module:
      return subject.frames.contains { !$0.system && matches($0.module) }
        || subject.types.contains { type in type.firstIndex(of: ".").map { matches(String(type[..<$0])) } ?? false }
    case .zombie, .zombieType, .zombieKind:
      return false
    }
  }

  private static func matches(_ rule: Suppressions.Rule, _ frame: Frame) -> Bool {
    let matches = rule.matcher.matches
    return matches(frame.symbol) || matches(frame.file ?? "") || matches(frame.module)
  }

  /// A rule about leaks must not hide the use of a dead object.
  private static func matches(_ rule: Suppressions.Rule, _ zombie: Zombie) -> Bool {
    let matches = rule.matcher.matches
    switch rule.subject {
    case .zombie:
      let frames = zombie.access.frames + zombie.deallocation.frames
      return zombie.member.map(matches) ?? false || frames.contains { Self.matches(rule, $0) }
    case .zombieType: return matches(zombie.type)
    case .zombieKind: return matches(zombie.kind)
    case .leak, .type, .field, .module: return false
    }
  }

  /// What each rule did, in the order of the files; rules that did nothing are reported as unused.
  var notes: [String] {
    zip(suppressions.rules, uses).compactMap { rule, count in
      guard count > 0 || rule.isToldUnused else { return nil }
      guard count > 0 else { return "unused suppression \(rule.description): remove it, or check its spelling" }
      let groups = count == 1 ? "1 group" : "\(count) groups"
      return "suppressed \(groups) by \(rule.description)" + (rule.reason.map { ": \($0)" } ?? "")
    }
  }
}
