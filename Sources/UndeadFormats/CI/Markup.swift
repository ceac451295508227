import UndeadReport
import UndeadSystem

/// How text is written in a language that gives some of its characters a meaning.
protocol MarkupLanguage {
  /// - Parameter text: a line of visible text.
  static func escaped(_ text: String) -> String
}

/// Text in a language of markup. Literals are markup; what is put into them is shown as it is, whatever it holds.
///
/// As in `TextLine`, raw text cannot pass: it becomes visible by `VisibleText` and is then escaped by the language.
struct Markup<Language: MarkupLanguage>: ExpressibleByStringInterpolation, Sendable {
  private(set) var source: String

  init(stringLiteral text: String) {
    source = text
  }

  init(stringInterpolation text: StringInterpolation) {
    source = text.source
  }

  /// Text that is shown as it is.
  init(_ text: some StringProtocol) {
    source = Language.escaped(VisibleText.line(text))
  }

  /// Markup that was made otherwise.
  init(verbatim source: String) {
    self.source = source
  }

  static func + (left: Self, right: Self) -> Self {
    var sum = left
    sum.source += right.source
    return sum
  }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var source = ""

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ text: String) { source += text }

    mutating func appendInterpolation(_ markup: Markup) { source += markup.source }

    mutating func appendInterpolation(_ line: TextLine) { source += Language.escaped(line.plain) }

    mutating func appendInterpolation<Value>(_ value: Value) {
      source += Language.escaped(VisibleText.line("\(value)"))
    }
  }
}

extension Sequence {
  /// One piece of markup of many.
  func joined<Language>(separator: Markup<Language>) -> Markup<Language> where Element == Markup<Language> {
    var result: Markup<Language> = ""
    for (number, piece) in enumerated() { result = number == 0 ? piece : result + separator + piece }
    return result
  }
}

extension DefaultStringInterpolation {
  /// Markup is no string: it would show its storage.
  @available(*, unavailable, message: "use Markup, or its 'source'")
  mutating func appendInterpolation<Language>(_ markup: Markup<Language>) {}
}
