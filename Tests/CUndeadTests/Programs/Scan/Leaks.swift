// What all modes have in common, and what leaks.

final class Node {
  var next: Node?
  let numbers = [1, 2, 3]
}

final class Owner {
  var handler: (() -> Void)?
  weak var parent: Owner?
  unowned(unsafe) var other: Node?
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

@inline(never) func disguisedCycle() -> UInt {
  let node = Node()
  node.next = node
  return ~UInt(bitPattern: Unmanaged.passUnretained(node).toOpaque())
}

@inline(never) func disguisedReference() -> UInt { ~UInt(bitPattern: passRetained()) }

// Alive on purpose.
nonisolated(unsafe) var kept: [AnyObject] = []

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
