import Logging
import Synchronization
import Testing
import UndeadRunLoop
import UndeadRunLoopLogging

/// Keeps what was logged.
private struct Recorder: LogHandler {
  final class Store: Sendable {
    let lines = Mutex<[(Logger.Level, String, Logger.Metadata)]>([])
  }

  let store: Store
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    store.lines.withLock { $0.append((event.level, "\(event.message)", event.metadata ?? [:])) }
  }
}

@Suite struct LoggingTests {
  @Test func diagnosticsReachTheLogger() throws {
    let store = Recorder.Store()
    RunLoopDiagnostics.enable(logger: Logger(label: "test") { _ in Recorder(store: store) })
    defer { RunLoopDiagnostics.disable() }
    do {
      let lost = try TrackedTimer(timeInterval: 1) { _ in }
      lost.name = "lost"
    }
    let lines = store.lines.withLock { $0 }
    let line = try #require(lines.first)
    #expect(line.0 == .warning)
    #expect(line.1.contains("timer \"lost\" was deallocated"))
    #expect(line.2["kind"] == "timerDeallocatedUnfired")
    #expect(line.2["timer"] == "lost")
  }
}
