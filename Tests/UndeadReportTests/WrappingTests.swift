import Testing
import UndeadSystem

@testable import UndeadReport

/// Lines on a terminal: as wide as it is, in colour, with links.
@Suite struct WrappingTests {
  @Test func linesAreBrokenBetweenWordsAndSetIn() {
    let lines: [TextLine] = [
      "  with it    2 × Swift.__StringStorage (128 bytes), 1 × App.Child (32 bytes)",
      "    #0  App.makePair() at /app/Sources/App/Pair.swift:12",
    ]
    #expect(
      Wrapping.wrapped(lines, width: 50) == [
        "  with it    2 × Swift.__StringStorage (128",
        "             bytes), 1 × App.Child (32 bytes)",
        "    #0  App.makePair() at",
        "        /app/Sources/App/Pair.swift:12",
      ])
    #expect(Wrapping.wrapped(lines, width: nil) == lines, "a file has no width")
  }

  @Test func theMarkStaysBelowWhatItMarks() {
    let mark: TextLine = "      ^^^^^^^^"
    let lines = ["      .onEvent → closure #1 in App.Owner.start() at main.swift:12", mark.marking()]
    #expect(
      Wrapping.wrapped(lines, width: 45) == [
        "      .onEvent → closure #1 in", mark.marking(), "          App.Owner.start() at main.swift:12",
      ])
    let name: TextLine = "      \("^^^^")"
    #expect(Wrapping.wrapped([lines[0], name], width: 45).last == name, "a field may be called like a mark")
  }

  @Test func escapeSequencesTakeNoRoom() {
    let place = TextStyle.place.apply("main.swift:3")
    let line: TextLine = "    \(TextStyle.type.apply("App.Owner")) made in a function at \(place)"
    #expect(Wrapping.wrapped([line], width: 48) == [line])
    let rows = Wrapping.wrapped([line], width: 47)
    #expect(rows.count == 2)
    #expect(rows[1].terminal(ReportTextOptions(color: true)) == "        \u{1B}[4mmain.swift:3\u{1B}[0m")
  }

  @Test func aTerminalGetsColours() throws {
    var options = ReportTextOptions(color: true, stacks: false)
    options.directory = "/app"
    let text = TextRenderer.render(try Scenario.pair().report(), options: options)
    #expect(text.contains("at \u{1B}[4mmain.swift:12\u{1B}[0m\n"))
    #expect(text.contains("\n      \u{1B}[31m^^^^^^\u{1B}[0m\n"))
    #expect(!text.replacing("\u{1B}", with: "").contains("\u{1B}"))
  }

  @Test func theLastLinesSayWhatWasLookedAtAndWhatToRunNext() throws {
    var heap = Scenario.pair()
    heap.count("liveBlocks", 87_587)
    heap.count("liveBytes", 66_480_000)
    #expect(try heap.text().hasSuffix("\n\nlive: 87,587 blocks, 63.4 MB\nundead: 1 leak (6 objects, 288 bytes)\n"))
    var report = try heap.report()
    report.leaks[0].test = TestIdentity(name: "loads(from:)", suite: "AppTests.Loader", library: "Testing")
    #expect(
      TextRenderer.render(report).contains("\n\nnext: undead test -- --filter 'AppTests.Loader/loads'\nlive: 87,587"))
    report.leaks[0].test = TestIdentity(name: "`1 + 1 isn't [3]`()", suite: "AppTests", library: "Testing")
    #expect(
      TextRenderer.render(report).contains(#"--filter 'AppTests.`1 \+ 1 isn'\''t \[3\]`'"#),
      "a regular expression, as the module has the function")
    report.leaks[0].test = TestIdentity(name: "loads(from:)", suite: "AppTests.Loader", library: "Testing")
    var options = ReportTextOptions()
    options.command = "swift package undead"
    #expect(
      TextRenderer.render(report, options: options).contains("\nnext: swift package undead test -- "))
    report.leaks.append(report.leaks[0])
    report.leaks[1].test = TestIdentity(name: "init", suite: "AppTests.Other", library: "Testing")
    report.leaks[1].totalBytes = 9000
    let next = "next: undead test -- --filter 'AppTests.Other/'  (the worst of 2 tests)\n"
    #expect(TextRenderer.render(report).contains(next))
  }

  @Test func numbersHaveOneStyle() {
    #expect(
      Quantity.grouped(999) == "999" && Quantity.grouped(9999) == "9,999" && Quantity.grouped(-12_345) == "-12,345")
    #expect(Quantity.of(1_234_567, "block") == "1,234,567 blocks" && Quantity.of(1, "block") == "1 block")
    #expect(Quantity.size(objects: 12_000, bytes: 57_600) == "12,000 objects, 56.3 KB")
  }
}
