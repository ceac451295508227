import Foundation
import Testing

/// The tests' own judgement: a corpus that cannot fail would prove nothing.
@Suite struct HarnessTests {
  private static let report = """
    {"schemaVersion": 1,
     "process": {"path": "/bin/app", "arguments": [], "pid": 1, "exitStatus": 0},
     "summary": {"leaks": 1, "leakedObjects": 2, "leakedBytes": 96, "suspects": 0, "complete": true,
                 "notes": ["3 blocks were not looked at"]},
     "leaks": [{"signature": "0123456789abcdef", "kind": "retainCycle", "count": 3, "totalBytes": 96,
       "objects": [{"type": "App.Owner", "address": "0x10", "size": 48}],
       "cycle": [{"type": "App.Owner", "field": "state.item"},
                 {"type": "App.Item<Swift.Int, Swift.Int>", "field": "owner"}],
       "alsoLeaked": [{"type": "App.Leaf", "count": 9, "bytes": 144}],
       "allocation": {"frames": [{"symbol": "main", "file": "/a/app.swift", "line": 7, "module": "app"}]}}],
     "suspects": [], "knownLeaks": [], "zombies": []}
    """

  private func complaints(_ directives: String) throws -> [String] {
    let report = try JSONDecoder().decode(ReportFile.self, from: Data(Self.report.utf8))
    let judge = Judge(
      expectation: try Expectation(source: directives), markers: ["app.swift:here": [7], "app.swift:there": [8]],
      mainFile: "app.swift")
    return judge.complaints(about: report)
  }

  @Test(arguments: [
    "// EXPECT leak kind=retainCycle types=App.Owner fields=state~item,owner count=3 at=here also=App.Leaf",
    "// EXPECT leak|known types=App.Item<Swift.Int,*> at=there|here",
    "// EXPECT leak kind=unreferenced|retainCycle types=*.Owner|App.Nothing",
    "// EXPECT leak types=App.Owner\n// EXPECT note blocks were not",
  ]) func right(_ directives: String) throws {
    #expect(try complaints(directives) == [])
  }

  @Test(arguments: [
    "// EXPECT silent",
    "// EXPECT suspect types=App.Owner",
    "// EXPECT leak kind=unreferenced types=App.Owner",
    "// EXPECT leak types=App.Own",
    "// EXPECT leak types=App.Owner fields=stat",
    "// EXPECT leak types=App.Owner fields=state~thing",
    "// EXPECT leak types=App.Owner count=2",
    "// EXPECT leak types=App.Owner at=there",
    "// EXPECT leak types=App.Owner also=App.Item",
    "// EXPECT leak types=App.Owner closure=start",
    "// EXPECT leak types=App.Owner\n// EXPECT note blocks were looked at",
    "// EXPECT leak types=App.Owner closureAt=here",
    "// EXPECT leak types=App.Owner\n// EXPECT leak types=App.Owner",
  ]) func wrong(_ directives: String) throws {
    #expect(try complaints(directives) != [])
  }

  @Test(arguments: [
    "// no directive", "// EXPECT", "// EXPECT nothing", "// EXPECT leak colour=red", "// EXPECT exit x",
  ])
  func mistakes(_ directives: String) {
    #expect(throws: Expectation.Mistake.self) { try Expectation(source: directives) }
  }

  @Test func aCaseHasItsOwnDirectivesAndThoseBeforeTheFirst() throws {
    let source = """
      // Text.
      // EXPECT leak types=App.Owner
      // CASE first
      // ARGS one
      // EXPECT exit 3
      // CASE second
      // EXPECT signal 9
      let code = 1
      """
    #expect(Expectation.cases(of: source) == ["first", "second"])
    let (first, second) = (
      try Expectation(source: source, case: "first"), try Expectation(source: source, case: "second")
    )
    #expect(first.ending == .exit(3) && first.arguments == "one" && first.groups.count == 1)
    #expect(second.ending == .signal(9) && second.arguments == nil && second.groups == first.groups)
  }

  @Test func directivesMayStandAboveWhatTheyAreFor() throws {
    let source = """
      // Text.
      // EXPECT leak types=App.Owner
      final class Owner {}
      // EXPECT leak types=App.Item
      final class Item {}  // EXPECT nothing
      """
    #expect(try Expectation(source: source).groups.map { $0.values["types"] } == ["App.Owner", "App.Item"])
  }

  @Test func everyFolderHasPrograms() {
    #expect(Program.all(in: "Leaks").count >= 60)
    #expect(Program.all(in: "Controls").count >= 30)
    #expect(Program.all(in: "Hostile").count >= 30)
    #expect(Program.all(in: "Zombies").count >= 50)
  }
}
