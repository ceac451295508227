/// A weak reference that may be asked from any thread.
// Unchecked: a weak variable is read and written atomically, and the object itself is never touched.
final class WeakReference: @unchecked Sendable {
  private weak var object: AnyObject?

  init(_ object: AnyObject) {
    self.object = object
  }

  var isAlive: Bool { object != nil }
}
