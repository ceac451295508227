/// What one check of `undead doctor` found.
struct Diagnosis: Encodable, Equatable {
  enum State: String, Encodable, Comparable {
    case ok, warn, fail

    static func < (left: State, right: State) -> Bool { left.rank < right.rank }
    private var rank: Int { self == .ok ? 0 : self == .warn ? 1 : 2 }
  }

  /// What was looked at, the same in every version: `ptrace`, `symbolizer`.
  var check: String
  var state: State
  var text: String
  var advice: String?

  static func ok(_ check: String, _ text: String) -> Diagnosis { Diagnosis(check: check, state: .ok, text: text) }

  /// Something does not work, but leaks are found all the same.
  static func warn(_ check: String, _ text: String, _ advice: String) -> Diagnosis {
    Diagnosis(check: check, state: .warn, text: text, advice: advice)
  }

  /// No check can be made.
  static func fail(_ check: String, _ text: String, _ advice: String) -> Diagnosis {
    Diagnosis(check: check, state: .fail, text: text, advice: advice)
  }
}
