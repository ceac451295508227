// An object of a library that has to be closed.
// KEPT BY a retain of the library's
// ADVICE nothing refers to this object of connection-pool
// FIX the call that ends it
import Pool

@inline(never) func run() {
  let connection = Connection.open()
  #if FIXED
    connection.close()
  #else
    _ = connection
  #endif
}
run()
