// The memory would long belong to other objects when the message is sent.
// EXPECT zombie kind=method|field|retain type=App.Downloader allocated=start freed=cancel used=notify
// EXPECT crash
protocol Listener: AnyObject {
  func changed() -> Int
}

class Downloader: Listener {
  var bytes = 3
  func changed() -> Int { bytes }
}

class Other {
  var value = 4
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func start() -> any Listener { Downloader() }
@inline(never) func cancel(_ listener: inout (any Listener)?) {
  listener = nil
  done()
}
@inline(never) @_optimize(none) func notify(_ listener: Registration) {
  print(listener.listener.changed())
}

final class Registration {
  unowned(unsafe) let listener: any Listener
  init(_ listener: any Listener) { self.listener = listener }
}

var listener: (any Listener)? = start()
let registration = Registration(listener!)
cancel(&listener)
let others = (0..<1000).map { _ in Other() }
notify(registration)
withExtendedLifetime(others) {}
