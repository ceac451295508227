// source: swiftlang/swift-corelibs-foundation 0a66c40f92b9
// A task of a session and the protocol object that loads it refer to each other. The fix clears the task's field when it
// completes.
// expect: leak SessionTask via SessionTask.loader

class FoundationLoader {
  let task: FoundationSessionTask.SessionTask
  init(task: FoundationSessionTask.SessionTask) { self.task = task }
  func start() {}
}

enum FoundationSessionTask: LeakCase {
  final class HTTPLoader: FoundationLoader {
    private var received: [UInt8] = []
    override func start() { received.append(1) }
  }

  class SessionTask {
    enum State {
      case suspended, running, completed
    }
    var state = State.suspended
    fileprivate var loader: FoundationLoader?

    func resume() {
      state = .running
      loader = HTTPLoader(task: self)
      loader?.start()
    }

    func complete() {
      state = .completed
      #if FIXED
        loader = nil
      #endif
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      let task = SessionTask()
      task.resume()
      task.complete()
    }
  }
}
