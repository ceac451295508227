import Foundation
import Testing
import UndeadTestSupport

/// What tests ask of the instrument is in debug builds of the preloaded library, and nowhere else.
@Suite struct TestEntryTests {
  private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  @Test func sourcesOfTheInstrumentHaveNoEntriesForTests() throws {
    for layer in InstrumentSources.Layer.allCases {
      let paths = FileManager.default.enumerator(atPath: layer.folder.path)?.compactMap { $0 as? String } ?? []
      let sources = paths.filter { $0.hasSuffix(".c") || $0.hasSuffix(".h") }
      #expect(!sources.isEmpty)
      for source in sources {
        let text = try String(contentsOf: layer.folder.appending(path: source), encoding: .utf8)
        #expect(!text.contains("undead_test_") && !text.contains("UNDEAD_TEST_"), "\(source)")
      }
    }
  }

  /// As a release build compiles them.
  @Test func entriesAreEmptyInReleaseBuilds() throws {
    let folder = Self.tests.appending(path: "CUndeadTestEntry")
    let sources = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".c") }
    #expect(sources.count > 3)
    for source in sources {
      let object = try Recorder.temporaryPath("entry.o")
      let options = InstrumentSources.includeOptions + ["-I", folder.appending(path: "include").path]
      try Recorder.run("clang", options + ["-c", folder.appending(path: source).path, "-o", object]).expectSuccess()
      #expect(try Recorder.run("nm", ["--defined-only", object]).output == "", "\(source)")
    }
  }
}
