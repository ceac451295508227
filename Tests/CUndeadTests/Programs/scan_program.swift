// A program that leaks, waits or misbehaves in the way that its first argument names, scans itself and prints counts.
import Dispatch
import Foundation

final class Node {
  var next: Node?
  let numbers = [1, 2, 3]
}

final class Owner {
  var handler: (() -> Void)?
  weak var parent: Owner?
  unowned(unsafe) var other: Node?
}

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

@inline(never) @_optimize(none) func sink<T>(_ value: T) {}

@inline(never) func leakCycles(_ count: Int) {
  for _ in 0..<count {
    let first = Node()
    let second = Node()
    first.next = second
    second.next = first
    sink(first)
  }
}

@inline(never) func leakClosures(_ count: Int) {
  for _ in 0..<count {
    let owner = Owner()
    owner.handler = { sink(owner) }
    sink(owner)
  }
}

@inline(never) func leakRawMemory(_ count: Int) {
  for _ in 0..<count {
    let memory = UnsafeMutablePointer<Int>.allocate(capacity: 10)
    memory.initialize(repeating: 0, count: 10)
    sink(memory)
  }
}

// Not optimised: calls without visible effects would be made once for a whole loop.
@inline(never) @_optimize(none) func passRetained() -> UnsafeMutableRawPointer {
  Unmanaged.passRetained(Node()).toOpaque()
}

@inline(never) func disguisedReference() -> UInt { ~UInt(bitPattern: passRetained()) }

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

// Alive on purpose.
nonisolated(unsafe) var shapes: [Shape] = []
nonisolated(unsafe) var holders: [any Holder] = []
nonisolated(unsafe) var trees: [Tree] = []
nonisolated(unsafe) var results: [Result<Node, any Error>] = []
nonisolated(unsafe) var values: [String: Any] = [:]
nonisolated(unsafe) var weakReaders: [() -> Node?] = []
nonisolated(unsafe) var datas: [Data] = []
nonisolated(unsafe) var continuations: [UnsafeContinuation<Void, Never>] = []
nonisolated(unsafe) var kept: [AnyObject] = []
let lock = NSLock()

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
  for _ in 0..<50 {
    Task.detached {
      let node = Node()
      await withUnsafeContinuation { continuation in lock.withLock { continuations.append(continuation) } }
      sink(node)
    }
  }
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

func holdInOddPlaces() {
  for shared in [false, true] {
    let memory = map_memory(1 << 20, shared)!.bindMemory(to: UnsafeMutableRawPointer.self, capacity: 200)
    for index in 0..<100 { memory[index] = passRetained() }
  }
  for _ in 0..<3 { start_thread_with_value(passRetained()) }
  for kind in [GENERAL_REGISTER, VECTOR, UPPER_VECTOR, WIDE_VECTOR, FURTHER_VECTOR] {
    start_thread_with_register(passRetained(), kind)
  }
  start_thread_on_other_stack(passRetained())
}

// Suspects.
final class Ticker {
  var timer: Timer?
  func start() { timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { _ in sink(self) } }
}
final class Source {
  var source: DispatchSourceTimer?
  func start() {
    let source = DispatchSource.makeTimerSource(queue: .global())
    source.schedule(deadline: .now() + 1000, repeating: 1000)
    source.setEventHandler { sink(self) }
    source.resume()
    self.source = source
  }
}
final class Observer {
  var token: NSObjectProtocol?
  func start() {
    token = NotificationCenter.default.addObserver(forName: .init("name"), object: nil, queue: nil) { _ in sink(self) }
  }
}
final class Worker: @unchecked Sendable {
  var task: Task<Void, Never>?
  func start() {
    task = Task {
      while !Task.isCancelled { try? await Task.sleep(nanoseconds: 1_000_000_000_000) }
      sink(self)
    }
  }
}
final class Healthy {
  var timer: Timer?
  func start() { timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { [weak self] _ in sink(self) } }
}

@inline(never) func startSuspects() {
  Ticker().start()
  Source().start()
  Observer().start()
  Worker().start()
  let healthy = Healthy()
  let heldAnyway = Ticker()
  healthy.start()
  heldAnyway.start()
  kept += [healthy, heldAnyway]
}

// Disguised, so that the list holds nothing.
@inline(never) func addressesOfLeakedCycles(_ count: Int) -> [UInt] {
  (0..<count).map { _ in
    let node = Node()
    node.next = node
    return ~UInt(bitPattern: Unmanaged.passUnretained(node).toOpaque())
  }
}

nonisolated(unsafe) var keptBlocks: [UnsafeMutableRawPointer] = []
nonisolated(unsafe) var keptTexts: [String] = []

@inline(never) func fill(_ memory: UnsafeMutableRawPointer, _ bytes: Int, _ disguised: [UInt]) {
  let words = memory.bindMemory(to: UInt.self, capacity: bytes / 8)
  for word in 0..<bytes / 8 { words[word] = ~disguised[word % disguised.count] }
}

