/// What a command line may have: an option, a flag or an operand.
///
/// The property of a command that has the value declares it, by its wrapper (`Option`), and nothing else has to name it: when a command
/// is made, each wrapper adds its declaration to the `Declarations` that are being collected, in the order of the properties. The reader,
/// the help, the manual and the completions all go through that list. Nothing is found by reflection, which would take longer than all
/// else that the tool does for a short program, and no text is taken apart before it is needed.
class Declaration {
  /// Which words an operand takes.
  enum Words {
    case any
    /// Those after `--`.
    case afterTerminator
    /// From the first word on that is no option of the command: all, with `--` and with options.
    case rest
  }

  /// As it is written in the help: `-o, --output <file>`, `--all`, `--fold/--no-fold`, `<file>`.
  let label: String
  let help: String
  /// The same in a few words, for the help of one screen.
  let brief: String?
  let completion: Completion
  let words: Words
  let isRepeating: Bool
  /// True if it may be missing.
  let isOptional: Bool
  /// Of its group.
  fileprivate(set) var title: String?

  /// With dashes, the short one first; an operand has none.
  private(set) lazy var names = label.split { " ,/".contains($0) }.filter { $0.hasPrefix("-") }.map(String.init)
  /// What the value is called, without brackets; empty for a flag.
  private(set) lazy var valueName = String(label.drop { $0 != "<" }.dropFirst().dropLast())

  init(_ text: Text, words: Words, isRepeating: Bool, isOptional: Bool) {
    label = text.label
    help = text.help
    brief = text.brief
    completion = text.completion
    self.words = words
    self.isRepeating = isRepeating
    self.isOptional = isOptional
    Declarations.current?.add(self)
  }

  var isOperand: Bool { label.hasPrefix("<") }
  var takesValue: Bool { label.hasSuffix(">") }
  /// Its longest form with its value: `--output <file>`.
  func label(as name: String) -> String { takesValue && !isOperand ? "\(name) <\(valueName)>" : label }
  /// The value in capitals; one of a few words is as it is.
  var valueText: String { !isOperand && valueName.contains("|") ? valueName : valueName.uppercased() }
  /// An operand in a line of usage.
  var usage: String { isRepeating ? "\(label) ..." : label }

  /// Takes a value; of a flag, the name that it was given by.
  func read(_ word: String) throws {}
  /// All values that it may have, if these are few.
  var values: [String] { [] }
  /// The value that it has if it is not given, for the help.
  var initialText: String { "" }

  struct Text {
    var label: String
    var help: String
    var brief: String?
    var completion = Completion.none
  }
}

/// A declaration with its value.
final class Declared<Value>: Declaration {
  private let initial: Value?
  private let type: (any ExpressibleByArgument.Type)?
  private let take: (inout Value?, String) throws -> Void
  private(set) var value: Value?

  /// - Parameter type: of a value, if that says itself what it can be.
  init(
    _ text: Text, words: Words = .any, initial: Value? = nil, isRepeating: Bool = false,
    type: (any ExpressibleByArgument.Type)? = nil, take: @escaping (inout Value?, String) throws -> Void
  ) {
    self.initial = initial
    self.type = type
    self.take = take
    value = initial
    super.init(text, words: words, isRepeating: isRepeating, isOptional: initial != nil)
  }

  override func read(_ word: String) throws { try take(&value, word) }
  override var values: [String] { type?.allNames ?? [] }
  override var initialText: String {
    guard type != nil, let initial, initial is any ExpressibleByArgument else { return "" }
    return "\(initial)"
  }
}

/// The declarations of a command that is being made. One thread makes and reads it.
final class Declarations: @unchecked Sendable {
  @TaskLocal static var current: Declarations?

  private(set) var all: [Declaration] = []
  private var checks: [() throws -> Void] = []
  private var title: String?

  static func of<Made: Command>(_ command: Made.Type) -> (Made, Declarations) {
    let declarations = Declarations()
    return ($current.withValue(declarations) { Made() }, declarations)
  }

  fileprivate func add(_ declaration: Declaration) {
    declaration.title = title
    all.append(declaration)
  }

  /// Makes a group of them.
  func group<Group: ParsableArguments>(_ title: String?) -> Group {
    self.title = title
    defer { self.title = nil }
    let group = Group()
    checks.append(group.validate)
    return group
  }

  /// Checks the values of all groups.
  func validate() throws {
    for check in checks { try check() }
  }
}
