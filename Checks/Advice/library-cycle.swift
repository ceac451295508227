// Objects of a library that hold each other until they are ended.
// KEPT BY each other
// ADVICE these objects are connection-pool's and hold each other until they are ended; most likely what App.run() made
// FIX the call that ends them
import Pool

@inline(never) func run() {
  let client = Client()
  client.start()
  #if FIXED
    client.close()
  #endif
}
run()
