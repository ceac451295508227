// A `URLSession` in a field of its own delegate.
// KEPT BY the session, which keeps its delegate until it is invalidated
// ADVICE a URLSession keeps its delegate until it is invalidated: call finishTasksAndInvalidate() or invalidateAndCancel()
// FIX a method that invalidates the session, called when the owner is done
import Foundation
import FoundationNetworking

final class Client: NSObject, URLSessionDelegate, @unchecked Sendable {
  private var session: URLSession?
  func connect() { session = URLSession(configuration: .default, delegate: self, delegateQueue: nil) }
  func disconnect() { session?.invalidateAndCancel() }
}
@inline(never) func run() {
  let client = Client()
  client.connect()
  #if FIXED
    client.disconnect()
  #endif
}
run()
sleep(1)
