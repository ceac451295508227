// source: grpc/grpc-swift 5ddbb617 (#1279)
// Each context in the client's pipeline refers to the pipeline. Closing it did not drop the contexts; with the fix it does.
// expect: leak Pipeline via Pipeline.userContexts

enum GRPCInterceptorContexts: LeakCase {
  struct Context {
    let index: Int
    let name: String
    let pipeline: Pipeline
  }

  final class Pipeline {
    private var userContexts: [Context] = []
    private var isOpen = true

    init(names: [String]) {
      for (index, name) in names.enumerated() { userContexts.append(Context(index: index, name: name, pipeline: self)) }
    }

    func close() {
      isOpen = false
      #if FIXED
        userContexts.removeAll()
      #endif
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { Pipeline(names: ["log", "retry"]).close() }
  }
}
