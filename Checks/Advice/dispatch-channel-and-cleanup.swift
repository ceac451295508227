// A `DispatchIO` whose cleanup handler captures the owner of the channel, and that reads with a handler which does so, too.
// KEPT BY libdispatch, which keeps what is read and its handler
// ADVICE what the channel reads or writes has a handler that captures the object which has the channel in `channel`: capture `self` weakly in it and in the cleanup handler
// FIX `[weak self]` in both handlers, and `close(flags: .stop)` in `deinit`
import Dispatch
import Foundation

final class Follower: @unchecked Sendable {
  private var channel: DispatchIO?
  private var bytes = 0
  private var failures: Int32 = 0
  init(_ descriptor: Int32) {
    #if FIXED
      channel = DispatchIO(type: .stream, fileDescriptor: descriptor, queue: .global()) { [weak self] in
        self?.failures += $0
      }
    #else
      channel = DispatchIO(type: .stream, fileDescriptor: descriptor, queue: .global()) { self.failures += $0 }
    #endif
  }
  func start() {
    #if FIXED
      channel?.read(offset: 0, length: .max, queue: .global()) { [weak self] _, data, _ in
        self?.bytes += data?.count ?? 0
      }
    #else
      channel?.read(offset: 0, length: .max, queue: .global()) { _, data, _ in self.bytes += data?.count ?? 0 }
    #endif
  }
  deinit { channel?.close(flags: .stop) }
}
@inline(never) func run(_ descriptor: Int32) { Follower(descriptor).start() }
var ends: [Int32] = [0, 0]
pipe(&ends)
run(ends[0])
sleep(1)
