// A `DispatchIO` that reads with a handler that captures the owner of the channel.
// KEPT BY libdispatch, which keeps what is read and its handler
// ADVICE what the channel reads or writes has a handler that captures the object which has the channel in `channel`: capture `self` weakly
// FIX `[weak self]` in the handler, and `close(flags: .stop)` in `deinit`
import Dispatch
import Foundation

final class Tail: @unchecked Sendable {
  private let channel: DispatchIO
  private var bytes = 0
  init(_ descriptor: Int32) {
    channel = DispatchIO(type: .stream, fileDescriptor: descriptor, queue: .global()) { _ in }
  }
  func start() {
    #if FIXED
      channel.read(offset: 0, length: .max, queue: .global()) { [weak self] _, data, _ in
        self?.bytes += data?.count ?? 0
      }
    #else
      channel.read(offset: 0, length: .max, queue: .global()) { _, data, _ in self.bytes += data?.count ?? 0 }
    #endif
  }
  deinit { channel.close(flags: .stop) }
}
@inline(never) func run(_ descriptor: Int32) { Tail(descriptor).start() }
var ends: [Int32] = [0, 0]
pipe(&ends)
run(ends[0])
sleep(1)
