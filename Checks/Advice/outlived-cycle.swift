// An object of a cycle that a call that has not returned still has in a word.
// KEPT BY the cycle
// ADVICE names it but owns none of its references
// FIX break the cycle
import Foundation
import Undead

final class Screen { var row: Row? }
final class Row { var screen: Screen? }
@inline(never) @_optimize(none) func wait(_ address: UnsafeMutableRawPointer, _ ready: DispatchSemaphore, _ never: DispatchSemaphore) {
  ready.signal()
  never.wait()
}
@inline(never) func start(_ scope: OwnerScope) -> UnsafeMutableRawPointer {
  let screen = scope.adopt(Screen())
  #if !FIXED
    screen.row = Row()
    screen.row?.screen = screen
  #endif
  return Unmanaged.passUnretained(screen).toOpaque()
}
let scope = OwnerScope("screen")
let (ready, never) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
Thread.detachNewThread { wait(start(scope), ready, never) }
ready.wait()
scope.close(grace: .zero)
