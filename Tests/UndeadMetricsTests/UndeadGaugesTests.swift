import Metrics
import Synchronization
import Testing
import Undead
import UndeadRunLoop

@testable import UndeadMetrics

/// What the gauges say of a process that records, each in a process of its own.
@Suite(.timeLimit(.minutes(5))) struct UndeadGaugesTests {
  @Test func chosenTypesAndLeaks() async {
    await #expect(processExitsWith: .success) {
      let metrics = RecordedMetrics()
      var configuration = UndeadGauges.Configuration()
      let counted = String(reflecting: CountedItem.self)
      configuration.types = [counted, "*.OtherCounted*", "App.NeverMade"]
      let gauges = UndeadGauges(configuration, factory: metrics)
      var known = UndeadGauges.Known()
      var items = (0..<50).map { _ in CountedItem() }
      let others = (0..<3).map { _ in OtherCountedItem() }
      for _ in 0..<20 { leakACountedItem() }
      await gauges.measure(leaks: true, &known)
      #expect(metrics["undead_recording"] == 1)
      #expect(metrics["undead_live_objects type=\(counted)"] == 70)
      #expect(metrics["undead_live_objects type=\(String(reflecting: OtherCountedItem.self))"] == 3)
      #expect(metrics["undead_live_objects type=App.NeverMade"] == 0)
      #expect((metrics["undead_live_bytes type=\(counted)"] ?? 0) >= 70 * 24)
      #expect((metrics["undead_leaks"] ?? 0) >= 1)
      #expect((metrics["undead_leaked_objects"] ?? 0) >= 18)
      #expect(metrics["undead_suspects"] != nil)
      items.removeAll()
      await gauges.measure(leaks: false, &known)
      #expect(metrics["undead_live_objects type=\(counted)"] == 20)
      withExtendedLifetime((items, others)) {}
    }
  }

  @Test func whereNothingIsRecordedNothingIsCounted() async {
    await #expect(processExitsWith: .success) {
      LeakDetector.stop()
      let metrics = RecordedMetrics()
      var configuration = UndeadGauges.Configuration()
      configuration.types = ["*"]
      var known = UndeadGauges.Known()
      await UndeadGauges(configuration, factory: metrics).measure(leaks: true, &known)
      #expect(metrics["undead_recording"] == 0)
      #expect(metrics.names.allSatisfy { $0 == "undead_recording" || $0.hasPrefix("undead_loop") })
    }
  }

  @Test func runEndsWhenItIsCancelled() async {
    await #expect(processExitsWith: .success) {
      let metrics = RecordedMetrics()
      var configuration = UndeadGauges.Configuration()
      configuration.leaksEvery = nil
      configuration.prefix = "shop"
      let gauges = UndeadGauges(configuration, factory: metrics)
      let task = Task { try await gauges.run() }
      while metrics["shop_recording"] == nil { try await Task.sleep(for: .milliseconds(2)) }
      task.cancel()
      try await task.value
      #expect(metrics["shop_leaks"] == nil)
    }
  }

  @Test func namesAndPatterns() {
    #expect(TypePattern.matches("App.Session", "App.Session"))
    #expect(!TypePattern.matches("App.Session", "App.SessionCache"))
    #expect(TypePattern.matches("App.*", "App.Session"))
    #expect(!TypePattern.matches("App.*", "MyApp.Session"))
  }
}

private final class CountedItem {
  var me: CountedItem?
}

private final class OtherCountedItem {
  var number = 1
}

private func leakACountedItem() {
  let item = CountedItem()
  item.me = item
}

/// Remembers the last value of each gauge.
private final class RecordedMetrics: MetricsFactory {
  private let values = Mutex<[String: Double]>([:])

  subscript(name: String) -> Double? { values.withLock { $0[name] } }
  var names: [String] { values.withLock { Array($0.keys) } }

  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    Recorded(name: ([label] + dimensions.map { "\($0)=\($1)" }).joined(separator: " "), metrics: self)
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { NOOPMetricsHandler.instance }
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { NOOPMetricsHandler.instance }
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}

  private final class Recorded: RecorderHandler {
    private let name: String
    private let metrics: RecordedMetrics

    init(name: String, metrics: RecordedMetrics) {
      self.name = name
      self.metrics = metrics
    }

    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) { metrics.values.withLock { $0[name] = value } }
  }
}
