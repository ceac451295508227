// source: pointfreeco/swift-composable-architecture 63a5af522920 (#2643)
// A task that runs without end on behalf of a store captured the store, which keeps the task to cancel it. The fix captures
// the store weakly and cancels at its end.
// expect: suspect Store via Store.effect

enum ComposableEffect: LeakCase {
  final class Store: @unchecked Sendable {
    private var effect: Task<Void, Never>?
    private(set) var received = 0

    func run() {
      #if FIXED
        effect = Task { [weak self] in
          while !Task.isCancelled {
            self?.received += 1
            try? await Task.sleep(nanoseconds: 3_600_000_000_000)
          }
        }
      #else
        effect = Task {
          while !Task.isCancelled {
            self.received += 1
            try? await Task.sleep(nanoseconds: 3_600_000_000_000)
          }
        }
      #endif
    }

    #if FIXED
      deinit { effect?.cancel() }
    #endif
  }

  static func oneRound() async {
    let store = Store()
    store.run()
    await waitUntil { store.received == 1 }
  }

  @inline(never) static func run(rounds: Int) {
    runBlocking {
      for _ in 0..<rounds { await oneRound() }
      // Tasks that were cancelled end now.
      try? await Task.sleep(nanoseconds: 50_000_000)
    }
  }
}
