import Glibc
import Synchronization

/// Holders on their way from one thread to another.
let exchange = Mutex<[Holder]>([])

/// Between their steps threads hold nothing in registers, which a forked child does not have.
enum Quiet {
  nonisolated(unsafe) private static let lock: UnsafeMutablePointer<pthread_rwlock_t> = {
    let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
    pthread_rwlock_init(lock, nil)
    return lock
  }()

  static func disturb(_ body: () -> Void) {
    pthread_rwlock_rdlock(lock)
    body()
    pthread_rwlock_unlock(lock)
  }
  static func keep(_ body: () -> Void) {
    pthread_rwlock_wrlock(lock)
    body()
    pthread_rwlock_unlock(lock)
  }
}

/// Builds and changes a part of the graph; one on each thread.
struct Worker {
  let number: Int
  let options: Options
  var random: Random
  var holders: [Holder] = []
  var step = 0
  private var isToFork = false

  init(number: Int, options: Options) {
    self.number = number
    self.options = options
    random = Random(seed: options.seed &* 1000 &+ UInt64(number))
  }

  mutating func run() {
    for step in 1...max(options.steps, 1) {
      self.step = step
      Quiet.disturb { takeStep() }
      if isToFork {
        isToFork = false
        Quiet.keep { checkInFork(worker: number, step: step) }
      }
    }
    trace("give the rest away")
    while let holder = holders.popLast() { exchange.withLock { $0.append(holder) } }
  }

  @inline(never) private mutating func takeStep() {
    switch random.below(100) {
    case 0..<24: makeHolder()
    case 24..<48: putNew()
    case 48..<60: moveNode()
    case 60..<68: releaseNode()
    case 68..<74: nest()
    case 74..<80: for holder in holders where random.chance(30) { holder.churn() }
    case 80..<86: dropHolder()
    case 86..<89: leakHolder()
    case 89..<92: leakNode()
    case 92..<96: exchangeHolder()
    default: if random.chance(options.checkPercent) { check() }
    }
    while holders.count > options.holders { dropHolder() }
  }

  private mutating func check() {
    trace("check")
    if options.forks, random.chance(5) {
      isToFork = true
    } else {
      Check.run(.atRandom, worker: number, step: step)
    }
  }

  private mutating func index() -> Int? { holders.isEmpty ? nil : random.below(holders.count) }

  @inline(never) private mutating func makeHolder() {
    guard let holder = Choice.make(&random) else { return }
    trace("make", holder)
    fill(holder)
    if options.leaks, random.chance(30), kinds[Int(holder.kind)].limit == .max { holder.beCyclic() }
    holders.append(holder)
  }

  @inline(never) private mutating func fill(_ holder: Holder) {
    let count = random.chance(10) ? random.below(60) : random.below(6)
    for _ in 0..<count where !put(makeNode(), into: holder) { break }
  }

  @inline(never) private mutating func makeNode() -> Node {
    let node = makePlainNode()
    if options.leaks, random.chance(15) { node.beCyclic() }
    return node
  }

  @inline(never) private mutating func makePlainNode() -> Node {
    switch random.below(10) {
    case 0..<6: return Node()
    case 6..<8: return WideNode()
    case 8: return GenericNode((step, "value"))
    default: return GenericNode([step])
    }
  }

  /// Puts the node into the holder; what finds no room there dies.
  @inline(never) private mutating func put(_ node: Node, into holder: Holder) -> Bool {
    trace("put", holder, node)
    Truth.move(node.id, to: holder.id)
    if holder.put(node) { return true }
    node.ceaseToBeCyclic()
    Truth.drop(node.id)
    return false
  }

  @inline(never) private mutating func take(from holder: Holder) -> Node? {
    trace("take", holder)
    guard let node = holder.take() else { return nil }
    Truth.move(node.id, to: 0)
    return node
  }

  @inline(never) private mutating func putNew() {
    guard let index = index() else { return }
    let node = makeNode()
    if random.chance(20), let other = self.index(), let friend = take(from: holders[other]) {
      node.friend = friend
      _ = put(friend, into: holders[other])
    }
    _ = put(node, into: holders[index])
  }

  @inline(never) private mutating func moveNode() {
    guard let from = index(), let to = index(), let node = take(from: holders[from]) else { return }
    _ = put(node, into: holders[to])
  }

  @inline(never) private mutating func releaseNode() {
    guard let from = index(), let node = take(from: holders[from]) else { return }
    trace("release", node)
    if random.chance(80) { node.ceaseToBeCyclic() }
    Truth.drop(node.id)
  }

  /// Gives a node a holder of its own, or does something with the one that it has.
  @inline(never) private mutating func nest() {
    guard let from = index(), let node = take(from: holders[from]) else { return }
    if let child = node.child {
      if let inner = take(from: child), let to = self.index() { _ = put(inner, into: holders[to]) }
      _ = put(makeNode(), into: child)
    } else if let child = Choice.make(&random) {
      trace("nest", child)
      fill(child)
      Truth.move(child.id, to: node.id)
      node.child = child
    }
    _ = put(node, into: holders[from])
  }

  @inline(never) private mutating func dropHolder() {
    guard let index = index() else { return }
    trace("drop", holders[index])
    if random.chance(80) { holders[index].ceaseToBeCyclic() }
    Truth.drop(holders[index].id)
    holders.remove(at: index)
  }

  @inline(never) private mutating func leakHolder() {
    guard options.leaks, let index = index() else { return }
    // Once for its thread or file, which it keeps.
    if kinds[Int(holders[index].kind)].limit < .max { return }
    trace("leak", holders[index])
    Truth.leak(holders[index].id, wasTaken: false)
    holders[index].beCyclic()
    holders.remove(at: index)
  }

  @inline(never) private mutating func leakNode() {
    guard options.leaks, let from = index(), let node = take(from: holders[from]) else { return }
    trace("leak", node)
    let isRetained = random.chance(50)
    Truth.leak(node.id, wasTaken: true, wasRetained: isRetained)
    if isRetained { _ = Unmanaged.passRetained(node) } else { node.beCyclic() }
  }

  @inline(never) private mutating func exchangeHolder() {
    if random.chance(50), let index = index() {
      let holder = holders.remove(at: index)
      exchange.withLock { $0.append(holder) }
    } else if let holder = exchange.withLock({ $0.popLast() }) {
      holders.append(holder)
    }
  }

  private func trace(_ verb: String, _ holder: Tracked? = nil, _ node: Node? = nil) {
    guard options.traces else { return }
    var text = "\(number).\(step) \(verb)"
    if let holder { text += " \(holder.id)" }
    if let holder = holder as? Holder { text += " (\(kinds[Int(holder.kind)].name))" }
    if let node { text += " node \(node.id)" }
    note(text)
  }
}
