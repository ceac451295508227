// An object that a function of the toolchain made, retained by hand.
// KEPT BY a retain that has no release
// ADVICE nothing refers to this object, which
// FIX release it
import Foundation

@inline(never) func run() {
  let copy = Unmanaged.passRetained(NSMutableArray(array: [1]).mutableCopy() as AnyObject)
  #if FIXED
    copy.release()
  #else
    _ = copy
  #endif
}
run()
