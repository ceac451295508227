// source: grpc/grpc-swift 1f87e8c5 (#1570)
// The transport kept its callback for the start of the stream, which holds the call that holds the transport. The fix drops
// the callback after its use.
// expect: leak Call via Transport.onStart

enum GRPCStartCallback: LeakCase {
  final class Transport<Request> {
    #if FIXED
      private var onStart: (() -> Void)?
    #else
      private let onStart: () -> Void
    #endif
    private var requests: [Request] = []

    init(onStart: @escaping () -> Void) { self.onStart = onStart }

    func send(_ request: Request) {
      requests.append(request)
      #if FIXED
        onStart?()
        onStart = nil
      #else
        onStart()
      #endif
    }
  }

  final class Call {
    private var transport: Transport<String>?
    private var mayWrite = false

    func start() {
      transport = Transport { self.mayWrite = true }
      transport?.send("headers")
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { Call().start() }
  }
}
