extension Snapshot {
  /// What the answer rests on, as the process found it; nil if it did not say so.
  package var premises: LeakReport.Premises? {
    guard let checked = metadata("premises").flatMap({ Int($0) }) else { return nil }
    return LeakReport.Premises(
      checked: checked, failed: metadata.filter { $0.key == "premiseFailed" }.map(\.value))
  }
}

extension LeakReport.Premises {
  /// How a check begins its refusal, if a fact failed that any answer rests on (`scan/premises/premises.c`).
  package static let noAnswer = "no answer about leaks"

  /// Why nothing is known about leaks, if that is so.
  package var leaksAreUnknown: String? { failed.first { $0.hasPrefix(Self.noAnswer) } }

  /// True if uses of dead objects were asked for, and a fact failed that finding them rests on (`scan/premises/premises.c`).
  package var zombiesMayBeMissed: Bool { failed.contains { $0.hasPrefix("uses of dead objects may be missed") } }
}

extension LeakReport.Summary {
  /// Adds what a process found, or another report says.
  package mutating func add(_ found: LeakReport.Premises?) {
    guard let found else { return }
    premises?.formUnion(found)
    premises = premises ?? found
  }
}
