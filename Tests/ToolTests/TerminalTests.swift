import Glibc
import Testing

@testable import UndeadTool

/// What is known of a terminal.
@Suite struct TerminalTests {
  private static func form(_ variables: [String: String]) -> Terminal.Form? { Terminal.form { variables[$0] } }

  @Test func linksOnlyWhereTheyAreKnownToWork() {
    #expect(Self.form(["TERM": "xterm-256color"]) == nil)
    #expect(Self.form(["TERM": "xterm-256color", "VTE_VERSION": "6800"]) == .file)
    #expect(Self.form(["TERM": "xterm-256color", "VTE_VERSION": "3400"]) == nil)
    #expect(Self.form(["TERM": "screen-256color", "VTE_VERSION": "6800"]) == nil, "a multiplexer shows what it knows")
    #expect(Self.form(["TERM": "xterm-256color", "TERM_PROGRAM": "vscode"]) == .visualStudioCode)
    #expect(Self.form(["TERM": "xterm-kitty"]) == .fileWithFragment)
    #expect(Self.form(["TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"]) == nil)
    #expect(Self.form(["TERM": "dumb", "FORCE_HYPERLINK": "1"]) == .file)
  }

  @Test func addresses() {
    #expect(Terminal.address(of: "/a b/ü.swift", 3, .file, host: "h") == "file://h/a%20b/%C3%BC.swift")
    #expect(Terminal.address(of: "/a.swift", 3, .fileWithFragment, host: "h") == "file://h/a.swift#3")
    #expect(Terminal.address(of: "/a.swift", 3, .visualStudioCode, host: "h") == "vscode://file/a.swift:3")
    #expect(Terminal.address(of: "a.swift", 3, .file, host: "h") == nil, "nobody knows where that is")
  }

  @Test func theWidthIsTheTerminalsUnlessSaidOtherwise() throws {
    var (master, terminal): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 25, ws_col: 77, ws_xpixel: 0, ws_ypixel: 0)
    try #require(openpty(&master, &terminal, nil, nil, &size) == 0)
    defer { for descriptor in [master, terminal] { close(descriptor) } }
    #expect(Terminal(descriptor: terminal, environment: { _ in nil }).width == 77)
    #expect(Terminal(descriptor: terminal, environment: { $0 == "COLUMNS" ? "60" : nil }).width == 60)
    #expect(Terminal(descriptor: STDIN_FILENO, environment: { $0 == "COLUMNS" ? "x" : nil }).width != 0)
  }
}
