#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Synchronization

/// The pool of loop states.
enum LoopStatePool {
  private struct States {
    var free: [LoopCore] = []
    var all: [LoopCore] = []
  }
  private static let states = Locked(States())

  static var all: [LoopCore] { states.withLock { $0.all } }
  static var lockForForks: LoopLock { states.lock }

  static func take() -> LoopCore {
    Forking.prepare()
    if let reused = states.withLock({ $0.free.popLast() }) { return reused }
    let state = UnsafeMutablePointer<LoopState>.allocate(capacity: 1)
    state.initialize(to: LoopState())
    let header = UnsafeMutablePointer<LoopHeader>.allocate(capacity: 1)
    let wakers = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
    wakers.initialize(to: Atomic(0))
    header.initialize(to: LoopHeader(wakers: wakers, state: state))
    let core = LoopCore(header)
    states.withLock { $0.all.append(core) }
    return core
  }

  static func give(_ core: LoopCore) {
    // Some keep their descriptors: loops that come and go are the usual case.
    let keeping = 16
    core.letGoOfPoller(entirely: states.withLock { $0.free.count } >= keeping)
    states.withLock { $0.free.append(core) }
  }
}
#endif
