// Large objects, long chains that die at once, and far more dead memory than the budget.
// OPTIONS --zombie-bytes 1MB
// EXPECT silent
final class Link {
  var next: Link?
  var payload = (1, 2, 3, 4, 5, 6, 7, 8)
  init(_ next: Link?) { self.next = next }
}

final class Big {
  var bytes = [UInt8](repeating: 1, count: 100_000)
}

@inline(never) @_optimize(none) func chain(_ length: Int) -> Int {
  var head: Link?
  for _ in 0..<length { head = Link(head) }
  return head?.payload.7 ?? 0
}

@inline(never) @_optimize(none) func big() -> Int { Big().bytes.count }

var total = 0
for _ in 0..<20 { total += chain(3000) }
for _ in 0..<500 { total += big() }
print(total)
