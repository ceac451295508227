/// A small program with a known verdict.
public struct Scenario: Sendable, CustomStringConvertible {
  /// What the tool must say about the program.
  public enum Verdict: Sendable, Equatable, CustomStringConvertible {
    /// No leak and no suspect.
    case clean
    /// A group in `leaks` with this kind, with an object of this type, and with these fields along the cycle.
    case leak(kind: String, type: String, fields: [String] = [])
    /// A group in `suspects` with this kind and an object of this type.
    case suspect(kind: String, type: String)

    public var description: String {
      switch self {
      case .clean: "clean"
      case .leak(let kind, let type, let fields):
        "leak: \(kind) of \(type)" + (fields.isEmpty ? "" : " by " + fields.joined(separator: ", "))
      case .suspect(let kind, let type): "suspect: \(type) \(kind)"
      }
    }
  }

  /// Number in the list, like "29.3"; "29" stands for all of its cases.
  public let number: String
  /// The point of the code, in one line.
  public let title: String
  public let verdict: Verdict
  /// Runs the code; what it leaks is left behind when it returns.
  public let run: @Sendable () async throws -> Void

  init(
    _ number: String, _ title: String, _ verdict: Verdict, run: @escaping @Sendable () async throws -> Void
  ) {
    self.number = number
    self.title = title
    self.verdict = verdict
    self.run = run
  }

  public var description: String { "\(number) \(title)" }

  /// Every scenario, in the order of the numbers.
  public static let all = retainCycles + waiting + aliveOnPurpose

  /// The scenarios that a number stands for: one case, or all cases of a whole number.
  public static func matching(_ number: String) -> [Scenario] {
    all.filter { $0.number == number || $0.number.hasPrefix(number + ".") }
  }
}

/// Keeps the optimiser from seeing that an object is not used: it would remove the leak together with the object.
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

/// Hides a pointer from the optimiser in the same way.
@inline(never) @_optimize(none) func send(_ pointer: UnsafeMutableRawPointer) {}