// Fills memory with references, gives it back, gets it again and keeps it as it is.
@inline(never) func recycleMemory(_ disguised: [UInt]) {
  for size in [24, 40, 120, 1000, 1100, 5000, 100_000] {
    let blocks = (0..<40).map { _ in malloc(size)! }
    for block in blocks { fill(block, size, disguised) }
    for block in blocks { free(block) }
    for index in 0..<40 { keptBlocks.append(index % 4 == 0 ? realloc(malloc(24)!, size)! : malloc(size)!) }
  }
  var aligned: UnsafeMutableRawPointer?
  let block = malloc(2000)!
  fill(block, 2000, disguised)
  free(block)
  if posix_memalign(&aligned, 64, 1900) == 0 { keptBlocks.append(aligned!) }
}

/// Scans while a thread that ends gives back blocks, of as many as its cache may keep of each size, that are full of references.
@inline(never) func scanBesideEndingThread(_ disguised: [UInt], ofEachSize count: Int, waits: Bool = false) {
  var blocks: [UnsafeMutableRawPointer?] = []
  if waits { blocks = Array(repeating: nil, count: 16 * count) }
  for size in stride(from: 136, to: 392, by: 16) where !waits {
    for _ in 0..<count {
      let block = malloc(size)!
      fill(block, size, disguised)
      blocks.append(block)
    }
  }
  let thread = start_ending_thread(&blocks, blocks.count, waits)
  report(scan_now(copy, false, nil))
  if !waits { pthread_join(thread, nil) }
}

// Live strings: with breadcrumbs, and with references in the capacity that they do not use.
@inline(never) func keepTexts(_ disguised: [UInt]) {
  for index in 0..<100 {
    let text = String(repeating: "\u{e9}", count: 100 + index)
    sink(text.utf16.index(text.utf16.startIndex, offsetBy: 90))
    keptTexts.append(text)
  }
  for _ in 0..<10 {
    keptTexts.append(
      String(unsafeUninitializedCapacity: 800) { buffer in
        fill(UnsafeMutableRawPointer(buffer.baseAddress!), 800, disguised)
        for index in 0..<100 { buffer[index] = 0x41 }
        return 100
      })
  }
}

nonisolated(unsafe) var hiddenChild: UInt = 0

/// A node that the thread owns once, as its own value, and that the returned one owns once.
@inline(never) func makeOwned() -> Node {
  var key = pthread_key_t()
  pthread_key_create(&key, nil)
  let owner = Node()
  owner.next = Node()
  pthread_setspecific(key, Unmanaged.passRetained(owner).toOpaque())
  hiddenChild = ~UInt(bitPattern: Unmanaged.passUnretained(owner.next!).toOpaque())
  let other = Node()
  other.next = owner
  return other
}

func ownByThread() {
  Thread.detachNewThread {
    let other = makeOwned()
    while true { withExtendedLifetime(other) { _ = pause() } }
  }
}

final class Vertex {
  var links: [Vertex] = []
  var held: Any?
  var block: UnsafeMutableRawPointer?
  weak var back: Vertex?
}
struct Pair { var number: Int, vertex: Vertex }

nonisolated(unsafe) var reached: [Vertex] = []

/// A random graph that nothing refers to but `reached`; returns how many of its objects that does not lead to.
@inline(never) func makeGraph(_ seed: UInt64, _ count: Int, holes: Int) -> Int {
  var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  func random(_ limit: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(limit))
  }
  let hidden = (0..<count).map { _ in ~UInt(bitPattern: Unmanaged.passRetained(Vertex()).toOpaque()) }
  func vertex(_ index: Int) -> Vertex {
    Unmanaged<Vertex>.fromOpaque(UnsafeRawPointer(bitPattern: ~hidden[index])!).takeUnretainedValue()
  }
  var edges = [[Int]](repeating: [], count: count)
  for index in 0..<count {
    for _ in 0..<random(5) {
      let target = random(8) == 0 ? random(count) : min(index + random(32), count - 1)
      switch random(4) {
      case 0 where vertex(index).held == nil: vertex(index).held = Pair(number: index, vertex: vertex(target))
      case 1:
        vertex(index).back = vertex(target)
        continue
      default: vertex(index).links.append(vertex(target))
      }
      edges[index].append(target)
    }
  }
  var alive = [Bool](repeating: false, count: count)
  var waiting = (0..<count / 1000).map { _ in random(count) }
  reached = waiting.map(vertex)
  while let index = waiting.popLast() {
    guard !alive[index] else { continue }
    alive[index] = true
    waiting += edges[index]
  }
  for index in (0..<count).filter({ alive[$0] }).suffix(holes) { vertex(index).block = block_with_hole() }
  return (0..<count).reduce(0) { $0 + (alive[$1] ? 0 : vertex($1).links.isEmpty ? 1 : 2) }
}

