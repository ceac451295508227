// source: apple/swift-nio-extras 6bd9bf5 (#192)
// A helper that was deallocated without use left its promise open, so that who awaits the result waits without end. The fix
// fails the promise in `deinit`.
// expect: leak Task via Promise.callbacks

import Dispatch

enum NIOExtrasQuiescing: LeakCase {
  struct Unused: Error {}

  final class Promise: @unchecked Sendable {
    private let lock = DispatchQueue(label: "promise")
    private var callbacks: [(Result<Int, any Error>) -> Void] = []

    func whenComplete(_ callback: @escaping (Result<Int, any Error>) -> Void) {
      lock.sync { callbacks.append(callback) }
    }
    var isAwaited: Bool { lock.sync { !callbacks.isEmpty } }
    func fail(_ error: any Error) {
      let ready = lock.sync {
        defer { callbacks = [] }
        return callbacks
      }
      for callback in ready { callback(.failure(error)) }
    }
  }

  final class Helper: @unchecked Sendable {
    let promise = Promise()
    #if FIXED
      deinit { promise.fail(Unused()) }
    #endif
  }

  final class Waiter: @unchecked Sendable {
    var result: Result<Int, any Error>?

    func wait(for promise: Promise) async {
      let value = await withUnsafeContinuation { continuation in
        promise.whenComplete { continuation.resume(returning: $0) }
      }
      result = value
    }
  }

  static func oneRound() async {
    let helper = Helper()
    let promise = helper.promise
    Task { [unowned promise] in await Waiter().wait(for: promise) }
    await waitUntil { promise.isAwaited }
  }

  @inline(never) static func run(rounds: Int) {
    runBlocking { for _ in 0..<rounds { await oneRound() } }
  }
}
