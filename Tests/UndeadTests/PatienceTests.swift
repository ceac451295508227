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
}
