/// Decisions that are made by bytes: those of a fuzzer, or of a seed. When there are no more, all is plain.
package struct HostileInput {
  private var bytes: ArraySlice<UInt8>

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes[...]
  }

  package mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

  package var isEmpty: Bool { bytes.isEmpty }

  /// Pieces of names that have done harm somewhere. `FORGED` never begins a line unless a line break has passed.
  package static let pieces = [
    "\u{1B}[2J\u{1B}]0;title\u{7}", "\u{9B}31m", "\u{90}q\u{9C}", "\u{7F}\u{8}\u{0}", "\nFORGED: no leaks",
    "\r\nFORGED",
    "\u{85}FORGED", "\u{2028}FORGED\u{2029}FORGED", "\u{B}FORGED\u{C}FORGED", "::error file=a::FORGED",
    "##[error]FORGED",
    "##vso[task.complete]", "%0A::error::FORGED", "\u{202E}gpj.exe\u{2066}", "\u{200B}\u{200D}\u{FEFF}\u{2060}\u{AD}",
    "\u{E0041}\u{E007F}\u{E0100}", "\u{FFFE}\u{FFFF}\u{1FFFF}", "\u{E000}\u{10FFFD}", "\u{115F}\u{3164}\u{34F}",
    "</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'/**/onload='x", "<!--", "]]>",
    "&#x1B;&lt;",
    "[a](http://evil.example)", "![a](http://evil.example/x)", "](", "<https://evil.example>", "https://evil.example/",
    "www.evil.example", "@everyone", "a@evil.example", "owner/name#1", "`", "``", "````\n", "```\u{301}", "~~~",
    "| a | b |",
    "\\", "\\\"", "\"", "'", "{0}", "{", "}", "\\N", "\\l", "<b>x</b>", "a\tb", "\u{301}", "<\u{301}", "\"\u{301}",
    "](\u{301}",
    "::\u{301}", "#\u{301}#[", "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", "\u{2764}\u{FE0F}", "1\u{FE0F}\u{20E3}",
    "e\u{301}",
    "Swift.Dictionary<Swift.String, App.Item>", "[value]", "[0]", "+16", ".", "", " ", "()", "$s3App5OwnerC",
    "closure #1 in App.f()",
    "/", "../../etc/passwd", "file:///etc/passwd", "javascript:alert(1)", "-- ", "- x", "# x", "> x", "1. x", "=====",
    "%", "%25",
    "//", "*/", "/*", "#", "$", "*", "_", "!", "App.",
  ]

  /// A name, or anything.
  package mutating func string(_ plain: String) -> String {
    var text = ""
    var left = Int(byte() % 4)
    if left == 0 { return plain }
    while left > 0 {
      left -= 1
      switch byte() {
      case 250...: text.unicodeScalars.append(Unicode.Scalar(UInt32(byte()) << 13 | UInt32(byte()) << 5 | 7) ?? "?")
      case 246...249: text += String(repeating: Self.pieces[Int(byte()) % Self.pieces.count], count: Int(byte()))
      case 240...245: text += plain
      case let number: text += Self.pieces[Int(number) % Self.pieces.count]
      }
    }
    return text
  }

  private static let numbers = [
    0, 1, -1, 2, 1023, 1024, 10_239, 10_240, 1 << 31, 1 << 32, 1 << 53, 1 << 62, .max, .max - 1, .min, .min + 1, -1024,
  ]

  package mutating func number(_ plain: Int) -> Int {
    let choice = byte()
    return choice < 100 ? plain : Self.numbers[Int(choice) % Self.numbers.count]
  }

  private static let doubles = [0, -0.0, -1, 1e-300, 1e300, -1e300, 9e15, 1e18, 1e19, -1e19, 0.05, 59.96, 119.96]

  package mutating func double(_ plain: Double) -> Double {
    let choice = byte()
    return choice < 100 ? plain : Self.doubles[Int(choice) % Self.doubles.count]
  }

  private static let sizes: [UInt64] = [0, 1, 8, 1023, 1024, 1 << 20, 1 << 32, 1 << 40, 1 << 47, 1 << 53, 1 << 56]

  /// A size in bytes, or a count, of what has no sign: mostly one that a reader lets pass.
  package mutating func size(_ plain: UInt64) -> UInt64 {
    let choice = byte()
    if choice > 250 { return UInt64(bitPattern: Int64(number(0))) }
    return choice < 100 ? plain : Self.sizes[Int(choice) % Self.sizes.count]
  }
}
