import Testing
import UndeadTestSupport

/// Each test runs a real program with the preloaded library, which scans itself and prints what it found.
@Suite(.serialized, .timeLimit(.minutes(20))) struct ScanTests {
  struct Way: CustomStringConvertible, Sendable {
    var build: ScanProgram.Build
    var stop: String
    var copy: Bool
    var description: String { "\(build) \(stop) \(copy ? "copy" : "in place")" }
    var mode: [String] { copy ? ["copy"] : [] }

    /// Each build, way to stop and place together with each of the others; with ``Thorough`` all three in all ways.
    static let all = ScanProgram.Build.allCases.flatMap { build in
      ["ptrace", "signals"].flatMap { stop in
        [false, true].map { Way(build: build, stop: stop, copy: $0) }.filter { way in
          Thorough.isOn || way.copy == ((build == .release) == (stop == "ptrace"))
        }
      }
    }
  }

  @Test(arguments: Way.all) func findsEveryLeak(_ way: Way) throws {
    let run = try ScanProgram.run(way.build, ["simple"] + way.mode, stop: way.stop)
    let counts = try #require(run.counts.first, "\(run.text)")
    // Without optimisation each of the 2000 nodes of the cycles has an array of its own.
    #expect(counts["leaked"] == (way.build == .release ? 3000 : 5000))
    #expect(counts["raw"] == 50)
    #expect(counts["error"] == 0)
    #expect(counts["method"] == (way.stop == "ptrace" ? 1 : 2))
    #expect(run.status == 0)
  }

  @Test(arguments: ["continuation", "stream", "group"], ScanProgram.Build.allCases)
  func findsEverySuspendedTask(_ kind: String, _ build: ScanProgram.Build) throws {
    let run = try ScanProgram.run(build, ["hanging-\(kind)"])
    let counts = try #require(run.counts.first, "\(run.text)")
    let optimised = build == .release
    let expected = [
      "continuation": optimised ? 4000 : 5000, "stream": optimised ? 7000 : 8000, "group": optimised ? 15000 : 18000,
    ]
    let all = try #require(expected[kind])
    #expect(counts["leaked"] == all)
  }

  @Test(arguments: Way.all) func reportsNothingAlive(_ way: Way) throws {
    let run = try ScanProgram.run(way.build, ["live", "suspects"] + way.mode, stop: way.stop)
    #expect(run.counts.count == 20, "\(run.text)")
    for counts in run.counts {
      #expect(counts["error"] == 0, "\(counts.message)")
      #expect(counts["leaked"] == 0)
      #expect(counts["raw"] == 0)
      #expect(counts["timers"] + counts["sources"] + counts["observers"] + counts["tasks"] == 0)
    }
  }

  @Test(arguments: Way.all) func followsMappedMemoryThreadValuesRegistersAndOtherStacks(_ way: Way) throws {
    let run = try ScanProgram.run(way.build, ["odd"] + way.mode, stop: way.stop)
    #expect(run.counts.count == 3, "\(run.text)")
    for counts in run.counts {
      #expect(counts["error"] == 0, "\(counts.message)")
      #expect(counts["leaked"] == 0)
      #expect(counts["liveBlocks"] > 200)
    }
  }

  @Test(arguments: Way.all) func findsWhatOnlyATimerSourceObserverOrTaskHolds(_ way: Way) throws {
    let run = try ScanProgram.run(way.build, ["suspects", "suspects"] + way.mode, stop: way.stop)
    let counts = try #require(run.counts.first, "\(run.text)")
    #expect(counts["leaked"] == 0)
    for kind in ["timers", "sources", "observers", "tasks"] { #expect(counts[kind] == 1, "\(kind)") }
    #expect(counts["withPath"] == 4)
  }

  @Test(arguments: Way.all) func findsThePathToAWatchedObject(_ way: Way) throws {
    let run = try ScanProgram.run(way.build, ["watched"] + way.mode, stop: way.stop)
    #expect(run.counts.first?["paths"] == 1, "\(run.text)")
  }

  @Test(arguments: Way.all) func countsWhatAThreadOwns(_ way: Way) throws {
    let run = try ScanProgram.run(way.build, ["owned"] + way.mode, stop: way.stop)
    let counts = try #require(run.counts.first, "\(run.text)")
    #expect(
      counts["paths"] == 1 && counts["strong"] == 2 && counts["counted"] == 1 && counts["shared"] == 0, "\(run.text)")
  }

  @Test(arguments: ScanProgram.Build.allCases) func ignoresTheStacksOfEndedThreads(_ build: ScanProgram.Build) throws {
    let run = try ScanProgram.run(build, ["dead-threads"])
    #expect(run.counts.first?["leaked"] == (build == .release ? 200 : 400), "\(run.text)")
  }

  @Test(arguments: Way.all) func followsWhatTheScansOwnThreadLeavesToTheNextOnes(_ way: Way) throws {
    let run = try ScanProgram.run(way.build, ["reused-thread"] + way.mode, stop: way.stop)
    #expect(run.counts.map { $0["leaked"] } == [0, 0], "\(run.text)")
  }

  @Test(arguments: ScanProgram.Build.allCases, [("recycled-memory", 100), ("texts", 50)])
  func isNotMisledByUnusedMemory(_ build: ScanProgram.Build, _ mode: (name: String, cycles: Int)) throws {
    let run = try ScanProgram.run(build, [mode.name])
    let counts = try #require(run.counts.first, "\(run.text)")
    // Without optimisation each node has an array of its own.
    #expect(counts["leaked"] == (build == .release ? mode.cycles : 2 * mode.cycles), "\(run.text)")
  }

  /// Of a program that tunes glibc the lists are learned by the thread that scans, whatever free chunks it comes upon.
  @Test(arguments: ["", "glibc.malloc.tcache_count=7"], [["long"], []])
  func whatLiesInACacheHoldsNothing(_ tunables: String, _ mode: [String]) throws {
    let run = try ScanProgram.run(.release, ["cached-blocks"] + mode, environment: ["GLIBC_TUNABLES": tunables])
    #expect(try #require(run.counts.first, "\(run.text)")["leaked"] == 50)
  }

  /// Elements behind the count of an array that a waiting thread has may be owned there, or have gone long ago: their counts decide.
  @Test(arguments: Way.all) func knowsWhatArraysOfWaitingThreadsHold(_ way: Way) throws {
    let run = try ScanProgram.run(way.build, ["waiting-arrays"] + way.mode, stop: way.stop)
    // Without optimisation each node has an array of its own.
    #expect(
      try #require(run.counts.first, "\(run.text)")["leaked"] == (way.build == .release ? 50 : 100), "\(run.text)")
  }

  /// What was freed holds nothing, also while the thread that had it in its cache is ending, and gives it back.
  @Test(arguments: Way.all) func isNotMisledByWhatEndingThreadsGiveBack(_ way: Way) throws {
    // Its cache may keep more than by default, so that it takes time.
    let environment = ["GLIBC_TUNABLES": "glibc.malloc.tcache_count=5000"]
    let run = try ScanProgram.run(way.build, ["ending-threads"] + way.mode, stop: way.stop, environment: environment)
    #expect(run.counts.count == 5, "\(run.text)")
    // Without optimisation each node has an array of its own.
    for counts in run.counts { #expect(counts["leaked"] == (way.build == .release ? 50 : 100), "\(run.text)") }
  }

  /// One that stays there is scanned where it is, when there has been time for it.
  @Test(arguments: ["ptrace", "signals"]) func isNotHeldUpByAThreadThatWaitsWhileItEnds(_ stop: String) throws {
    let environment = ["GLIBC_TUNABLES": "glibc.malloc.tcache_count=5000"]
    let run = try ScanProgram.run(.release, ["ending-thread-that-waits"], stop: stop, environment: environment)
    let counts = try #require(run.counts.first, "\(run.text)")
    #expect(counts["error"] == 0, "\(counts.message)")
    #expect(counts["method"] == (stop == "ptrace" ? 1 : 2))
  }

  @Test(arguments: ["denied", "killed-by-filter"]) func stopsBySignalsWherePtraceIsDenied(_ mode: String) throws {
    let run = try ScanProgram.run(.release, [mode])
    let counts = try #require(run.counts.first, "\(run.text)")
    #expect(counts["method"] == 2)
    #expect(counts["leaked"] == 2000)
    #expect(run.status == 0)
  }

  /// Each way to stop and each place once; with ``Thorough`` each way with each place.
  @Test(
    arguments: [("ptrace", []), ("signals", ["copy"])]
      + (Thorough.isOn ? [("ptrace", ["copy"]), ("signals", [])] : []))
  func survivesAStormOfThreads(_ stop: String, _ mode: [String]) throws {
    let run = try ScanProgram.run(.release, ["storm"] + mode, stop: stop)
    #expect(run.counts.count == 40, "\(run.text)")
    for counts in run.counts {
      #expect(counts["error"] == 0, "\(counts.message)")
      #expect(counts["leaked"] == 2000)
    }
    #expect(run.status == 0)
  }

  @Test(arguments: ["ptrace", "signals"]) func deliversEverySignalOnceAndDisturbsNoSleep(_ stop: String) throws {
    let run = try ScanProgram.run(.release, ["signals"], stop: stop)
    #expect(run.counts.count == 100)
    #expect(run.counts.allSatisfy { $0["error"] == 0 })
    #expect(run.text.hasSuffix("disturbed 0\n"), "\(run.text)")
  }

  /// Calls with a relative timeout that a stop interrupts are made again with the rest of it: none ends early, and none begins anew
  /// with each of a thousand checks.
  @Test(arguments: ["ptrace", "signals"], [[], ["copy"]]) func timeoutsEndBesideChecks(_ stop: String, _ mode: [String])
    throws
  {
    let run = try ScanProgram.run(.release, ["timeouts"] + mode, stop: stop)
    #expect(run.text == "9 of 9 ended\n")
    #expect(run.status == 0)
  }

  /// A stop leaves no registers in memory that counts as a whole.
  @Test(arguments: ["ptrace", "signals"], [[], ["copy"]]) func aStopKeepsNothingOnStacksOfFibers(
    _ stop: String, _ mode: [String]
  ) throws {
    let run = try ScanProgram.run(.release, ["fiber"] + mode, stop: stop)
    #expect(run.counts.map { $0["leaked"] } == [2001, 2001], "\(run.text)")
  }

  @Test(arguments: ["ptrace", "signals"]) func goesOnWhenTheHelperIsKilled(_ stop: String) throws {
    let run = try ScanProgram.run(.release, ["helper-killed"], stop: stop)
    #expect(run.status == 0)
    // Some are killed and say so; none that was not gives another answer; the last one is left alone.
    #expect(run.counts.contains { $0["error"] == 4 && $0.message.contains("signal 9") })
    for counts in run.counts where counts["error"] == 0 { #expect(counts["leaked"] == 2000) }
    #expect(run.counts.last?["error"] == 0)
  }

  /// So does every thread that ends, for a moment: it gives back memory while it blocks all signals.
  @Test(arguments: ScanProgram.Build.allCases, ["ptrace", "signals"])
  func stopsThreadsThatAllocateWhileTheyBlockEverySignal(_ build: ScanProgram.Build, _ stop: String) throws {
    let run = try ScanProgram.run(build, ["allocating"], stop: stop)
    #expect(run.counts.count == 20, "\(run.text)")
    for counts in run.counts {
      #expect(counts["error"] == 0, "\(counts.message)")
      #expect(counts["method"] == (stop == "ptrace" ? 1 : 2))
      #expect(counts["leaked"] == 0)
    }
  }

  /// A thread that is being made does so while who makes it waits for a processor.
  @Test func waitsForAThreadThatBlocksTheSignalUntilAnotherOneHasRun() throws {
    let run = try ScanProgram.run(.release, ["blocking"], stop: "signals")
    let counts = try #require(run.counts.first, "\(run.text)")
    #expect(counts["error"] == 0 && counts["leaked"] == 2000, "\(run.text)")
  }

  @Test func waitsForAThreadThatCannotStopWhileTheOthersRun() throws {
    let run = try ScanProgram.run(.release, ["vfork"], stop: "ptrace")
    let counts = try #require(run.counts.first, "\(run.text)")
    // That thread goes on only after another one has run for long: were all of them stopped, the scan would give up.
    #expect(counts["leaked"] == 2000, "\(run.text)")
    let watched = try #require(run.text.firstMatch(of: /watched (\d+)/).flatMap { Int($0.1) })
    #expect(counts["pauseMicroseconds"] < watched)
  }
}
