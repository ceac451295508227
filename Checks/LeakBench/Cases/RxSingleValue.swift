// source: ReactiveX/RxSwift d2ca6aba8ace (#2427)
// To await the value of a sequence that is disposed of: its callbacks were dropped, and with them the continuation. The fix
// resumes it with an error.
// expect: leak Task in oneRound

import Dispatch

enum RxSingleValue: LeakCase {
  final class Single: @unchecked Sendable {
    struct Observer {
      var onSuccess: (Int) -> Void
      var onDisposed: () -> Void
    }
    private let lock = DispatchQueue(label: "single")
    private var observer: Observer?

    func subscribe(onSuccess: @escaping (Int) -> Void, onDisposed: @escaping () -> Void) {
      lock.sync { observer = Observer(onSuccess: onSuccess, onDisposed: onDisposed) }
    }
    var isSubscribed: Bool { lock.sync { observer != nil } }
    func dispose() {
      let disposed = lock.sync {
        defer { observer = nil }
        return observer
      }
      disposed?.onDisposed()
    }

    var value: Int {
      get async throws {
        try await withCheckedThrowingContinuation { continuation in
          subscribe(
            onSuccess: { continuation.resume(returning: $0) },
            onDisposed: {
              #if FIXED
                continuation.resume(throwing: CancellationError())
              #endif
            })
        }
      }
    }
  }

  final class Consumer: @unchecked Sendable {
    var sum = 0
    func consume(_ single: Single) async {
      if let value = try? await single.value { sum += value }
    }
  }

  static func oneRound() async {
    let single = Single()
    Task { await Consumer().consume(single) }
    await waitUntil { single.isSubscribed }
    single.dispose()
  }

  @inline(never) static func run(rounds: Int) {
    runBlocking { for _ in 0..<rounds { await oneRound() } }
  }
}
