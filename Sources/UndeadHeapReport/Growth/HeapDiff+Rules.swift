import UndeadHeap
import UndeadReport

extension HeapDiff {
  /// Seconds between the files; nil if they are of different runs, and there are no rates.
  package var seconds: Double? {
    let seconds = after.process.durationSeconds - before.process.durationSeconds
    return sameProcess && seconds > 0 ? seconds : nil
  }

  /// The first of the rules that is broken.
  ///
  /// There are no trends between two files: growth is the difference, and a rate is the difference by the time between them.
  /// `any` means a container that grew by 4 KB or more, since what is less comes and goes.
  ///
  /// - Throws: ``GrowthRuleError`` if a rule is a rate and the files are of different runs.
  package func broken(of rules: [GrowthRule]) throws(GrowthRuleError) -> GrowthRule? {
    for rule in rules where try isBroken(rule) { return rule }
    return nil
  }

  private static let leastBytes = 4096

  private func isBroken(_ rule: GrowthRule) throws(GrowthRuleError) -> Bool {
    guard rule.most == 0 || seconds != nil else {
      throw GrowthRuleError(
        description:
          "the rule '\(rule.text)' is a rate, which needs two heap files of one process; these are of two runs")
    }
    guard let pattern = rule.pattern else { return exceeds(rule, before.blocks, after.blocks) }
    if pattern == "*", rule.most == 0, rule.isBytes == nil { return growth.contains { $0.bytes >= Self.leastBytes } }
    return types.contains { type in
      (pattern == "*" || Glob.matches(pattern, type.type)) && exceeds(rule, type.before, type.after)
    }
  }

  private func exceeds(_ rule: GrowthRule, _ before: Amount, _ after: Amount) -> Bool {
    let most = rule.most * (seconds ?? 0)
    let count = Double(after.count.minus(before.count)) > most
    let bytes = Double(after.bytes.minus(before.bytes)) > most
    return switch rule.isBytes {
    case nil: count || bytes
    case true?: bytes
    case false?: count
    }
  }
}
