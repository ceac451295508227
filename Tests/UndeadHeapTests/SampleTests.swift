import Foundation
import Testing
import UndeadHeapSamples
import UndeadReport

@testable import UndeadHeap
@testable import UndeadHeapReport

@Suite struct SampleTests {
  /// The same numbers in every run.
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
      return mixed ^ mixed >> 31
    }
  }

  private static let mean: UInt32 = 512 << 10

  /// What a sample finds of blocks of these sizes: as the instrument does, each byte chosen with the same chance.
  private func sample(_ blocks: [(size: UInt64, count: Int)], _ generator: inout Generator) -> SampleSums {
    var sums = SampleSums()
    for (size, count) in blocks {
      let missed = log1p(-1 / SampleSums.weight(size: size, mean: Self.mean))
      // So many are passed over before the next one is chosen.
      func gap() -> Int { Int(log(Double.random(in: Double.leastNonzeroMagnitude..<1, using: &generator)) / missed) }
      var number = gap()
      while number < count {
        sums.add(size: size, mean: Self.mean)
        number += 1 + gap()
      }
    }
    return sums
  }

  /// Many seeds: the estimates are right on average, and the intervals hold the truth in about 95 of 100 cases.
  @Test(
    arguments: [
      [(size: 64, count: 200_000)], [(size: 4000, count: 3000)],
      [(size: 48, count: 300_000), (size: 65_536, count: 300)],
      [(size: 1 << 20, count: 40), (size: 200, count: 20_000)],
    ] as [[(size: UInt64, count: Int)]])
  func estimatesAreUnbiasedAndIntervalsHoldTheTruth(blocks: [(size: UInt64, count: Int)]) {
    let truth = (
      count: blocks.reduce(0) { $0 + $1.count }, bytes: blocks.reduce(0) { $0 + Int($1.size) * $1.count }
    )
    let seeds = 300
    var (countSum, byteSum, countsHeld, bytesHeld) = (0.0, 0.0, 0, 0)
    for seed in 1...seeds {
      var generator = Generator(state: UInt64(seed) &* 0x1234_5678_9abc_def1)
      let sums = sample(blocks, &generator)
      let estimate = sums.estimate
      countSum += sums.count
      byteSum += sums.bytes
      countsHeld += (estimate.countLow...estimate.countHigh).contains(truth.count) ? 1 : 0
      bytesHeld += (estimate.bytesLow...estimate.bytesHigh).contains(truth.bytes) ? 1 : 0
    }
    let scale = Double(seeds * truth.count)
    #expect(abs(countSum / scale - 1) < 0.1)
    #expect(abs(byteSum / Double(seeds * truth.bytes) - 1) < 0.05)
    // Of few samples the count cannot be everywhere between 94 and 96 %.
    #expect((0.9...1).contains(Double(countsHeld) / Double(seeds)), "\(countsHeld)")
    #expect((0.9...1).contains(Double(bytesHeld) / Double(seeds)), "\(bytesHeld)")
  }

  @Test func anEstimateOfCountersIsThatOfItsSamples() {
    var sums = SampleSums()
    for _ in 0..<50 { sums.add(size: 1000, mean: Self.mean) }
    let told = SampleEstimate(samples: 50, count: sums.count, bytes: sums.bytes)
    #expect(told == sums.estimate)
    #expect(SampleEstimate(samples: 0, count: 0, bytes: 0).countHigh == 0)
  }

  /// Blocks as large as many gaps are all sampled: nothing is uncertain.
  @Test func largeBlocksAreCounted() {
    var sums = SampleSums()
    for _ in 0..<3 { sums.add(size: 64 << 20, mean: Self.mean) }
    let estimate = sums.estimate
    #expect((estimate.count, estimate.countLow, estimate.countHigh) == (3, 3, 3))
    #expect((estimate.bytes, estimate.bytesMargin) == (192 << 20, 0))
  }

  private func heap(sessions: Int) throws -> LoadedHeap {
    var heap = HeapBuilder()
    heap.snapshot.setMetadata("sampleBytes", "65536")
    heap.sampleMean = 65536
    let make: [HeapBuilder.Function] = [
      .app("App.login()", "/app/Server.swift", 31), .app("main", "/app/main.swift", 5),
    ]
    let cache = heap.object("App.Cache", size: 48)
    heap.global("App.cache", holds: cache)
    for number in 0..<sessions {
      // One of ten is sampled.
      heap.link(cache, "sessions", heap.object("App.Session", size: 6904, at: number % 10 == 0 ? make : []))
    }
    heap.allocations.append(.init(stack: 0, samples: 40, objects: 400, bytes: 2_760_000, sampledBytes: 276_000))
    return try LoadedHeap(heap.file())
  }

  @Test func tablesOfSitesAreEstimates() throws {
    let heap = try heap(sessions: 1000)
    var options = HeapReportOptions()
    options.top = 5
    let report = try HeapReport(heap, options: options, symbolizer: nil)
    #expect(report.summary.sampleBytes == 65536)
    #expect(report.types.first { $0.type == "App.Session" }?.count == 1000)
    let site = try #require(report.sites.first)
    #expect(report.sites.count == 1 && site.estimate?.samples == 100)
    #expect((900...1100).contains(site.count) && site.count == site.estimate?.count)
    #expect(try #require(site.estimate).countLow < 1000 && 1000 < site.estimate?.countHigh ?? 0)
    let text = HeapText.render(report, by: .site)
    #expect(text.contains("1,000 \u{B1} 186  App.Session in App.login() at /app/Server.swift:31"), "\(text)")
    #expect(text.contains("one allocation was sampled for 64.0 KB"))
  }

  @Test func growthBySitesIsAnEstimate() throws {
    let growth = try HeapDiff(from: heap(sessions: 500), to: heap(sessions: 1500), using: nil)
    let site = try #require(growth.types.first { $0.type == "App.Session" }?.sites.first)
    #expect((900...1100).contains(site.after.count - site.before.count))
    #expect((100...400).contains(site.margin?.count ?? 0))
    #expect(growth.types.first { $0.type == "App.Session" }?.after.count == 1500)
  }

  @Test func allocationsSinceTheStartAreRead() throws {
    let file = try heap(sessions: 10).file
    let place = try #require(file.allocations.first)
    #expect(place.samples == 40 && place.objects == 400 && place.estimate.count == 400)
    #expect(place.estimate.countLow < 300 && place.estimate.countHigh > 500)
  }

  @Test func anIndexThatIsNotThereIsAnError() throws {
    var heap = HeapBuilder()
    heap.global("App.a", holds: heap.object("App.A"))
    heap.allocations.append(.init(stack: 99, samples: 1, objects: 1, bytes: 1, sampledBytes: 1))
    #expect(throws: SnapshotError.self) { try heap.file() }
  }
}
