// source: Alamofire/Alamofire 7bef9405 (#2491)
// A request that is tried again gets a new task; the entry of the old task stayed in the dictionary of the session. The fix
// removes it.
// expect: growth Request via SessionDelegate.requests

enum AlamofireRetrier: LeakCase {
  final class Request {
    var task: Int
    var attempts = 1
    init(task: Int) { self.task = task }
  }

  final class SessionDelegate {
    private var requests: [Int: Request] = [:]
    subscript(task: Int) -> Request? {
      get { requests[task] }
      set { requests[task] = newValue }
    }
  }

  final class SessionManager {
    private let delegate = SessionDelegate()
    private var lastTask = 0

    private func nextTask() -> Int {
      lastTask += 1
      return lastTask
    }

    func load() {
      let request = Request(task: nextTask())
      delegate[request.task] = request
      retry(request)
      delegate[request.task] = nil
    }

    private func retry(_ request: Request) {
      #if FIXED
        delegate[request.task] = nil
      #endif
      request.task = nextTask()
      request.attempts += 1
      delegate[request.task] = request
    }
  }

  nonisolated(unsafe) static let manager = SessionManager()

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { manager.load() }
  }
}
