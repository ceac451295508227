// Links the instrument, and reports objects to it that outlived their scopes and of a timer that a run loop holds.
import Glibc

final class Owner {
  var cycle: Owner?
  var timer: Tick?
}

final class Cache {
  nonisolated(unsafe) static let shared = Cache()
  var entries: [String: Owner] = [:]
}

final class Tick {
  let target: Owner
  init(_ target: Owner) { self.target = target }
}

final class Loop {
  nonisolated(unsafe) static let main = Loop()
  var ticks: [Tick] = []
}

struct Watched {
  nonisolated(unsafe) static var all: [Watched] = []
  weak var owner: Owner?
  var scope: String
}

@inline(never) @_optimize(none)
func leaveBehind() {
  let cached = Owner()
  Cache.shared.entries["a"] = cached
  let timed = Owner()
  let tick = Tick(timed)
  Loop.main.ticks.append(tick)
  timed.timer = tick
  let cyclic = Owner()
  cyclic.cycle = cyclic
  let dead = Owner()
  for (owner, scope) in [(cached, "cached"), (timed, "timed"), (cyclic, "cyclic"), (dead, "dead")] {
    Watched.all.append(Watched(owner: owner, scope: scope))
  }
}

@inline(never) @_optimize(none)
func overwriteStack(_ depth: Int) -> Int {
  var words = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  withUnsafeMutableBytes(of: &words) { $0.initializeMemory(as: UInt8.self, repeating: 0) }
  return depth == 0 ? words.0 : overwriteStack(depth - 1) + words.1
}

let added = undead_add_facts_source(
  { facts, _ in
    for watched in Watched.all {
      guard let owner = watched.owner else { continue }
      watched.scope.withCString { scope in
        var object = undead_watched_object(
          object: Unmanaged.passUnretained(owner).toOpaque(), scope: scope, frames: nil, frame_count: 0)
        undead_facts_add_watched(facts, &object)
      }
    }
    for tick in Loop.main.ticks {
      let texts = ["main", "default", "timer", "poll"].map { (text: String) in strdup(text) }
      defer { for text in texts { free(text) } }
      var item = undead_run_loop_item(
        object: Unmanaged.passUnretained(tick).toOpaque(), loop: Unmanaged.passUnretained(Loop.main).toOpaque(),
        loop_name: texts[0], modes: texts[1], kind: texts[2], name: texts[3])
      undead_facts_add_run_loop_item(facts, &item)
    }
    undead_facts_set_run_loops(facts, "{\"loops\":[{\"name\":\"main\"}]}")
    // Every check asks, and this one is the last.
    if undead_facts_are_last() { undead_facts_add_note(facts, "told by the program") }
  }, nil)
leaveBehind()
_ = overwriteStack(100)
print("added \(added)")
