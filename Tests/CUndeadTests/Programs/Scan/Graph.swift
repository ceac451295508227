// A random graph.

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
