import Testing
import UndeadHostileSamples
import UndeadSystem
import UndeadTestSupport

/// All that writes reports, given names that would do harm where they are shown.
@Suite struct WriterTests {
  /// Every hidden scalar that is of a kind of its own, with what comes before and behind it.
  private static let hidden: [Unicode.Scalar] = {
    let ranges: [ClosedRange<UInt32>] = [
      0...0x1F, 0x7F...0x9F, 0xAD...0xAD, 0x34F...0x34F, 0x61C...0x61C, 0x115F...0x1160, 0x180B...0x180F,
      0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0x3164...0x3164, 0xE000...0xE000, 0xFE00...0xFE0F,
      0xFEFF...0xFEFF, 0xFFF9...0xFFFB, 0xFFFE...0xFFFF, 0x1D173...0x1D17A, 0xE0001...0xE0001, 0xE0020...0xE007F,
      0xE0100...0xE0101, 0xF0000...0xF0000, 0x10FFFF...0x10FFFF,
    ]
    return ranges.flatMap { $0 }.compactMap { Unicode.Scalar($0) }
  }()

  @Test func hiddenScalarsAreKnown() {
    for scalar in Self.hidden {
      #expect(VisibleText.isHidden(scalar), "\(VisibleText.escape(scalar))")
      let shown = VisibleText.line("a\(Character(scalar))b")
      #expect(shown == "a\(VisibleText.escape(scalar))b")
    }
    for text in [
      "App.Größe", "App.名前", "Ελλάς Ж", "a\u{301}", "\u{1F468}\u{200D}\u{1F469}", "\u{2764}\u{FE0F}", "# ##", "a::b",
    ] {
      #expect(VisibleText.line(text) == text)
    }
    #expect(
      VisibleText.line("##[error]x ##vso[a] ###[b] ## [c]") == #"#\u{23}[error]x #\u{23}vso[a] ##\u{23}[b] ## [c]"#)
    #expect(
      VisibleText.line("a\u{200D}b \u{1F468}\u{200D}b")
        == #"a\u{200D}b \u{1F468}\u{200D}b"#.replacing(#"\u{1F468}"#, with: "\u{1F468}"))
    #expect(VisibleText.lines("a\nb\r\nc\u{9B}") == #"a"# + "\n" + #"b\u{D}"# + "\n" + #"c\u{9B}"#)
  }

  @Test(arguments: [false, true]) func namesOfHiddenScalars(ofHeaps: Bool) {
    // All of them in one name, and each at the start, in the middle and at the end of one.
    let all = String(String.UnicodeScalarView(Self.hidden.flatMap { ["x", $0] }))
    let scalars: [Unicode.Scalar] = [
      "\n", "\u{1B}", "\u{202E}", "\r", "\u{7F}", "\u{85}", "\u{9B}", "\u{2028}", "\u{FFFE}",
    ]
    for text in [all] + scalars.prefix(Thorough.count(2, of: 9)).map({ "\($0)FORGED\($0)FORGED: no leaks\($0)" }) {
      check(HostileFindings(text: text, heaps: ofHeaps), ofHeaps, VisibleText.line(text))
    }
  }

  @Test(arguments: [false, true]) func namesThatAreMarkup(ofHeaps: Bool) {
    // Heaps take longer: several pieces in one name.
    let size = ofHeaps ? Thorough.count(60, of: 12) : Thorough.count(20, of: 1)
    for start in stride(from: 0, to: HostileInput.pieces.count, by: size) {
      let text = HostileInput.pieces[start...].prefix(size).joined()
      check(HostileFindings(text: text, heaps: ofHeaps), ofHeaps, VisibleText.line(text))
    }
  }

  /// A few of the findings that a fuzzer would make: `scripts/check/fuzz` makes more.
  @Test(arguments: [false, true]) func findingsOfAnyValues(ofHeaps: Bool) {
    var bytes = RandomBytes()
    for number in 0..<Thorough.count(1, of: 4) {
      let input = bytes.next(3000)
      check(ofHeaps ? HostileFindings(heaps: input) : HostileFindings(reports: input), ofHeaps, "input \(number)")
    }
  }

  /// Each of the writers of heaps, or of the others: the findings are made once for all of them.
  private func check(_ findings: HostileFindings, _ ofHeaps: Bool, _ name: String) {
    for writer in Writer.allCases where writer.isOfHeaps == ofHeaps {
      #expect(writer.problem(findings) == nil, "\(writer): \(name)")
    }
  }

  /// The writers of heaps see nothing of an input whose heaps the reader refuses.
  @Test func hostileHeapsLoad() {
    var bytes = RandomBytes()
    let loaded = (0..<100).reduce(0) { sum, number in sum + HostileFindings(heaps: bytes.next(40 * number)).heaps.count
    }
    #expect(loaded == 200)
  }
}

/// Bytes that are the same in each run.
private struct RandomBytes {
  private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

  mutating func next(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return UInt8(truncatingIfNeeded: state >> 32)
    }
  }
}
