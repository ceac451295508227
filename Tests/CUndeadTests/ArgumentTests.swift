import Testing
import UndeadTestSupport

/// Every function that the instrument replaces, called with the edges of its arguments: results, errno, alignment, sizes and
/// contents must be what the C library, or another allocator, gives without the instrument.
@Suite struct ArgumentTests {
  private static let program = Once()

  private func outcome(_ arguments: [String], preload: [String], _ environment: [String: String] = [:]) throws -> String
  {
    let program = try Self.program.get {
      let path = try Recorder.temporaryPath("arguments")
      let source = Recorder.fixtures.appending(path: "record/arguments.c").path
      try Recorder.run("clang", ["-O1", "-w", "-fno-builtin", "-pthread", source, "-o", path]).expectSuccess()
      return path
    }
    var environment = environment
    if !preload.isEmpty { environment["LD_PRELOAD"] = preload.joined(separator: ":") }
    let outcome = try Recorder.run(program, arguments, environment: environment)
    try outcome.expectSuccess()
    return outcome.output
  }

  private static let modes: [[String: String]] = [
    [:], ["UNDEAD": "1"], ["UNDEAD": "1", "UNDEAD_STACKS": "none"], ["UNDEAD": "1", "UNDEAD_STACKS": "sampled"],
    ["UNDEAD": "1", "UNDEAD_ZOMBIES": "1"],
  ]

  @Test func argumentsHaveTheEffectThatTheyHaveInTheCLibrary() throws {
    let plain = try outcome([], preload: [])
    #expect(plain.split(separator: "\n").count > 4000)
    // A session of the tool has handlers of its own, and looks at what is started.
    let session = try TemporaryDirectory()
    for mode in Self.modes + [["UNDEAD": "1", "UNDEAD_SESSION": session.url.path]] {
      try compare(plain, outcome([], preload: [BuildProducts.preloadLibrary()], mode), "\(mode)")
    }
  }

  @Test func argumentsHaveTheEffectThatTheyHaveInAnotherAllocator() throws {
    let allocator = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
    let plain = try outcome(["other"], preload: [allocator])
    for mode in Self.modes {
      let libraries = [try BuildProducts.preloadLibrary(), allocator]
      try compare(plain, outcome(["other"], preload: libraries, mode), "\(mode)")
    }
  }

  @Test func laterVersionsOfTheCLibraryRefuseAlignments() throws {
    let path = try Recorder.temporaryPath("versions")
    let source = Recorder.fixtures.appending(path: "record/versions.c").path
    let numbers = InstrumentSources.Layer.platform.folder.appending(path: "platform/system/read_text.c").path
    try Recorder.run("clang", InstrumentSources.includeOptions + [source, numbers, "-o", path]).expectSuccess()
    let refusing = try Recorder.run(path, []).output.split(separator: "\n").filter { $0.hasSuffix(" 1") }
    #expect(refusing == ["2.38 1", "2.38.1 1", "2.40 1", "2.100 1", "3.0 1", "3 1"])
  }

  /// Shows the first lines only.
  private func compare(_ plain: String, _ other: String, _ mode: String) {
    let lines = zip(plain.split(separator: "\n"), other.split(separator: "\n")).filter { $0 != $1 }
    #expect(lines.isEmpty, "\(mode): \(lines.prefix(5))")
    #expect(plain == other)
  }
}
