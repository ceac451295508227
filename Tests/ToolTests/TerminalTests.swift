import Glibc
import Testing

@testable import UndeadTool

/// What is known of a terminal.
@Suite struct TerminalTests {
  @Test func theWidthIsTheTerminalsUnlessSaidOtherwise() throws {
    var (master, terminal): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 25, ws_col: 77, ws_xpixel: 0, ws_ypixel: 0)
    try #require(openpty(&master, &terminal, nil, nil, &size) == 0)
    defer { for descriptor in [master, terminal] { close(descriptor) } }
    #expect(Terminal.width(terminal, environment: { _ in nil }) == 77)
    #expect(Terminal.width(terminal, environment: { $0 == "COLUMNS" ? "60" : nil }) == 60)
    #expect(Terminal.width(STDIN_FILENO, environment: { $0 == "COLUMNS" ? "x" : nil }) != 0)
  }
}
