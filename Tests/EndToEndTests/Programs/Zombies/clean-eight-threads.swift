// Eight threads make, send to and free objects of one another for a while.
// EXPECT silent
import Foundation

class Message: @unchecked Sendable {
  var payload = [1, 2, 3]
  func read() -> Int { payload.count }
}

class Special: Message, @unchecked Sendable {
  override func read() -> Int { payload.count + 1 }
}

final class Mailbox: @unchecked Sendable {
  private let lock = NSLock()
  private var messages: [Message] = []
  func put(_ message: Message) {
    lock.lock()
    messages.append(message)
    lock.unlock()
  }
  func take() -> Message? {
    lock.lock()
    defer { lock.unlock() }
    return messages.popLast()
  }
}

let boxes = (0..<8).map { _ in Mailbox() }
DispatchQueue.concurrentPerform(iterations: 8) { index in
  var sum = 0
  for number in 0..<5000 {
    boxes[(index + number) % 8].put(number % 2 == 0 ? Message() : Special())
    if let message = boxes[index].take() { sum += message.read() }
  }
  precondition(sum >= 0)
}
for box in boxes {
  while let message = box.take() { precondition(message.read() > 0) }
}
print("done")
