/// Rules that take expected leaks and zombies out of a report, read from files in the format of LeakSanitizer and its extension.
///
/// `Documentation/suppressions.md` describes the format.
public struct Suppressions: Sendable {
  /// What a rule looks at.
  package enum Subject: String, Sendable, CaseIterable {
    /// Function, source file or module of any frame of the allocation.
    case leak
    /// Types of the cycle, the path or the root objects.
    case type
    /// Fields of the cycle or path, as `field` or `Type.field`.
    case field
    /// Module of any frame of the allocation, or Swift module of the types.
    case module
    /// Method, field, or function, source file or module of any frame of the use or the death of a dead object.
    case zombie
    /// Type of a dead object that was used.
    case zombieType = "zombie-type"
    /// How a dead object was used: `retain`, `method`, ...
    case zombieKind = "zombie-kind"
  }

  /// One line of a file.
  package struct Rule: Sendable {
    /// What the rule looks at.
    package var subject: Subject
    /// The pattern as it stands in the file.
    package var pattern: String
    /// The text after `#`.
    package var reason: String?
    /// Name of the file, as given.
    package var file: String
    /// Line in the file, from 1.
    package var line: Int
    let matcher: SuppressionPattern
    /// True if a report says so when the rule took nothing out.
    var isToldUnused = true

    /// Where the rule stands, and what it says.
    package var description: String { "\(subject.rawValue):\(pattern) (\(file):\(line))" }
  }

  /// The rules, in the order of the files.
  package private(set) var rules: [Rule] = []

  /// Makes a set without rules.
  public init() {}

  /// Adds the rules of a file's text.
  ///
  /// - Parameters:
  ///   - text: lines of rules, as in `Documentation/suppressions.md`.
  ///   - file: name of the file, for messages.
  ///   - tellsUnused: false for a file of many programs, of whose rules each needs some.
  /// - Throws: ``SuppressionError`` that names the line.
  public mutating func add(_ text: String, file: String, tellsUnused: Bool = true) throws(SuppressionError) {
    var line = 0
    for row in text.split(separator: "\n", omittingEmptySubsequences: false) {
      line += 1
      let content = row.trimmed
      guard !content.isEmpty, !content.hasPrefix("#") else { continue }
      var rule = try Self.rule(content, file: file, line: line)
      rule.isToldUnused = tellsUnused
      rules.append(rule)
    }
  }

  private static func rule(_ content: Substring, file: String, line: Int) throws(SuppressionError) -> Rule {
    func problem(_ message: String) -> SuppressionError { SuppressionError(file: file, line: line, message: message) }
    let kinds = Subject.allCases.map { "`\($0.rawValue):`" }.joined(separator: ", ")
    guard let colon = content.firstIndex(of: ":") else {
      throw problem("\"\(content)\" does not say what it suppresses; write one of \(kinds) before the pattern")
    }
    guard let subject = Subject(rawValue: String(content[..<colon])) else {
      throw problem("\"\(content[..<colon]):\" is not a kind of suppression; use one of \(kinds)")
    }
    let (pattern, reason) = splitReason(content[content.index(after: colon)...])
    guard !pattern.isEmpty else {
      throw problem(
        "the pattern after \"\(subject.rawValue):\" is empty; it would suppress everything, write `*` for that")
    }
    return Rule(
      subject: subject, pattern: String(pattern), reason: reason.isEmpty ? nil : String(reason), file: file,
      line: line, matcher: SuppressionPattern(String(pattern)))
  }

  /// The reason follows a `#` between blanks: "closure #1" is part of a pattern.
  private static func splitReason(_ text: Substring) -> (pattern: Substring, reason: Substring) {
    var position = text.startIndex
    while let hash = text[position...].firstIndex(of: "#") {
      let next = text.index(after: hash)
      let isAfterBlank = hash == text.startIndex || text[text.index(before: hash)].isWhitespace
      if isAfterBlank, next == text.endIndex || text[next].isWhitespace {
        return (text[..<hash].trimmed, text[next...].trimmed)
      }
      position = next
    }
    return (text.trimmed, "")
  }
}

/// A pattern as LeakSanitizer takes it: found anywhere in the text, `*` for any characters, `^` and `$` for the ends.
struct SuppressionPattern: Sendable {
  private let parts: [[UInt8]]
  private let isAnchoredAtStart: Bool
  private let isAnchoredAtEnd: Bool

  init(_ pattern: String) {
    var text = Substring(pattern)
    isAnchoredAtStart = text.hasPrefix("^")
    if isAnchoredAtStart { text = text.dropFirst() }
    isAnchoredAtEnd = text.hasSuffix("$")
    if isAnchoredAtEnd { text = text.dropLast() }
    parts = text.split(separator: "*", omittingEmptySubsequences: false).map { Array($0.utf8) }
  }

  func matches(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    var position = 0
    for (number, part) in parts.enumerated() {
      let isLast = number == parts.count - 1
      if isLast, isAnchoredAtEnd {
        let start = bytes.count - part.count
        let isExact = number == 0 && isAnchoredAtStart
        return start >= position && (!isExact || start == 0) && bytes[max(start, 0)...].elementsEqual(part)
      }
      if number == 0, isAnchoredAtStart {
        guard bytes.starts(with: part) else { return false }
        position = part.count
      } else {
        guard let found = Self.find(part, in: bytes, from: position) else { return false }
        position = found + part.count
      }
    }
    return true
  }

  private static func find(_ part: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
    guard start + part.count <= bytes.count else { return nil }
    return (start...(bytes.count - part.count)).first { bytes[$0..<($0 + part.count)].elementsEqual(part) }
  }
}

extension StringProtocol {
  /// Without the blanks at both ends.
  package var trimmed: SubSequence {
    guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else {
      return self[startIndex..<startIndex]
    }
    return self[first...last]
  }
}
