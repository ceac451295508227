// source: swift-server/async-http-client f65f45b (#665)
// The delegate of a request kept the whole request, whose body stream holds the task that holds the delegate. The fix keeps
// only method and host.
// expect: leak Accumulator via Accumulator.request

enum AHCRequestKeptByDelegate: LeakCase {
  struct Request {
    var method = "POST"
    var host = "localhost"
    var stream: ((Writer) -> Void)?
  }

  final class Writer {
    var written = 0
  }

  final class Accumulator {
    #if FIXED
      let method: String
      let host: String
      init(request: Request) { (method, host) = (request.method, request.host) }
      var isHead: Bool { method == "HEAD" }
    #else
      let request: Request
      init(request: Request) { self.request = request }
      var isHead: Bool { request.method == "HEAD" }
    #endif
  }

  final class RequestTask {
    var delegate: Accumulator?
    var sent = 0
  }

  @inline(never) static func oneRound() {
    let task = RequestTask()
    var request = Request()
    request.stream = { writer in
      writer.written += 1
      task.sent = writer.written
    }
    task.delegate = Accumulator(request: request)
    request.stream?(Writer())
    precondition(task.sent == 1 && task.delegate?.isHead == false)
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { oneRound() }
  }
}
