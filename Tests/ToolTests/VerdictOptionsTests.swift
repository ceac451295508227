import Testing
import UndeadReport

@testable import UndeadTool

@Suite struct VerdictOptionsTests {
  @Test func readsKindsOfFindings() throws {
    #expect(try VerdictOptions.parse("leaks,suspects") == [.leaks, .suspects])
    #expect(try VerdictOptions.parse("leaks, zombies") == [.leaks, .zombies])
    #expect(try VerdictOptions.parse("none").isEmpty)
  }

  @Test(arguments: ["", "leak", "leaks,", "leaks;zombies"])
  func refusesUnknownKinds(_ text: String) {
    #expect(throws: ValidationError.self) { try VerdictOptions.parse(text) }
  }
}
