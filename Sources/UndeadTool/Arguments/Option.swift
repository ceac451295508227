/// Declares what a property has of the command line, as the help writes it:
///
///     @Option("-o, --output <file>", help: "...") var output: String?      an option with a value
///     @Option("--report <format=file>", help: "...") var reports: [Report] = []      one that may be given several times
///     @Flag("--all", help: "...") var all = false      one without a value
///     @Argument("<file>", help: "...") var file: String      a word that is no option, and has to be given
///
/// What is set later is in this copy of the command only.
@propertyWrapper struct Option<Value> {
  private let declared: Declared<Value>
  private var own: Value?

  var wrappedValue: Value {
    get { own ?? declared.value! }
    set { own = newValue }
  }

  init(
    wrappedValue: Value, _ label: String, help: String, brief: String? = nil, completion: Completion = .none,
    transform: @escaping (String) throws -> Value
  ) {
    declared = Declared(.init(label: label, help: help, brief: brief, completion: completion), initial: wrappedValue) {
      $0 = try transform($1)
    }
  }

  init<One>(
    _ label: String, help: String, brief: String? = nil, completion: Completion = .none,
    transform: @escaping (String) throws -> One
  ) where Value == One? {
    declared = Declared(.init(label: label, help: help, brief: brief, completion: completion), initial: .some(nil)) {
      $0 = try transform($1)
    }
  }

  /// With a value at first.
  init(
    wrappedValue: Value, _ label: String, help: String, brief: String? = nil, completion: Completion = .none
  ) where Value: ExpressibleByArgument {
    declared = Declared(
      .init(label: label, help: help, brief: brief, completion: completion), initial: wrappedValue, type: Value.self,
      take: { $0 = try Value(argument: $1) })
  }

  /// None at first.
  init<One: ExpressibleByArgument>(
    _ label: String, help: String, brief: String? = nil, completion: Completion = .none
  ) where Value == One? {
    declared = Declared(
      .init(label: label, help: help, brief: brief, completion: completion), initial: .some(nil), type: One.self,
      take: { $0 = try One(argument: $1) })
  }

  /// Any number.
  init<One: ExpressibleByArgument>(
    wrappedValue: [One], _ label: String, words: Declaration.Words = .any, help: String, brief: String? = nil,
    completion: Completion = .none
  ) where Value == [One] {
    declared = Declared(
      .init(label: label, help: help, brief: brief, completion: completion), words: words, initial: wrappedValue,
      isRepeating: true, take: { $0?.append(try One(argument: $1)) })
  }

  /// One, which has to be given.
  init(_ label: String, help: String, completion: Completion = .none) where Value: ExpressibleByArgument {
    declared = Declared(.init(label: label, help: help, completion: completion)) { $0 = try Value(argument: $1) }
  }

  /// One or more.
  init(_ label: String, help: String, completion: Completion = .none) where Value == [String] {
    declared = Declared(.init(label: label, help: help, completion: completion), isRepeating: true) {
      $0 = ($0 ?? []) + [$1]
    }
  }

  init(wrappedValue: Value, _ label: String, help: String, brief: String? = nil) where Value == Bool {
    declared = Declared(.init(label: label, help: help, brief: brief), initial: wrappedValue) { value, _ in value = true
    }
  }

  /// A flag with a second name, which turns it off.
  init(_ label: String, help: String) where Value == Bool? {
    declared = Declared(.init(label: label, help: help), initial: .some(nil)) { $0 = !$1.hasPrefix("--no-") }
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

/// A type that a word can be read as.
protocol ExpressibleByArgument {
  /// - Throws: ``ValidationError``, which may be empty.
  init(argument: String) throws
  /// What may be written, if that is little.
  static var allNames: [String] { get }
}

extension ExpressibleByArgument {
  static var allNames: [String] { [] }
}

extension ExpressibleByArgument where Self: LosslessStringConvertible {
  init(argument: String) throws {
    guard let value = Self(argument) else { throw ValidationError("") }
    self = value
  }
}

extension ExpressibleByArgument where Self: RawRepresentable<String> & CaseIterable {
  init(argument: String) throws {
    guard let value = Self(rawValue: argument) else { throw ValidationError("") }
    self = value
  }

  static var allNames: [String] { allCases.map(\.rawValue) }
}

extension String: ExpressibleByArgument {}
extension Int: ExpressibleByArgument {}
extension Int32: ExpressibleByArgument {}
extension UInt32: ExpressibleByArgument {}
extension UInt64: ExpressibleByArgument {}
extension Double: ExpressibleByArgument {}
