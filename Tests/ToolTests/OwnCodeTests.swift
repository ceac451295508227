import Testing
import UndeadAttach

@testable import UndeadTool

/// What the tool gives back while the program runs.
@Suite struct OwnCodeTests {
  /// Of this process, from files, in KiB.
  private static func fileMemory() -> Int? {
    let line = ProcFile.text("/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("RssFile:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
  }

  /// Code that runs at the same time comes back at once, but that is a small part of it.
  @Test func pagesOfCodeAreGivenBack() throws {
    let before = try #require(Self.fileMemory())
    OwnCode.letGo()
    let after = try #require(Self.fileMemory())
    #expect(after < before)
  }
}
