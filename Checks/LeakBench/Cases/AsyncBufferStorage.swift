// source: apple/swift-async-algorithms 0f367b91b895
// An iterator that was dropped left the task that fills its buffer suspended: the state of the storage keeps the task's
// continuation, and the task keeps the storage. The fix ends the task when the iterator is deallocated.
// expect: leak Storage via Storage.state

import Dispatch

enum AsyncBufferStorage: LeakCase {
  final class Storage: @unchecked Sendable {
    private enum State {
      case initial
      case running(Task<Void, Never>)
      case suspended(Task<Void, Never>, UnsafeContinuation<Bool, Never>)
      case finished
    }
    private let lock = DispatchQueue(label: "storage")
    private var state = State.initial
    private var buffer: [Int] = []

    func start() {
      lock.sync {
        state = .running(
          Task {
            var value = 0
            while await self.waitForSpace() {
              self.lock.sync { self.buffer.append(value) }
              value += 1
            }
          })
      }
    }

    private func waitForSpace() async -> Bool {
      await withUnsafeContinuation { continuation in
        let isFull = lock.sync {
          guard buffer.count >= 2, case .running(let task) = state else { return false }
          state = .suspended(task, continuation)
          return true
        }
        if !isFull { continuation.resume(returning: true) }
      }
    }

    var isSuspended: Bool { lock.sync { if case .suspended = state { true } else { false } } }

    func iteratorDeinitialized() {
      let continuation: UnsafeContinuation<Bool, Never>? = lock.sync {
        guard case .suspended(_, let continuation) = state else { return nil }
        state = .finished
        return continuation
      }
      continuation?.resume(returning: false)
    }
  }

  final class Iterator: Sendable {
    let storage = Storage()
    #if FIXED
      deinit { storage.iteratorDeinitialized() }
    #endif
  }

  static func oneRound() async {
    let iterator = Iterator()
    iterator.storage.start()
    await waitUntil { iterator.storage.isSuspended }
  }

  @inline(never) static func run(rounds: Int) {
    runBlocking { for _ in 0..<rounds { await oneRound() } }
  }
}
