// Weak and unowned references outlive their objects, and are only asked whether they are still there.
// EXPECT silent
class Target {
  var number = 1
}

final class References {
  weak var weakly: Target?
  unowned var safely: Target
  unowned(unsafe) var unsafely: Target
  init(_ target: Target) {
    weakly = target
    safely = target
    unsafely = target
  }
}

@inline(never) @_optimize(none) func make() -> References {
  let target = Target()
  let references = References(target)
  withExtendedLifetime(target) {}
  return references
}

var kept: [References] = []
var dead = 0
for round in 0..<20000 {
  kept.append(make())
  if kept.count > 100 { kept.removeFirst(50) }
  if kept[round % kept.count].weakly == nil { dead += 1 }
}
print(dead)
