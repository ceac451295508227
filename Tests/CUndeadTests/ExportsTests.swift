import Glibc
import Testing
import UndeadTestSupport

/// Names that a library exports are found by the table that the library brings for the loader, others by an index.
@Suite(.timeLimit(.minutes(20))) struct ExportsTests {
  private static let program = Result { () throws -> String in
    let program = try Recorder.temporaryPath("exports")
    let source = Recorder.fixtures.appending(path: "platform/exports.c").path
    let table = InstrumentSources.Layer.platform.folder.appending(path: "platform/images/exports.c").path
    try Recorder.run("clang", ["-O1", "-g"] + InstrumentSources.includeOptions + [source, table, "-o", program])
      .expectSuccess()
    return program
  }

  @Test(arguments: ["libswiftCore.", "libc.", "libdispatch."])
  func eachExportedNameIsFoundAndDamageIsHarmless(_ library: String) throws {
    let path = try #require(try loadedLibrary(library))
    try Recorder.run(try Self.program.get(), [path]).expectSuccess()
  }

  @Test func eachNameOfTheSymbolTableIsFound() throws {
    let program = try Recorder.linkProgram("platform/symbols.c", optimization: "-O2")
    try Recorder.run(program, [], environment: ["UNDEAD": "0"]).expectSuccess()
  }

  /// Path of the library of this process whose name starts so.
  private func loadedLibrary(_ name: String) throws -> String? {
    let maps = try Recorder.run("cat", ["/proc/\(getpid())/maps"]).output
    let paths = maps.split(separator: "\n").compactMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } }
    return paths.first { $0.split(separator: "/").last?.hasPrefix(name) ?? false }
  }
}
