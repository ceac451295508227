#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// What stands in for an object without keeping it alive.
public protocol WeakProxying<Target>: AnyObject {
  associatedtype Target: AnyObject
  /// The object, nil once it is gone.
  var target: Target? { get }
}

extension WeakProxying {
  /// Calls `body` with the target if it is alive.
  ///
  /// - Returns: what `body` returned, nil if the target is gone.
  @discardableResult
  public func forward<Output>(_ body: (Target) throws -> Output) rethrows -> Output? {
    guard let target else { return nil }
    return try body(target)
  }

  var livingTarget: AnyObject? { target }
}

/// A plain weak proxy: give it to a timer, a display link or an observer as the target, and the owner dies when it should.
///
/// It forwards by ``WeakProxying/forward(_:)`` and by member lookup; in all else it is itself: `isKind(of:)` and equality
/// answer for the proxy. ``TransparentWeakProxy`` answers for the target.
///
/// Safe from any thread if the target is.
@dynamicMemberLookup
public final class WeakProxy<Target: AnyObject>: WeakProxying {
  /// The object, nil once it is gone.
  public weak let target: Target?
  /// A proxy made for another proxy keeps that one alive: nobody else does.
  private let inner: Target?
  private let targetType: String

  /// A proxy for `target`. If that is a proxy itself, diagnostics say so; it works all the same.
  public init(_ target: Target) {
    self.target = target
    inner = StackedProxies.keep(target)
    targetType = Diagnostics.typeName(of: target)
  }

  /// A property of the target, nil once that is gone.
  public subscript<Value>(dynamicMember path: KeyPath<Target, Value>) -> Value? { target?[keyPath: path] }

  /// Whether the proxy, not its target, is of this class.
  public func isKind(of type: AnyObject.Type) -> Bool { type == WeakProxy<Target>.self || type == AnyObject.self }
}

extension WeakProxy: Sendable where Target: Sendable {}

extension WeakProxy: TargetForwarding, TargetNaming {
  var targetTypeName: String { "WeakProxy for \(targetType)" }
}

/// A weak proxy that passes for its target, as one made from `NSProxy` does: `isKind(of:)`, equality and hash answer for it.
///
/// Safe from any thread if the target is.
@dynamicMemberLookup
public final class TransparentWeakProxy<Target: AnyObject>: WeakProxying {
  /// The object, nil once it is gone.
  public weak let target: Target?
  /// A proxy made for another proxy keeps that one alive: nobody else does.
  private let inner: Target?
  private let targetType: String
  private let identity: ObjectIdentifier
  /// Keeps the memory of a dead target from becoming another object, which would have its identity.
  private unowned let reserved: Target

  /// A proxy for `target`. If that is a proxy itself, diagnostics say so; it works all the same.
  public init(_ target: Target) {
    self.target = target
    inner = StackedProxies.keep(target)
    targetType = Diagnostics.typeName(of: target)
    identity = (target as? any IdentityForwarding)?.targetIdentity ?? ObjectIdentifier(target)
    reserved = target
  }

  /// A property of the target, nil once that is gone.
  public subscript<Value>(dynamicMember path: KeyPath<Target, Value>) -> Value? { target?[keyPath: path] }

  /// Whether the target is of this class or of one derived from it; false once the target is gone.
  public func isKind(of type: AnyObject.Type) -> Bool {
    guard let target else { return false }
    if let proxy = target as? any IdentityForwarding { return proxy.isTargetKind(of: type) }
    return Self.isKind(Swift.type(of: target), type)
  }

  private static func isKind(_ type: AnyObject.Type, _ wanted: AnyObject.Type) -> Bool {
    var type: AnyClass? = type
    while let candidate = type {
      if candidate == wanted { return true }
      type = _getSuperclass(candidate)
    }
    return false
  }
}

extension TransparentWeakProxy: Sendable where Target: Sendable {}

extension TransparentWeakProxy: TargetForwarding, TargetNaming, IdentityForwarding {
  var targetTypeName: String { "TransparentWeakProxy for \(targetType)" }
  var targetIdentity: ObjectIdentifier { identity }
  func isTargetKind(of type: AnyObject.Type) -> Bool { isKind(of: type) }
}

extension TransparentWeakProxy: Hashable {
  /// Whether both stand for the same object.
  public static func == (left: TransparentWeakProxy, right: TransparentWeakProxy) -> Bool {
    left.identity == right.identity
  }

  /// The same for all proxies of an object, also after its death.
  public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// A proxy that answers for its target.
protocol IdentityForwarding: AnyObject {
  var targetIdentity: ObjectIdentifier { get }
  func isTargetKind(of type: AnyObject.Type) -> Bool
}

private enum StackedProxies {
  /// `target` if it is a proxy, to be held strongly.
  static func keep<Target: AnyObject>(_ target: Target) -> Target? {
    guard target is any TargetForwarding else { return nil }
    Diagnostics.report(
      .stackedWeakProxies,
      "a weak proxy was made for another weak proxy (\(Diagnostics.typeName(of: target))); use the inner one",
      backtraces: Diagnostics.isOn ? [.init(role: "creation", addresses: Diagnostics.backtrace())] : [])
    return target
  }
}
#endif
