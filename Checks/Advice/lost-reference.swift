// Memory of objects that is given back without ending them.
// KEPT BY nothing
// ADVICE memory that held it was deallocated or overwritten without deinitialize(count:)
// FIX `deinitialize(count:)` before `deallocate()`
final class Page { var number = 0 }
@inline(never) @_optimize(none) func fill(_ pages: UnsafeMutablePointer<Page>) {
  pages.initialize(repeating: Page(), count: 4)
}
@inline(never) func run() {
  let pages = UnsafeMutablePointer<Page>.allocate(capacity: 4)
  fill(pages)
  #if FIXED
    pages.deinitialize(count: 4)
  #endif
  pages.deallocate()
}
run()
