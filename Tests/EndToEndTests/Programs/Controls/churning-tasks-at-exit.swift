// exit() while tasks, actors, groups and streams are made and end at full speed on every core.
// EXPECT silent
// FLAGS -parse-as-library
import Foundation

final class Box: @unchecked Sendable {
  var values: [Int]
  var next: Box?
  init(_ count: Int) { values = Array(0..<count) }
}
actor Collector {
  var boxes: [Int: Box] = [:]
  var onAdd: (@Sendable (Int) -> Void)?
  func add(_ box: Box, _ key: Int) {
    boxes[key % 50] = box
    onAdd?(key)
  }
}
func round(_ collector: Collector, _ number: Int) async {
  let sum = await withTaskGroup(of: Box.self) { group in
    for index in 0..<8 {
      group.addTask {
        let box = Box(index * 3)
        box.next = Box(index)
        await Task.yield()
        return box
      }
    }
    var sum = 0
    for await box in group {
      await collector.add(box, number)
      sum += box.values.count
    }
    return sum
  }
  async let doubled = Box(sum).values.count
  let stream = AsyncStream<Box> { continuation in
    for index in 0..<5 { continuation.yield(Box(index)) }
    continuation.finish()
  }
  for await box in stream { await collector.add(box, number + 1) }
  _ = await doubled
}
@main struct Main {
  static func main() async throws {
    let collector = Collector()
    for worker in 0..<8 {
      Task.detached {
        var number = worker
        while true {
          await round(collector, number)
          number += 1
        }
      }
    }
    try await Task.sleep(for: .milliseconds(Int.random(in: 100...200)))
    exit(0)
  }
}
