// swift-format-ignore-file: AmbiguousTrailingClosureOverload
import UndeadReport

extension AssertionSite {
  /// Fails for each dead object that the body uses; even if it throws.
  package func assertNoZombies<Output, Failure: Error>(
    _ body: () throws(Failure) -> Output
  ) throws(Failure) -> Output {
    let collector = ZombieCollector(in: session)
    defer { tell(collector) }
    return try collector.run(body)
  }

  /// Fails for each dead object that the asynchronous body uses; even if it throws.
  package nonisolated(nonsending) func assertNoZombies<Output, Failure: Error>(
    _ body: () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    let collector = ZombieCollector(in: session)
    defer { tell(collector) }
    return try await collector.run(body)
  }

  private func tell(_ collector: ZombieCollector) {
    if let obstacle = collector.obstacle { return skip("zombies: \(obstacle)") }
    for zombie in collector.zombies { fail(FailureText.text(zombie, directory: Self.directory)) }
  }
}
