// An object of a library that holds its owner until it is ended.
// KEPT BY the library's object
// ADVICE objects of connection-pool are part of the cycle
// FIX the call that ends it
import Pool

final class Repository: ClientDelegate {
  private let client = Client()
  func start() { client.attach(self) }
  func stop() { client.close() }
}
@inline(never) func run() {
  let repository = Repository()
  repository.start()
  #if FIXED
    repository.stop()
  #endif
}
run()
