/// What a command line may have: an option, a flag or an operand.
///
/// The property of a command that has the value declares it, by its wrapper (`Option`), and nothing else has to name it: when a command
/// is made, each wrapper adds its declaration to the `Declarations` that are being collected, in the order of the properties. The reader,
/// the help, the manual and the completions all go through that list. Nothing is found by reflection, which would take longer than all
/// else that the tool does for a short program, and no text is taken apart before it is needed.
final class Declaration {
  /// Which words an operand takes.
  enum Words {
    case any
    /// Those after `--`.
    case afterTerminator
    /// From the first word on that is no option of the command: all, with `--` and with options.
    case rest
  }

  /// As it is written: `-o, --output <file>`, `--all`, `--fold/--no-fold`, `<file>`, `[<file>]`, `<file> ...`.
  let label: String
  let help: String
  /// The same in a few words, for the help of one screen.
  let brief: String?
  let completion: Completion
  let words: Words
  let isRepeating: Bool
  /// Takes a value; of a flag, the name that it was given by.
  let read: (String) throws -> Void
  /// All values that it may have, if these are few.
  let values: () -> [String]
  /// The value that it has if it is not given, for the help.
  let initialText: () -> String
  /// Of its group.
  var title: String?

  /// With dashes, the short one first; an operand has none.
  private(set) lazy var names = label.split { " ,/".contains($0) }.filter { $0.hasPrefix("-") }.map(String.init)
  /// What the value is called, without brackets; empty for a flag.
  private(set) lazy var valueName = String(label.drop { $0 != "<" }.dropFirst().prefix { $0 != ">" })

  init(
    _ label: String, help: String, brief: String?, completion: Completion, words: Words, isRepeating: Bool,
    read: @escaping (String) throws -> Void, values: @escaping () -> [String], initialText: @escaping () -> String
  ) {
    self.label = label
    self.help = help
    self.brief = brief
    self.completion = completion
    self.words = words
    self.isRepeating = isRepeating
    self.read = read
    self.values = values
    self.initialText = initialText
    Declarations.current?.add(self)
  }

  var isOperand: Bool { !label.hasPrefix("-") }
  /// True for an operand that may be missing.
  var isOptional: Bool { label.hasPrefix("[") }
  var takesValue: Bool { label.hasSuffix(">") }
  /// By one of its names, with its value: `--output <file>`.
  func label(as name: String) -> String {
    valueName.isEmpty ? name : isOperand ? "<\(valueName)>" : "\(name) <\(valueName)>"
  }
  /// The value in capitals; one of a few words is as it is.
  var valueText: String { valueName.contains("|") ? valueName : valueName.uppercased() }
}
