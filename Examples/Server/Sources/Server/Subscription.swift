/// Tells a visitor when an article arrives.
class Subscription: @unchecked Sendable {
  let visitor: String
  var onArrival: (() -> Void)?
  private(set) var deliveries = 0

  init(visitor: String) { self.visitor = visitor }

  @inline(never)
  func deliver() { deliveries += 1 }

  /// Uses nothing but the object's reference count.
  @inline(never) @_optimize(none)
  func greet() -> String {
    Unmanaged.passRetained(self).release()
    return "welcome\n"
  }
}

/// What `/browse` answers with.
struct Page: Encodable {
  struct Article: Encodable {
    let name: String
    let price: Int
  }

  let visitor: String
  let articles: [Article]
}
