import Foundation
import Testing

/// glibc's tables distinguished by programs that know their blocks (`Fixtures/glibc/arenas.c`), with the glibc of this machine.
/// `scripts/check/glibc-versions` runs the same programs with others.
@Suite(.timeLimit(.minutes(20))) struct GlibcTests {
  static let ways = ["plain", "gap", "pieces", "heaps", "mapped", "numbers", "held"]

  @Test(arguments: ways)
  func everyBlockInUseIsFoundAndNoneThatWasFreed(way: String) throws {
    let program = try Recorder.linkProgram("glibc/arenas.c", optimization: "-O2")
    for seed in 1...3 {
      let outcome = try Recorder.run(program, ["\(seed)", "4", "\(seed * 8000)", way], environment: ["UNDEAD": "0"])
      try outcome.expectSuccess()
      #expect(outcome.output.contains(": \(way), 5 arenas"), "\(outcome.output)")
    }
  }

  @Test(arguments: ["damaged", "locked"])
  func whatDoesNotFitIsSaid(way: String) throws {
    let program = try Recorder.linkProgram("glibc/arenas.c", optimization: "-O2")
    try Recorder.run(program, ["1", "4", "8000", way], environment: ["UNDEAD": "0"]).expectSuccess()
  }

  /// Settings of glibc's that change where blocks lie.
  @Test(arguments: [
    "glibc.malloc.tcache_count=0", "glibc.malloc.arena_max=1", "glibc.malloc.mmap_threshold=4096",
    "glibc.malloc.tcache_max=64", "glibc.malloc.mxfast=0", "glibc.malloc.hugetlb=1", "glibc.malloc.hugetlb=2",
    "glibc.malloc.perturb=7",
    "glibc.malloc.tcache_count=1000",
  ])
  func settingsOfTheAllocatorAreUnderstood(setting: String) throws {
    let program = try Recorder.linkProgram("glibc/arenas.c", optimization: "-O2")
    let outcome = try Recorder.run(
      program, ["5", "3", "9000", "plain"], environment: ["UNDEAD": "0", "GLIBC_TUNABLES": setting])
    try outcome.expectSuccess()
  }
}
