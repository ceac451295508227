import UndeadHeap

/// What a watch may not find: a line of `--fail-on-growth`.
///
/// - `any`: anything that grows;
/// - `10MB/h`, `1000/min`: all memory grows by more than that, in bytes or in blocks;
/// - `App.Session>100/min`, `App.*>1MB/h`: a type whose name is matched grows by more than that;
/// - `App.Session`: it grows at all;
/// - `resident>10MB/h`: the resident memory of the process grows by more than that;
/// - `descriptors>10/min`, `threads>10/min`: its open files, or its threads, do.
///
/// `*` stands for any characters; the module may be left out. Units are B, KB, MB and GB (1 KB is 1024 bytes), or none for
/// objects; times are s, min, h and d. Growth is more than a rate if all of its interval is.
package struct GrowthRule: Sendable, Equatable {
  /// As it was written.
  package let text: String
  /// nil: all memory together.
  let pattern: String?
  /// By the second; 0 for any growth.
  let most: Double
  let isBytes: Bool?

  /// Reads a rule.
  ///
  /// - Throws: ``GrowthRuleError`` that says what a rule looks like.
  package init(_ text: String) throws(GrowthRuleError) {
    self.text = text
    if text == "any" {
      (pattern, most, isBytes) = ("*", 0, nil)
    } else if let rate = Self.rate(text[...]) {
      (pattern, most, isBytes) = (nil, rate.most, rate.isBytes)
    } else if let (pattern, rate) = Self.split(text) {
      (self.pattern, most, isBytes) = (pattern, rate.most, rate.isBytes)
    } else if Self.isType(text) {
      (pattern, most, isBytes) = (text, 0, nil)
    } else {
      throw GrowthRuleError(
        description:
          "'\(text)' is no rule for growth; write for example 'any', '10MB/h', 'App.Session>100/min' or 'App.*>0/h'")
    }
  }

  private static let ofProcess = [
    "resident": TypeCounts.resident, "descriptors": TypeCounts.descriptors, "threads": TypeCounts.threads,
  ]

  private typealias Rate = (most: Double, isBytes: Bool)

  /// "App.Box<Swift.Int>>100/min": what follows the last ">" is the rate.
  private static func split(_ text: String) -> (String, Rate)? {
    guard let sign = text.lastIndex(of: ">"), sign > text.startIndex else { return nil }
    let pattern = text[..<sign].trimmingSpaces
    guard let rate = rate(text[text.index(after: sign)...]), isType(pattern) else { return nil }
    return (pattern, rate)
  }

  /// No type has a slash, begins with a digit, or closes more brackets than it opens: that is a rate with a mistake.
  private static func isType(_ text: String) -> Bool {
    guard let first = text.first, !first.isNumber, first != ">", !text.contains("/"), text.last != " ", first != " "
    else { return false }
    let bare = text.replacing("->", with: "")
    return text.contains("*") || bare.count { $0 == ">" } <= bare.count { $0 == "<" }
  }

  private static func rate(_ text: Substring) -> Rate? {
    let parts = text.trimmingSpaces.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let seconds = seconds[String(parts[1])] else { return nil }
    let digits = parts[0].prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = String(parts[0].dropFirst(digits.count)).trimmingPrefixSpaces
    guard let number = Double(digits), number.isFinite else { return nil }
    if unit.isEmpty { return (number / seconds, false) }
    guard let bytes = units[unit] else { return nil }
    return (number * bytes / seconds, true)
  }

  private static let seconds: [String: Double] = ["s": 1, "min": 60, "h": 3600, "d": 86400]
  private static let units: [String: Double] = ["B": 1, "KB": 1024, "MB": 1_048_576, "GB": 1_073_741_824]

  /// True if the growth breaks the rule.
  func isBroken(by growth: TypeGrowth) -> Bool {
    let wanted = pattern.flatMap { Self.ofProcess[$0] }
    if wanted != nil || TypeCounts.ofProcess.contains(growth.name) {
      guard growth.name == wanted else { return false }
    } else if let pattern {
      guard growth.name != TypeCounts.all || pattern == "*" else { return false }
      guard pattern == "*" || Glob.matches(pattern, growth.name) else { return false }
    } else if growth.name != TypeCounts.all {
      return false
    }
    let count = growth.countGrows && growth.count.interval.lowerBound > most
    let bytes = growth.bytesGrow && growth.bytes.interval.lowerBound > most
    switch isBytes {
    case nil: return count || bytes
    case true?: return bytes
    case false?: return count
    }
  }
}

/// Why a rule cannot be read.
package struct GrowthRuleError: Error, Sendable, Equatable, CustomStringConvertible {
  package let description: String
}

/// Patterns for names of types.
enum Glob {
  /// True if the pattern matches the whole name, or what follows its module.
  static func matches(_ pattern: String, _ name: String) -> Bool {
    if matches(Array(pattern.utf8)[...], Array(name.utf8)[...]) { return true }
    // A dot behind "<" belongs to an argument.
    guard let end = name.firstIndex(where: { ".< (".contains($0) }), name[end] == "." else { return false }
    return matches(Array(pattern.utf8)[...], Array(name[name.index(after: end)...].utf8)[...])
  }

  private static func matches(_ pattern: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
    var (pattern, name) = (pattern, name)
    // Where to go on if what follows the last star does not match.
    var retry: (pattern: ArraySlice<UInt8>, name: ArraySlice<UInt8>)?
    while !name.isEmpty {
      if pattern.first == UInt8(ascii: "*") {
        pattern = pattern.dropFirst()
        retry = (pattern, name)
      } else if let wanted = pattern.first, wanted == name.first {
        pattern = pattern.dropFirst()
        name = name.dropFirst()
      } else if let last = retry {
        retry = (last.pattern, last.name.dropFirst())
        (pattern, name) = (last.pattern, last.name.dropFirst())
      } else {
        return false
      }
    }
    return pattern.allSatisfy { $0 == UInt8(ascii: "*") }
  }
}

extension StringProtocol {
  fileprivate var trimmingPrefixSpaces: String { String(drop { $0 == " " }) }
  fileprivate var trimmingSpaces: String {
    var rest = self.drop { $0 == " " }
    while rest.last == " " { rest = rest.dropLast() }
    return String(rest)
  }
}
