// A `DispatchIO` whose cleanup handler captures the owner of the channel.
// KEPT BY libdispatch, which runs the handler when the channel is closed
// ADVICE the cleanup handler of the channel captures the object which has the channel in `channel`, and runs when the channel is closed
// FIX `[weak self]` in the handler
import Dispatch
import Foundation

final class Log: @unchecked Sendable {
  private var channel: DispatchIO?
  private var failures = 0
  func open(_ descriptor: Int32) {
    #if FIXED
      channel = DispatchIO(type: .stream, fileDescriptor: descriptor, queue: .global()) { [weak self] in
        self?.closed($0)
      }
    #else
      channel = DispatchIO(type: .stream, fileDescriptor: descriptor, queue: .global()) { self.closed($0) }
    #endif
  }
  func closed(_ error: Int32) { failures += error == 0 ? 0 : 1 }
}
@inline(never) func run(_ descriptor: Int32) { Log().open(descriptor) }
var ends: [Int32] = [0, 0]
pipe(&ends)
run(ends[0])
sleep(1)
