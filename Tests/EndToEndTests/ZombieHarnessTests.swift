import Foundation
import Testing

/// The judgement about zombies: wrong reports must be found wrong.
@Suite struct ZombieHarnessTests {
  private static let zombie = """
    {"kind": "field", "signature": "0123456789abcdef", "type": "App.Session", "address": "0x10",
     "message": "write to Session.number of freed App.Session 0x10 (freed 1 ms ago on thread \\"worker\\")",
     "thread": "main", "count": 3, "member": "Session.number", "operation": "write", "deallocationThread": "worker",
     "allocation": {"frames": [{"symbol": "App.open() -> ()", "module": "app"}]},
     "deallocation": {"frames": [{"symbol": "App.close() -> ()", "module": "app"}]},
     "access": {"frames": [{"symbol": "App.use() -> ()", "module": "app"}, {"symbol": "main", "module": "app"}]}}
    """

  /// The sample with changes: each replaces a text that stands in it.
  private static func zombies(_ changes: [(String, String)] = [], count: Int = 1) throws -> [ReportFile.Zombie] {
    var text = zombie
    for (old, new) in changes {
      try #require(text.contains(old))
      text = text.replacingOccurrences(of: old, with: new)
    }
    let sample = try JSONDecoder().decode(ReportFile.Zombie.self, from: Data(text.utf8))
    return Array(repeating: sample, count: count)
  }

  private func complaints(_ directives: String, _ zombies: [ReportFile.Zombie]) throws -> [String] {
    ZombieJudge(expected: try Expectation(source: directives).zombies).complaints(about: zombies)
  }

  private static let exact =
    "// EXPECT zombie kind=field type=App.Session member=number operation=write count=3 thread=main freedOn=worker "
    + "allocated=open freed=close used=main"

  @Test(arguments: [
    exact, "// EXPECT zombie kind=method|field type=*", "// EXPECT zombie member~=number used=use",
    "// EXPECT zombie freedOn=* operation=read|write",
  ]) func right(_ directives: String) throws {
    #expect(try complaints(directives, Self.zombies()) == [])
  }

  @Test(arguments: [
    "// EXPECT silent", "// EXPECT zombie kind=method", "// EXPECT zombie type=App.Sess",
    "// EXPECT zombie type=Session",
    "// EXPECT zombie member=other", "// EXPECT zombie member~=other", "// EXPECT zombie operation=read",
    "// EXPECT zombie count=2", "// EXPECT zombie thread=worker", "// EXPECT zombie freedOn=main",
    "// EXPECT zombie allocated=close", "// EXPECT zombie freed=open", "// EXPECT zombie used=close",
    "// EXPECT zombie kind=field\n// EXPECT zombie kind=field",
  ]) func wrong(_ directives: String) throws {
    #expect(try complaints(directives, Self.zombies()) != [])
  }

  @Test func eachZombieIsExpectedOnce() throws {
    #expect(try complaints(Self.exact, []) != [])
    #expect(try complaints(Self.exact, Self.zombies(count: 2)) != [])
    #expect(try complaints("\(Self.exact)\n\(Self.exact)", Self.zombies(count: 2)) == [])
  }

  @Test func unknownMembersMustBeAllowed() throws {
    let unknown = try Self.zombies([("\"member\": \"Session.number\", ", "")])
    #expect(try complaints("// EXPECT zombie member=number", unknown) != [])
    #expect(try complaints("// EXPECT zombie member~=number", unknown) == [])
  }

  @Test(arguments: [
    ("\"address\": \"0x10\"", "\"address\": \"16\""), ("\"address\": \"0x10\"", "\"address\": \"0x20\""),
    ("of freed App.Session", "of freed object"), ("\"count\": 3", "\"count\": 0"),
    ("0123456789abcdef", "0123"),
    ("\"access\": {\"frames\": [{\"symbol\"", "\"access\": {\"frames\": []}, \"rest\": {\"frames\": [{\"symbol\""),
  ]) func inconsistent(_ old: String, _ new: String) throws {
    #expect(try complaints("// EXPECT zombie type=App.Session", Self.zombies([(old, new)])) != [])
  }

  @Test(arguments: [
    "// EXPECT zombie colour=red", "// EXPECT zombie kind", "// EXPECT crash now", "// EXPECT crash at=1",
  ])
  func mistakes(_ directives: String) {
    #expect(throws: Expectation.Mistake.self) { try Expectation(source: directives) }
  }
}
