import Synchronization
import UndeadReport

@testable import Undead

/// A heap that never was, of which each object leaked in the scope that is checked next.
final class SyntheticHeap: Sendable {
  private struct Object {
    var type: String
    var scope: UInt32?
  }

  private struct State {
    var objects: [Object] = []
    var looks = 0
    var failure: UndeadError?
  }

  private let state = Mutex(State())

  /// An object of the program leaks; in no scope that is known if it is `stray`.
  func leak(_ type: String, stray: Bool = false) {
    state.withLock { $0.objects.append(Object(type: type, scope: stray ? ScopeTable.outside : nil)) }
  }

  /// What was not checked belongs to this scope.
  func assign(to scope: UInt32) {
    state.withLock { state in
      for index in state.objects.indices where state.objects[index].scope == nil { state.objects[index].scope = scope }
    }
  }

  /// No look can be made from now on.
  func fail(_ error: UndeadError) { state.withLock { $0.failure = error } }

  /// How often somebody looked.
  var looks: Int { state.withLock { $0.looks } }

  var instrument: Instrument {
    Instrument(
      isActive: { true },
      mayHaveLeaks: { scope, _, _ in
        self.assign(to: scope)
        return true
      },
      haveSurvivors: { true },
      look: { () throws(UndeadError) in
        let snapshot = try self.look()
        return { snapshot }
      },
      markOfBlock: { address in self.state.withLock { $0.objects[Int(address / 0x1000) - 1].scope ?? 0 } },
      heldByThreads: { [] })
  }

  private func look() throws(UndeadError) -> Snapshot {
    let (objects, failure) = state.withLock { state in
      state.looks += 1
      return (state.objects, state.failure)
    }
    if let failure { throw failure }
    var snapshot = Snapshot()
    for (index, object) in objects.enumerated() {
      let name = snapshot.strings.append(object.type)
      snapshot.types.append(.init(isa: UInt64(index + 1) << 4, name: name, kind: .object, flags: 1))
      snapshot.nodes.append(.init(address: UInt64(index + 1) * 0x1000, size: 32, type: UInt32(index)))
    }
    return snapshot
  }
}
