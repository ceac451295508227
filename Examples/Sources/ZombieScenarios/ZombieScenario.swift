/// A small program that uses an object after its death, with what the tool must say about it.
public struct ZombieScenario: Sendable, CustomStringConvertible {
  /// The entry that a report must have in `zombies`.
  public struct Verdict: Sendable, Equatable, CustomStringConvertible {
    /// Any of these kinds.
    public var kinds: Set<String>
    /// Type of the dead object.
    public var type: String
    /// Method or field; nil where none is known.
    public var member: String?
    /// True if only `--zombie-mode guard` sees it in an optimised build.
    public var needsGuard = false

    public var description: String {
      "zombie: \(kinds.sorted().joined(separator: " or ")) of \(type)" + (member.map { ", \($0)" } ?? "")
    }
  }

  /// Number in the list, like "28.2"; "28" stands for all of its cases.
  public let number: String
  /// The point of the code, in one line.
  public let title: String
  public let verdict: Verdict
  /// Runs the code; under `--zombies` the process dies in it.
  public let run: @Sendable () throws -> Void

  init(
    _ number: String, _ title: String, kinds: Set<String>, type: String, member: String? = nil,
    needsGuard: Bool = false, run: @escaping @Sendable () throws -> Void
  ) {
    self.number = number
    self.title = title
    self.run = run
    verdict = Verdict(kinds: kinds, type: type, member: member, needsGuard: needsGuard)
  }

  public var description: String { "\(number) \(title)" }

  /// Scenarios 26 to 28, in the order of the numbers.
  public static let all = [freedTimerTarget] + messages + otherUses

  /// The scenarios that a number stands for: one case, or all cases of a whole number.
  public static func matching(_ number: String) -> [ZombieScenario] {
    all.filter { $0.number == number || $0.number.hasPrefix(number + ".") }
  }
}

/// Keeps the optimiser from joining the life of an object with what comes after it.
@inline(never) @_optimize(none) func done() {}

/// Does something many times. Open, so that messages to it are looked up. Used by one thread at a time.
class Poller: @unchecked Sendable {
  var count = 0

  class func limit() -> Int { 100 }

  func tick() -> Int {
    count += 1
    return count
  }
}

/// Overrides one method, which keeps the others of the class open, too.
final class QuietPoller: Poller, @unchecked Sendable {
  override class func limit() -> Int { 1 }
  override func tick() -> Int { 0 }
}
