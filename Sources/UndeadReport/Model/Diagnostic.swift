#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension LeakReport {
  /// Something that is not a leak but deserves a look, such as a late timer.
  public struct Diagnostic: Codable, Sendable, Hashable {
    /// A further backtrace, with the reason it was taken.
    public struct Trace: Codable, Sendable, Hashable {
      /// Such as `creation`, `scheduling` or `invalidation`.
      public var role: String
      /// Innermost first.
      public var frames: [Frame]

      /// Makes a trace; see the properties for the meaning of each part.
      package init(role: String, frames: [Frame]) {
        self.role = role
        self.frames = frames
      }
    }

    /// As in the report schema.
    public var kind: String
    /// What happened, in one sentence.
    public var message: String
    /// Names and figures, such as `timer`, `loop` or `seconds`.
    package var details: [String: String]
    /// Where it happened, if that is known.
    public var backtrace: Backtrace?
    /// Other backtraces that are known.
    public var backtraces: [Trace]?

    /// Makes a diagnostic; see the properties for the meaning of each part.
    package init(
      kind: String, message: String, details: [String: String] = [:], backtrace: Backtrace? = nil,
      backtraces: [Trace]? = nil
    ) {
      self.kind = kind
      self.message = message
      self.details = details
      self.backtrace = backtrace
      self.backtraces = backtraces
    }
  }
}

extension Diagnostic {
  /// Details from the text of a JSON object, which need not be trusted: values that are no strings count as their text,
  /// and what is no object is one value.
  static func details(_ text: String) -> [String: String] {
    guard !text.isEmpty else { return [:] }
    guard case .object(let values) = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else {
      return ["details": text]
    }
    return values.compactMapValues { value in
      switch value {
      case .string(let text): text
      case .integer(let number): String(number)
      case .number(let number): String(number)
      case .bool(let truth): String(truth)
      default: nil
      }
    }
  }
}
