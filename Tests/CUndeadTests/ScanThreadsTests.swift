import Testing
import UndeadTestSupport

/// What is marked does not depend on how many threads mark.
@Suite(.serialized, .timeLimit(.minutes(20))) struct ScanThreadsTests {
  private func run(_ arguments: [String], threads: Int, stop: String = "auto") throws -> ScanCounts {
    let environment = ["UNDEAD_SCAN_THREADS": "\(threads)"]
    let run = try ScanProgram.run(.release, ["graph"] + arguments, stop: stop, environment: environment)
    let counts = try #require(run.counts.first, "\(run.text)")
    let line = try #require(run.text.split(separator: "\n").first { $0.hasPrefix("unreached ") }, "\(run.text)")
    #expect(counts["error"] == 0, "\(counts.message)")
    #expect(counts["leaked"] == Int(line.dropFirst("unreached ".count)), "\(run.text)")
    #expect(counts["leaked"] > 10_000)
    #expect(counts["liveBlocks"] > 100_000)
    #expect(run.status == 0)
    return counts
  }

  @Test(arguments: 1...Thorough.count(2, of: 4), ["ptrace", "signals"]) func severalThreadsFindWhatOneFinds(
    _ seed: Int, _ stop: String
  ) throws {
    let alone = try run(["\(seed)"], threads: 1, stop: stop)
    for threads in [2, 8] {
      for mode in [[], ["copy"]] {
        let together = try run(["\(seed)", "suspects"] + mode, threads: threads, stop: stop)
        #expect(together["edges"] == alone["edges"])
        #expect(together["liveBlocks"] == alone["liveBlocks"])
      }
    }
  }

  /// One thread goes on where a filter of system calls lets nobody make another one, in whatever way.
  @Test(arguments: ["fail", "trap", "kill"], [[], ["copy"]]) func oneThreadMarksWhereNoneCanBeMade(
    _ filter: String, _ mode: [String]
  ) throws { _ = try run(["5", filter] + mode, threads: 4) }

  /// The scan begins again without the page that could not be read, whichever thread came across it.
  @Test(arguments: [1, 2, 8], [[], ["copy"]]) func threadsMayFault(_ threads: Int, _ mode: [String]) throws {
    _ = try run(["6", "holes"] + mode, threads: threads)
  }
}
