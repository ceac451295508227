import Testing
import UndeadTestSupport

/// What the instrument's variables name, nobody holds: they lie apart from those of the program, and are no roots.
@Suite(.timeLimit(.minutes(20))) struct OwnDataTests {
  /// A file that defines a variable includes `platform/memory/own_data.h`.
  @Test func everyVariableLiesInASectionOfItsOwn() throws {
    let listing = try Recorder.run("llvm-objdump", ["--syms"] + InstrumentSources.Layer.allCases.flatMap(\.objects))
    try listing.expectSuccess()
    let variables = listing.output.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace) }
      .filter { $0.contains("O") && $0.count > 4 }
    #expect(variables.count { $0.contains("undead_bss") } > 300)
    #expect(variables.count { $0.contains("undead_data") } > 10)
    let elsewhere = variables.filter { $0.contains(".bss") || $0.contains(".data") || $0.contains("*COM*") }
    // Contexts of sources of facts, which perhaps nothing else holds.
    #expect(Set(elsewhere.compactMap(\.last)) == ["sources", "source_count"])
  }
}
