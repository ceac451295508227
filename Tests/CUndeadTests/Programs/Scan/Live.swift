// Much that is alive, and changes all the time.
import Dispatch
import Foundation

enum Shape {
  case node(Node)
  case pair(Node, Int)
  case list([Node])
  case text(String)
  case nothing
}
indirect enum Tree {
  case leaf(Node)
  case branch(Tree, Tree)
}
protocol Holder { var node: Node { get } }
struct Small: Holder { var node = Node() }
struct Large: Holder { var node = Node(), second = Node(), third = Node(), number = 1 }
struct Failure: Error { let node = Node(), text = "an error that needs memory of its own, surely" }

actor Counter {
  var count = 0
  let node = Node()
  func add(_ node: Node) async {
    count += 1
    await Task.yield()
    sink(node)
  }
}

// Alive on purpose.
nonisolated(unsafe) var shapes: [Shape] = []
nonisolated(unsafe) var holders: [any Holder] = []
nonisolated(unsafe) var trees: [Tree] = []
nonisolated(unsafe) var results: [Result<Node, any Error>] = []
nonisolated(unsafe) var values: [String: Any] = [:]
nonisolated(unsafe) var weakReaders: [() -> Node?] = []
nonisolated(unsafe) var datas: [Data] = []
nonisolated(unsafe) var continuations: [UnsafeContinuation<Void, Never>] = []

let lock = NSLock()
private let waitingTasks = 50

func fillGlobals() {
  for index in 0..<300 {
    shapes += [
      .node(Node()), .pair(Node(), index), .list([Node()]), .text(String(repeating: "x", count: index)), .nothing,
    ]
    holders += [Small(), Large()]
    trees.append(.branch(.leaf(Node()), .branch(.leaf(Node()), .leaf(Node()))))
    results += [.success(Node()), .failure(Failure())]
    values["\(index)"] = index % 2 == 0 ? [Node()] : Large()
    datas.append(Data(repeating: 1, count: index * 10))
    let strong = Node()
    shapes.append(.node(strong))
    weakReaders.append { [weak strong] in strong }
  }
}

func startLiveTasks() {
  for _ in 0..<6 {
    Task.detached {
      let counter = Counter()
      while true {
        await counter.add(Node())
        try? await Task.sleep(nanoseconds: 50_000)
      }
    }
  }
  Task.detached {
    while true {
      await withTaskGroup(of: Node.self) { group in
        for _ in 0..<5 { group.addTask { Node() } }
        for await node in group { sink(node) }
      }
    }
  }
  for _ in 0..<waitingTasks {
    Task.detached {
      let node = Node()
      await withUnsafeContinuation { continuation in lock.withLock { continuations.append(continuation) } }
      sink(node)
    }
  }
}

/// Returns when all tasks that wait for a continuation do so.
func waitForLiveTasks() {
  while lock.withLock({ continuations.count < waitingTasks }) { usleep(1000) }
}

func repeatOnQueue(_ queue: DispatchQueue) {
  let node = Node()
  queue.asyncAfter(deadline: .now() + 0.0005) {
    sink(node)
    repeatOnQueue(queue)
  }
}

func startLiveThreads() {
  for index in 0..<4 { repeatOnQueue(DispatchQueue(label: "queue \(index)")) }
  for _ in 0..<3 {
    Thread.detachNewThread {
      Thread.current.threadDictionary["node"] = Node()
      while true {
        sink(Node())
        usleep(300)
      }
    }
  }
  let operations = OperationQueue()
  operations.maxConcurrentOperationCount = 1
  for _ in 0..<30 {
    let node = Node()
    operations.addOperation {
      usleep(200_000)
      sink(node)
    }
  }
  kept.append(operations)
  let cache = NSCache<NSString, Node>()
  for index in 0..<50 { cache.setObject(Node(), forKey: "\(index)" as NSString) }
  kept.append(cache)
}
