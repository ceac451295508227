// source: pointfreeco/swift-composable-architecture 1da96de161 (#3756)
// The sink of a child store captured the child weakly and its parent strongly; the parent keeps the child. The fix captures
// both weakly.
// expect: leak Store via Store.sink

enum ComposableStoreParent: LeakCase {
  final class Store<State> {
    private var children: [String: AnyObject] = [:]
    private var sink: ((Bool) -> Void)?
    var state: State

    init(_ state: State) { self.state = state }

    func scope<Child>(_ id: String, _ child: Child) -> Store<Child> {
      let store = Store<Child>(child)
      let parent = self
      #if FIXED
        store.sink = { [weak store, weak parent] finished in
          if finished, store != nil { parent?.children[id] = nil }
        }
      #else
        store.sink = { [weak store] finished in
          if finished, store != nil { parent.children[id] = nil }
        }
      #endif
      children[id] = store
      return store
    }

    func changed() { sink?(false) }
  }

  @inline(never) static func run(rounds: Int) {
    for round in 0..<rounds {
      let store = Store("root")
      let child = store.scope("child", round)
      child.changed()
    }
  }
}
