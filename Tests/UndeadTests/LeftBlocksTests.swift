import Dispatch
import Testing
import UndeadReport

@testable import Undead

/// What a scope has put on a queue, by what the queue does.
@Suite struct LeftBlocksTests {
  private func left(_ body: () -> Void) -> [LeftWork] {
    let scope = AllocationScope.outsideOfAll { AllocationScope("blocks") }
    let search = LeftWorkSearch(scope)
    scope.run(body)
    return search.left()
  }

  private func blocks(_ body: () -> Void) -> [LeftWork] { left(body).filter { $0.kind == .block } }

  /// It may end by itself; how many continuations libdispatch keeps for the next ones does not matter.
  @Test func inABusyQueue() {
    let queue = DispatchQueue(label: "busy")
    let (isRunning, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    queue.async {
      isRunning.signal()
      isOver.wait()
    }
    isRunning.wait()
    let waiting = blocks { for _ in 0..<3 { queue.async {} } }
    #expect(waiting.count == 3 && waiting.allSatisfy { $0.isRunning && !$0.frames.isEmpty }, "\(waiting)")
    isOver.signal()
    #expect(
      blocks {
        for _ in 0..<100 { queue.async {} }
        queue.sync {}
      }.isEmpty)
  }

  @Test func inASuspendedQueue() {
    let queue = DispatchQueue(label: "suspended", attributes: .concurrent)
    let outer = DispatchQueue(label: "outer", target: queue)
    queue.suspend()
    let waiting = blocks {
      queue.async(flags: .barrier) {}
      queue.async(execute: DispatchWorkItem {})
      outer.async {}
    }
    #expect(waiting.count == 3 && !waiting.contains { $0.isRunning || $0.isQueued }, "\(waiting)")
    queue.resume()
    outer.sync {}
    queue.sync(flags: .barrier) {}
  }

  /// What waits for the thread that asks.
  @Test func behindTheTestItself() {
    let queue = DispatchQueue(label: "own")
    let waiting = queue.sync { blocks { queue.async {} } }
    #expect(waiting.count == 1 && waiting.allSatisfy(\.isQueued), "\(waiting)")
  }
}
