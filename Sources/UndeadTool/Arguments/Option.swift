/// Declares what a property has of the command line, as the help writes it:
///
///     @Option("-o, --output <file>", help: "...") var output: String?      an option with a value
///     @Option("--report <format=file>", help: "...") var reports: [Report] = []      one that may be given several times
///     @Flag("--all", help: "...") var all = false      one without a value
///     @Argument("<file>", help: "...") var file = ""      a word that is no option; `[<file>]` may be missing
///
/// What is set later is in this copy of the command only.
@propertyWrapper struct Option<Value> {
  /// What was read.
  private final class Box {
    var value: Value

    init(_ value: Value) { self.value = value }
  }

  private let box: Box
  private var own: Value?

  var wrappedValue: Value {
    get { own ?? box.value }
    set { own = newValue }
  }

  /// - Parameter type: of the value, if that says itself what it can be.
  private init(
    initial: Value, _ label: String, _ help: String, _ brief: String?, _ completion: Completion = .none,
    words: Declaration.Words = .any, isRepeating: Bool = false, type: (any ExpressibleByArgument.Type)? = nil,
    take: @escaping (inout Value, String) throws -> Void
  ) {
    let box = Box(initial)
    self.box = box
    _ = Declaration(
      label, help: help, brief: brief, completion: completion, words: words, isRepeating: isRepeating,
      read: { try take(&box.value, $0) }, values: { type?.allNames ?? [] },
      initialText: { type != nil && initial is any ExpressibleByArgument ? "\(initial)" : "" })
  }

  init(
    wrappedValue: Value, _ label: String, help: String, brief: String? = nil, completion: Completion = .none,
    transform: @escaping (String) throws -> Value
  ) {
    self.init(initial: wrappedValue, label, help, brief, completion) { $0 = try transform($1) }
  }

  init<One>(
    _ label: String, help: String, brief: String? = nil, completion: Completion = .none,
    transform: @escaping (String) throws -> One
  ) where Value == One? {
    self.init(initial: nil, label, help, brief, completion) { $0 = try transform($1) }
  }

  init(
    wrappedValue: Value, _ label: String, help: String, brief: String? = nil, completion: Completion = .none
  ) where Value: ExpressibleByArgument {
    self.init(initial: wrappedValue, label, help, brief, completion, type: Value.self) { $0 = try Value(argument: $1) }
  }

  init<One: ExpressibleByArgument>(
    _ label: String, help: String, brief: String? = nil, completion: Completion = .none
  ) where Value == One? {
    self.init(initial: nil, label, help, brief, completion, type: One.self) { $0 = try One(argument: $1) }
  }

  init<One: ExpressibleByArgument>(
    wrappedValue: [One], _ label: String, words: Declaration.Words = .any, help: String, brief: String? = nil,
    completion: Completion = .none
  ) where Value == [One] {
    self.init(initial: wrappedValue, label, help, brief, completion, words: words, isRepeating: true) {
      $0.append(try One(argument: $1))
    }
  }

  init(wrappedValue: Value, _ label: String, help: String, brief: String? = nil) where Value == Bool {
    self.init(initial: wrappedValue, label, help, brief) { value, _ in value = true }
  }

  /// A flag with a second name, which turns it off.
  init(_ label: String, help: String) where Value == Bool? {
    self.init(initial: nil, label, help, nil) { $0 = !$1.hasPrefix("--no-") }
  }
}

typealias Flag = Option
typealias Argument = Option

/// `@OptionGroup(title: "Report") var report: DisplayOptions`: options that several commands have.
@propertyWrapper struct OptionGroup<Value: ParsableArguments> {
  var wrappedValue: Value

  init(title: String? = nil) {
    wrappedValue = Declarations.current?.group(title) ?? Value()
  }
}