func report(_ counts: undead_test_scan_counts) {
  var counts = counts
  let message = withUnsafeBytes(of: &counts.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  let kinds = counts.suspects_of_kind
  print(
    "leaked \(counts.leaked) raw \(counts.raw) support \(counts.support) edges \(counts.edges) paths \(counts.paths)",
    "timers \(kinds.1) sources \(kinds.2) observers \(kinds.3) tasks \(kinds.4)",
    "withPath \(counts.suspects_with_path) method \(counts.stop_method) error \(counts.error)",
    "strong \(counts.path_strong) counted \(counts.path_counted) shared \(counts.path_shared)",
    "liveBlocks \(counts.live_blocks) pauseMicroseconds \(counts.pause_nanoseconds / 1000)",
    "scanMicroseconds \(counts.scan_nanoseconds / 1000) message \(message)")
}

let arguments = CommandLine.arguments
let copy = arguments.contains("copy")
var scans = 1
switch arguments[1] {
case "simple":
  leakCycles(1000)
  leakClosures(1000)
  leakRawMemory(50)
case "hanging-continuation", "hanging-stream", "hanging-group":
  startHangingTasks(String(arguments[1].dropFirst(8)), 1000)
  wait_until_others_sleep()
case "live":
  fillGlobals()
  startLiveTasks()
  startLiveThreads()
  usleep(300_000)
  scans = 20
case "odd":
  holdInOddPlaces()
  scans = 3
case "suspects":
  startSuspects()
  wait_until_others_sleep()
case "watched":
  let node = Node()
  node.next = Node()
  kept.append(node)
  report(scan_now(copy, false, Unmanaged.passUnretained(node.next!).toOpaque()))
  exit(0)
case "owned":
  ownByThread()
  wait_until_others_sleep()
  report(scan_now(copy, false, UnsafeMutableRawPointer(bitPattern: ~hiddenChild)!))
  exit(0)
case "dead-threads":
  run_short_threads(200) { _ in passRetained() }
case "reused-thread":
  // The scan's own thread leaves its stack and its vector of thread-local storage to the next ones.
  report(scan_now(copy, false, nil))
  for _ in 0..<3 { start_thread_with_dynamic_value(passRetained()) }
case "recycled-memory":
  recycleMemory(addressesOfLeakedCycles(100))
case "ending-threads":
  let disguised = addressesOfLeakedCycles(50)
  for _ in 0..<5 { scanBesideEndingThread(disguised, ofEachSize: 5000) }
  exit(0)
case "ending-thread-that-waits":
  scanBesideEndingThread([1], ofEachSize: 5000, waits: true)
  exit(0)
case "texts":
  keepTexts(addressesOfLeakedCycles(50))
case "denied", "killed-by-filter":
  leakCycles(1000)
  deny_ptrace(arguments[1] == "killed-by-filter")
case "storm":
  leakCycles(1000)
  for index in 0..<8 {
    Thread.detachNewThread {
      var nodes: [[Node]] = []
      for round in 0... {
        nodes.append((0..<10).map { _ in Node() })
        if nodes.count > 100 { nodes.removeAll() }
        if index == 0 && round % 1000 == 0 { Thread { sink(Node()) }.start() }
      }
    }
  }
  scans = 100
case "signals":
  start_signals()
  for _ in 0..<100 { report(scan_now(copy, false, nil)) }
  print("disturbed \(check_signals())")
  exit(0)
case "helper-killed":
  leakCycles(1000)
  start_killer()
  var killed = 0
  for _ in 0..<10_000 where killed < 10 {
    let counts = scan_now(copy, false, nil)
    killed += counts.error == 4 ? 1 : 0
    report(counts)
  }
  stop_threads()
  usleep(50_000)
case "allocating":
  for _ in 0..<3 { start_allocating_thread(disguisedReference()) }
  scans = 20
case "vfork":
  leakCycles(1000)
  start_vfork()
  report(scan_now(copy, false, nil))
  print("watched \(microseconds_watched())")
  exit(0)
case "graph":
  print("unreached \(makeGraph(UInt64(arguments[2])!, 100_000, holes: arguments.contains("holes") ? 8 : 0))")
  if let filter = ["fail", "trap", "kill"].firstIndex(where: arguments.contains) {
    deny_threads(thread_filter(UInt32(filter)))
  }
case "many":
  func tree(_ depth: Int) -> Node {
    let node = Node()
    if depth > 0 {
      node.next = tree(depth - 1)
      kept.append(tree(depth - 1))
    }
    return node
  }
  kept.append(tree(14))
default:
  fatalError("no such mode")
}
for _ in 0..<scans { report(scan_now(copy, arguments.contains("suspects"), nil)) }
exit(0)
