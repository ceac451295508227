#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Synchronization

/// How a timer holds its target.
public enum TargetHolding: String, Sendable, Codable, CaseIterable {
  /// The target lives at least until the timer is invalidated, as with `NSTimer`.
  case strong
  /// The target may die; the timer then ticks without calling anything, and diagnostics say so.
  case weak
  /// The target must outlive the timer. If it does not, the timer does not call it and reports a zombie.
  case unretained
}

@usableFromInline
@frozen
struct MethodOf<Target: AnyObject> {
  @usableFromInline let call: (Target, TrackedTimer) throws -> Void
  @inlinable init(call: @escaping (Target, TrackedTimer) throws -> Void) { self.call = call }
}

@usableFromInline
@frozen
struct AnyMethod {
  @usableFromInline let call: (AnyObject, TrackedTimer) throws -> Void
  @inlinable init(call: @escaping (AnyObject, TrackedTimer) throws -> Void) { self.call = call }
}

/// The target of a timer with its action. Subclasses differ in how they hold the target; the field is always called
/// `target`, because that is the name that a report prints.
@usableFromInline
class TimerTarget {
  /// What is called with the target, which is of the class that it was made with.
  typealias Method = (AnyObject, TrackedTimer) throws -> Void

  /// An action that is to be called with nothing but the target that it was made for.
  ///
  /// A reference is passed in the same way whatever its class: no closure around the action is needed, which would cost an
  /// allocation for each timer. The structs keep the compiler from making one to convert between ways of calling.
  @inlinable
  static func erase<Target: AnyObject>(
    _ action: @escaping (Target, TrackedTimer) throws -> Void
  ) -> (AnyObject, TrackedTimer) throws -> Void {
    unsafeBitCast(MethodOf(call: action), to: AnyMethod.self).call
  }

  /// A method as what a timer keeps, which only `call(kept:_:_:)` may call.
  @inline(__always)
  static func kept(_ method: consuming @escaping Method) -> TrackedTimer.Kept {
    unsafeBitCast(AnyMethod(call: method), to: TrackedTimer.Kept.self)
  }

  @inline(__always)
  static func call(kept: TrackedTimer.Kept, _ target: AnyObject, _ timer: TrackedTimer) throws {
    try unsafeBitCast(kept, to: AnyMethod.self).call(target, timer)
  }

  enum Outcome { case called, targetGone, freedTarget }

  let holding: TargetHolding
  let selector: String
  private let method: Method

  init(_ holding: TargetHolding, _ selector: String, _ method: @escaping Method) {
    self.holding = holding
    self.selector = selector
    self.method = method
  }

  final func call(_ timer: TrackedTimer) throws -> Outcome {
    guard let receiver else { return holding == .unretained ? .freedTarget : .targetGone }
    try method(receiver, timer)
    return .called
  }

  /// What the method is called with, nil if that is gone.
  var receiver: AnyObject? { fatalError("TimerTarget is abstract") }
  var typeName: String { fatalError("TimerTarget is abstract") }
  /// The object that would be called in the end, nil if it is gone.
  var living: AnyObject? { receiver }
  final var isAlive: Bool { living != nil }
  /// Address of the target, 0 if it is gone.
  var address: UInt { fatalError("TimerTarget is abstract") }

  /// What a target that is alive stands for: itself, or what a proxy forwards to, nil if that is gone.
  static func living(_ target: AnyObject) -> AnyObject? {
    if let proxy = target as? any TargetForwarding { proxy.livingTarget } else { target }
  }
}

final class StrongTarget: TimerTarget {
  private let target: AnyObject

  init(_ target: AnyObject, _ selector: String, _ method: @escaping Method) {
    self.target = target
    super.init(.strong, selector, method)
  }

  override var receiver: AnyObject? { ProxyTypes.isProxy(target) && !isAlive ? nil : target }
  override var typeName: String { Diagnostics.typeName(of: target) }
  override var living: AnyObject? { Self.living(target) }
  override var address: UInt { UInt(bitPattern: ObjectIdentifier(target)) }
}

final class WeakTarget: TimerTarget {
  private weak var target: AnyObject?
  private let type: AnyClass

  init(_ target: AnyObject, _ selector: String, _ method: @escaping Method) {
    self.target = target
    type = Swift.type(of: target)
    super.init(.weak, selector, method)
  }

