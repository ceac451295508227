// source: grpc/grpc-swift 3f7c7141 (#1559)
// If a call ended unexpectedly, its handler kept the pipeline of interceptors, whose callbacks are methods of the handler.
// The fix clears the field on this path, too.
// expect: leak UnaryHandler via UnaryHandler.interceptors

enum GRPCServerInterceptors: LeakCase {
  final class Pipeline<Request, Response> {
    private let onRequest: (Request) -> Void
    private let onResponse: (Response) -> Void

    init(onRequest: @escaping (Request) -> Void, onResponse: @escaping (Response) -> Void) {
      self.onRequest = onRequest
      self.onResponse = onResponse
    }

    func receive(_ request: Request) { onRequest(request) }
    func send(_ response: Response) { onResponse(response) }
  }

  final class UnaryHandler<Request, Response> {
    enum State {
      case idle
      case invoked(Request)
      case completed
    }
    private var interceptors: Pipeline<Request, Response>?
    private var state = State.idle

    init() { interceptors = Pipeline(onRequest: invoke, onResponse: respond) }

    func receive(_ request: Request) { interceptors?.receive(request) }

    private func invoke(_ request: Request) { state = .invoked(request) }
    private func respond(_ response: Response) { state = .completed }

    /// The connection is gone before there was a response.
    func finish() {
      switch state {
      case .idle, .completed:
        interceptors = nil
      case .invoked:
        state = .completed
        #if FIXED
          interceptors = nil
        #endif
      }
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      let handler = UnaryHandler<[UInt8], String>()
      handler.receive([1, 2, 3])
      handler.finish()
    }
  }
}
