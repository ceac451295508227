/// Which functions of a test program are tests, as far as its symbol tables show.
///
/// The stack of an asynchronous test ends in the runtime, not in the test library, so that only its name distinguishes
/// it from another asynchronous function.
package struct TestCatalog: Sendable, Equatable {
  /// Functions with `@Test`, qualified, without their arguments.
  var functions: Set<String> = []
  /// Types with such functions, qualified.
  private(set) var suites: Set<String> = []
  /// Modules with XCTest cases.
  var modules: Set<String> = []

  /// Makes a catalogue of nothing: tests are recognised by the frames around them and by their names.
  package init() {}

  /// Reads the symbol tables of the programs and libraries of snapshots; files that cannot be read add nothing.
  package init(_ snapshots: [LeakSnapshot]) {
    var known = Set<String>()
    for module in snapshots.lazy.flatMap(\.modules) where !module.isSystem && module.path.hasPrefix("/") {
      guard known.insert(module.path).inserted, let file = try? ELFFile(path: module.path) else { continue }
      add(file.functionNames(containing: ["4TestfMp_", "DiscoveredTests"]))
    }
  }

  /// Adds what the names of functions tell.
  ///
  /// The functions that the macro makes of one test are dozens, whose names begin alike up to the macro: one is enough.
  mutating func add(_ symbols: [String]) {
    var known = Set<Substring>()
    for symbol in symbols {
      if let macro = symbol.firstPlainRange(of: "4TestfMp_"), !known.insert(symbol[..<macro.upperBound]).inserted {
        continue
      }
      add(symbol)
    }
  }

  mutating func add(_ symbol: String) {
    guard let text = Demangler.demangleSwift(symbol) else { return }
    if let function = Self.expandedTest(in: text) {
      functions.insert(function)
      suites.insert(FunctionName(function).path.dropLast().joined(separator: "."))
    }
    if let start = text.firstPlainRange(of: "__"), let end = text.firstPlainRange(of: "__allTests()"),
      start.upperBound < end.lowerBound
    {
      modules.insert(String(text[start.upperBound..<end.lowerBound]))
    }
  }

  /// The function whose `@Test` made the code that a demangled symbol names, qualified; nil if it is none of these.
  ///
  /// The name that the macro makes holds the mangled place of its expansion.
  static func expandedTest(in text: String) -> String? {
    guard let end = text.firstPlainRange(of: "4TestfMp"),
      let start = text[..<end.lowerBound].plainRanges(of: "$s").last
    else { return nil }
    let place = Demangler.demangleSwift("\(text[start.lowerBound..<end.upperBound])_")
    guard let place, let of = place.firstPlainRange(of: " of "), place.hasPrefix("peer macro @Test") else { return nil }
    return FunctionName.member(String(place[of.upperBound...]))
  }
}

extension StringProtocol {
  /// Like `firstRange(of:)` for ASCII, byte by byte: to compare characters takes ten times as long, for each symbol of a
  /// program.
  func firstPlainRange(of part: String) -> Range<Index>? {
    let part = Array(part.utf8)
    var start = utf8.startIndex
    while let first = utf8[start...].firstIndex(of: part[0]) {
      if utf8[first...].starts(with: part) { return first..<utf8.index(first, offsetBy: part.count) }
      start = utf8.index(after: first)
    }
    return nil
  }

  fileprivate func plainRanges(of part: String) -> [Range<Index>] {
    var ranges: [Range<Index>] = []
    var start = startIndex
    while let range = self[start...].firstPlainRange(of: part) {
      ranges.append(range)
      start = range.upperBound
    }
    return ranges
  }
}
