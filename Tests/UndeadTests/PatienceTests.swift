import Testing

@testable import Undead

@Suite struct PatienceTests {
  /// A check that waits for threads to settle must see the same in a task that was cancelled.
  @Test func aCancelledTaskWaitsAsLong() async {
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      let start = ContinuousClock.now
      await Patience.sleep(.milliseconds(80))
      return (waited: ContinuousClock.now - start, isCancelled: Task.isCancelled)
    }
    let result = await task.value
    #expect(result.isCancelled && result.waited >= .milliseconds(80))
  }

  @Test func aLastSearchThatFailsIsTold() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      DetectionSession.process.end.tellFailure(UndeadError("no memory"), in: .process)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("undead: the last search, for leaks that the checks of the tests did not see"), "\(text)")
    #expect(text.contains("could not be made: no memory"), "\(text)")
  }
}