  override var receiver: AnyObject? { target }
  override var typeName: String { target.map(Diagnostics.typeName(of:)) ?? Diagnostics.typeName(type) }
  override var address: UInt { target.map { UInt(bitPattern: ObjectIdentifier($0)) } ?? 0 }
}

/// Knows for certain whether its target still lives: the unowned reference keeps the dead object's header in place, so
/// that its memory cannot become another object, and a try-retain of it fails.
final class UnretainedTarget: TimerTarget {
  /// A plain pointer here would look like a strong reference to a scan of memory.
  private let hidden: HiddenReference<AnyObject>
  private unowned let target: AnyObject
  private let name: String

  init(_ target: AnyObject, _ selector: String, _ method: @escaping Method) {
    hidden = HiddenReference(target)
    self.target = target
    name = Diagnostics.typeName(of: target)
    super.init(.unretained, selector, method)
  }

  override var receiver: AnyObject? {
    let reference = hidden.unmanaged
    return undead_loop_try_retain(reference.toOpaque()) ? reference.takeRetainedValue() : nil
  }
  override var typeName: String { name }
  override var address: UInt { hidden.address }
}

/// A type as the target: it never dies.
final class TypeTarget: TimerTarget {
  private let type: Any.Type

  init(_ type: Any.Type, _ selector: String, _ method: @escaping Method) {
    self.type = type
    super.init(.strong, selector, method)
  }

  override var receiver: AnyObject? { self }
  override var typeName: String { Diagnostics.typeName(type) + ".Type" }
  override var address: UInt { UInt(bitPattern: ObjectIdentifier(type)) }
}

extension TrackedTimer {
  /// A timer that calls an action of a type, which never dies; add it to a loop to start it.
  ///
  /// What `userInfo` holds, such as a block and all that it captures, is kept until the timer is invalidated: that the
  /// target is a type does not change that, and does not end the timer.
  /// - Throws: `RunLoopError.invalidInterval`.
  public convenience init<Target>(
    after interval: Duration, target type: Target.Type, selector: String = "", userInfo: (any Sendable)? = nil,
    repeats: Bool = false, action: @escaping @Sendable (Target.Type, TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    self.init(
      interval: try Instants.nanoseconds(of: interval), repeats: repeats,
      action: .target(TypeTarget(type, selector) { _, timer in try action(type, timer) }))
    if userInfo != nil { makeExtras().setUserInfo(userInfo) }
  }

  /// The type of an object that is gone if the timer of a type can do nothing without it: its `userInfo` is a block that
  /// knows only such objects.
  var deadOwnerOfUserInfo: String? {
    guard kind == .held, target is TypeTarget else { return nil }
    return switch userInfo {
    case let block as @Sendable () -> Void: Instrument.ownerThatIsGone(of: block)
    case let block as @Sendable (TrackedTimer) -> Void: Instrument.ownerThatIsGone(of: block)
    case let block as @Sendable (TrackedTimer) throws -> Void: Instrument.ownerThatIsGone(of: block)
    default: nil
    }
  }

  /// The target as reports see it, nil if the timer calls a block. The caller has exclusive access to the timer.
  var describedTarget: TimerTarget? {
    guard let target else { return nil }
    return heldTarget(target) ?? StrongTarget(target, extras.load()?.selector ?? "") { _, _ in }
  }

  /// What holds the target, nil if the timer does that itself.
  @inline(__always)
  func heldTarget(_ target: AnyObject) -> TimerTarget? {
    kind == .held ? unsafeDowncast(target, to: TimerTarget.self) : nil
  }
}

/// What stands for another object and may outlive it.
protocol TargetForwarding: AnyObject {
  var livingTarget: AnyObject? { get }
}

/// Which classes are proxies: the runtime needs hundreds of nanoseconds for an answer.
enum ProxyTypes {
  /// The addresses of classes that were asked for, with the answer in the lowest bit. Each class has one place.
  private static let known = InlineArray<64, Atomic<UInt>> { _ in Atomic(0) }

  static func isProxy(_ object: AnyObject) -> Bool {
    let type = UInt(bitPattern: ObjectIdentifier(type(of: object)))
    let alignment: UInt = 8
    let place = Int(type / alignment % UInt(known.count))
    let answer = known[place].load(ordering: .relaxed)
    if answer & ~1 == type { return answer & 1 != 0 }
    let isProxy = object is any TargetForwarding
    known[place].store(type | (isProxy ? 1 : 0), ordering: .relaxed)
    return isProxy
  }
}
#endif
