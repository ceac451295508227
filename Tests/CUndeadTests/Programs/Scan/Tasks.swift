// Tasks that wait for what never comes.

@inline(never) func hang(_ node: Node) async {
  await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in sink(continuation) }
  sink(node)
}

@inline(never) func hangInStream() async {
  let (stream, continuation) = AsyncStream<Node>.makeStream()
  let node = Node()
  let task = Task {
    for await value in stream { sink(value) }
    sink(node)
    sink(continuation)
  }
  sink(task)
}

func startHangingTasks(_ kind: String, _ count: Int) {
  for _ in 0..<count {
    switch kind {
    case "stream": Task.detached { await hangInStream() }
    case "group":
      Task.detached {
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<3 { group.addTask { await hang(Node()) } }
        }
      }
    default: Task.detached { await hang(Node()) }
    }
  }
}
