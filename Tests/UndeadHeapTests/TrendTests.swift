import Foundation
import Testing
import UndeadTestSupport

@testable import UndeadHeap

/// What counts as growth, on series that programs show.
@Suite struct TrendTests {
  /// The same numbers in every run.
  struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let mixed = (state ^ state >> 33) &* 0xff51_afd7_ed55_8ccd
      return mixed ^ mixed >> 33
    }

    mutating func normal() -> Double {
      let (radius, angle) = (Double.random(in: 1e-12..<1, using: &self), Double.random(in: 0..<1, using: &self))
      return (-2 * log(radius)).squareRoot() * cos(2 * .pi * angle)
    }
  }

  /// How many of so many series grow; `value` gets the time from 0 to 1.
  static func growing(
    _ series: Int = 12, points: Int = 60, questions: Int = 50, _ value: (Double, inout Dice) -> Double
  ) throws -> Int {
    try (0..<series).reduce(0) { sum, seed in
      var dice = Dice(state: UInt64(seed) &* 7919 &+ 13)
      let values = (0..<points).map { value(Double($0) / Double(points), &dice).rounded() }
      let trend = try #require(Trend(times: (0..<points).map(Double.init), values: values, questions: questions))
      return sum + (trend.grows ? 1 : 0)
    }
  }

  // MARK: No growth

  @Test func whatOnlySwingsDoesNotGrow() throws {
    #expect(try Self.growing { _, dice in 1000 + 20 * dice.normal() } == 0)
    #expect(try Self.growing(1) { _, _ in 1000 } == 0)
    var wave = 0.0
    let load = try Self.growing { time, dice in
      wave = time == 0 ? 0 : 0.9 * wave + 8 * dice.normal()
      return 1000 + wave
    }
    #expect(load == 0)
    #expect(try Self.growing(1) { time, _ in 1000 + 300 * sin(time * 7.5) } == 0)
  }

  @Test(arguments: [0.15, 0.4, 0.5, 0.85]) func aStepIsNoGrowth(at place: Double) throws {
    #expect(try Self.growing { time, dice in (time < place ? 1000 : 2000) + 5 * dice.normal() } == 0)
    #expect(try Self.growing(1) { time, _ in time < place ? 1000 : 2000 } == 0)
  }

  @Test func twoStepsAreNoGrowth() throws {
    #expect(try Self.growing(1) { time, _ in time < 0.3 ? 1000 : time < 0.7 ? 1500 : 2000 } == 0)
  }

  /// A cache that fills up and is emptied.
  @Test(arguments: [1.3, 1.7, 2.2, 3.4, 6.5, 20.0]) func aSawToothIsNoGrowth(teeth: Double) throws {
    for shift in [0.3, 0, 0.7].prefix(Thorough.count(1, of: 3)) {
      let tooth = { (time: Double) in (time * teeth + shift).truncatingRemainder(dividingBy: 1) }
      #expect(try Self.growing(1) { time, _ in 1000 + tooth(time) * 500 } == 0, "shift \(shift)")
      #expect(try Self.growing { time, dice in 1000 + tooth(time) * 500 + 10 * dice.normal() } == 0, "shift \(shift)")
    }
  }

  @Test(arguments: [3.0, 5.0, 10.0]) func aWarmUpThatEndsIsNoGrowth(steepness: Double) throws {
    #expect(try Self.growing(1) { time, _ in 1000 * (1 - exp(-(0.25 + 0.75 * time) * steepness)) } == 0)
  }

  /// One of a hundred watches may be wrong, each of fifty numbers.
  @Test func aRandomWalkHardlyEverGrows() throws {
    var place = 0.0
    let found = try Self.growing(60) { time, dice in
      place = time == 0 ? 0 : place + 5 * dice.normal()
      return 1000 + place
    }
    #expect(found <= 1)
  }

  // MARK: Growth

  @Test func aLeakGrows() throws {
    #expect(try Self.growing(1) { time, _ in 1000 + time * 500 } == 1)
    #expect(try Self.growing { time, dice in 1000 + time * 500 + 10 * dice.normal() } == 12)
  }

  @Test func aSlowLeakUnderNoiseIsFoundInTime() throws {
    #expect(try Self.growing(points: 240) { time, dice in 1000 + time * 60 + 20 * dice.normal() } >= 10)
    #expect(try Self.growing(points: 240) { time, dice in 1000 + time * 100 + 20 * dice.normal() } >= 11)
  }

  @Test func aLeakBesideACacheOrWavesGrows() throws {
    let tooth = { (time: Double) in (time * 9).truncatingRemainder(dividingBy: 1) * 200 }
    #expect(try Self.growing(1) { time, _ in 1000 + time * 500 + tooth(time) } == 1)
    #expect(try Self.growing(1) { time, _ in 1000 + time * 500 + 100 * sin(time * 60) } == 1)
  }

  @Test func aLeakWithAChangingRateGrows() throws {
    var place = 0.0
    let found = try Self.growing { time, dice in
      place = (time == 0 ? 0 : place) + Double.random(in: 0.5...1.5, using: &dice) * 10
      return place
    }
    #expect(found == 12)
  }

  // MARK: Numbers

  @Test func theSlopeOfALineIsExact() throws {
    let times = (0..<30).map { Double($0) / 2 }
    let trend = try #require(Trend(times: times, values: times.map { 7 + 3 * $0 }))
    #expect(trend == Trend(slope: 3, interval: 3...3, grows: true))
    #expect(try #require(Trend(times: times, values: times.map { 7 - 3 * $0 })).grows == false)
  }

  @Test func theIntervalHoldsTheSlope() throws {
    var missed = 0
    for seed in 0..<60 {
      var dice = Dice(state: UInt64(seed) &* 104_729 &+ 7)
      let times = (0..<60).map(Double.init)
      let trend = try #require(Trend(times: times, values: times.map { 2 * $0 + 15 * dice.normal() }))
      if !trend.interval.contains(2) { missed += 1 }
    }
    #expect(missed <= 3)
  }

  @Test func fewNumbersSayNothing() {
    let times = (0..<Trend.least - 1).map(Double.init)
    #expect(Trend(times: times, values: times) == nil)
    #expect(Trend(times: [], values: []) == nil)
  }

  @Test func manyQuestionsAskForMore() throws {
    let slow = { (time: Double, dice: inout Dice) in 1000 + time * 60 + 20 * dice.normal() }
    #expect(try Self.growing(points: 45, questions: 1, slow) > Self.growing(points: 45, questions: 1000, slow))
  }

  @Test func quantiles() {
    #expect(abs(Quantiles.normal(0.995) - 2.575829) < 1e-6)
    #expect(abs(Quantiles.normal(0.001) + 3.090232) < 1e-6)
    #expect(abs(Quantiles.normal(1 - 1e-9) - 5.997807) < 1e-5)
    #expect(Quantiles.normal(0.5) == 0)
    #expect(abs(Quantiles.student(0.975, freedom: 10) - 2.228139) < 1e-4)
    #expect(abs(Quantiles.student(0.995, freedom: 5) - 4.032143) < 1e-3)
    #expect(abs(Quantiles.student(0.9995, freedom: 7) - 5.407883) < 1e-3)
    #expect(abs(Quantiles.student(0.01, freedom: 20) + 2.527977) < 1e-4)
  }
}
