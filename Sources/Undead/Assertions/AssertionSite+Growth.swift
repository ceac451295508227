extension AssertionSite {
  /// Fails if objects become more with each repetition of the body; what the body throws ends it.
  ///
  /// - Parameters: as of ``HeapGrowth/measure(iterations:warmUp:_:)``.
  package func assertNoHeapGrowth<Failure: Error>(
    iterations: Int, warmUp: Int, _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    if let obstacle = Availability.reason {
      skip(obstacle)
      return try body()
    }
    tell(try HeapGrowth.measure(iterations: iterations, warmUp: warmUp, in: session, body))
  }

  /// Fails if objects become more with each repetition of the asynchronous body; what the body throws ends it.
  package nonisolated(nonsending) func assertNoHeapGrowth<Failure: Error>(
    iterations: Int, warmUp: Int,
    _ body: () async throws(Failure) -> Void
  ) async throws(Failure) {
    if let obstacle = Availability.reason {
      skip(obstacle)
      return try await body()
    }
    tell(try await HeapGrowth.measure(iterations: iterations, warmUp: warmUp, in: session, body))
  }

  /// Fails if more objects of a class and its subclasses are alive than `limit`.
  package func assertLiveObjects<Object: AnyObject>(of type: Object.Type, atMost limit: Int) {
    if let obstacle = Availability.reason { return skip(obstacle) }
    do {
      let live = try LiveObjects.count(of: type, atMost: limit, in: session)
      guard live.count > limit else { return }
      fail(live.message(type: String(reflecting: type), limit: limit, directory: Self.directory))
    } catch {
      skip(error.description)
    }
  }

  private func tell(_ growths: Result<[HeapGrowth.Growth], UndeadError>) {
    do {
      for growth in try growths.get() { fail(growth.message(directory: Self.directory)) }
    } catch {
      skip(error.description)
    }
  }
}
