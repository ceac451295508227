// A subscription that is never cancelled, of a library among the program's own sources.
// KEPT BY its publisher, and the publisher by it
// ADVICE a subscription and its publisher hold each other until one of them ends it
// FIX cancel it
import CombineX

@inline(never) func run() {
  let subscription = Publisher().subscribe()
  #if FIXED
    subscription.cancel()
  #else
    _ = subscription
  #endif
}
run()
