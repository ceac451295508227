// Unchecked: its tests use it on one thread at a time.
/// What is in it, and who is notified of changes.
public final class Cart: @unchecked Sendable {
  public var other: Cart?
  public var change: (() -> Void)?

  public init() {}

  /// A cart that nobody can release.
  public static func leaked() -> Int {
    let cart = Cart()
    cart.other = cart
    return 7
  }
}
