import CUndeadRunLoop

/// How a timer holds its target.
public enum TargetHolding: String, Sendable, Codable, CaseIterable {
  /// The target lives at least until the timer is invalidated, as with `NSTimer`.
  case strong
  /// The target may die; the timer then ticks without calling anything, and diagnostics say so.
  case weak
  /// The target must outlive the timer. If it does not, the timer does not call it and reports a zombie.
  case unretained
}

/// The target of a timer with its action. Subclasses differ in how they hold the target; the field is always called
/// `target`, because that is the name that a report prints.
class TimerTarget {
  enum Outcome { case called, targetGone, freedTarget }

  let selector: String

  init(selector: String) { self.selector = selector }

  func call(_ timer: TrackedTimer) throws -> Outcome { fatalError("TimerTarget is abstract") }
  var holding: TargetHolding { fatalError("TimerTarget is abstract") }
  var typeName: String { fatalError("TimerTarget is abstract") }
  /// The object that would be called, nil if it is gone.
  var living: AnyObject? { fatalError("TimerTarget is abstract") }
  final var isAlive: Bool { living != nil }
  /// Address of the target, 0 if it is gone.
  var address: UInt { fatalError("TimerTarget is abstract") }

  static func make<Target: AnyObject>(
    _ target: Target, holding: TargetHolding, selector: String,
    action: @escaping (Target, TrackedTimer) throws -> Void
  ) -> TimerTarget {
    switch holding {
    case .strong: StrongTarget(target, selector, action)
    case .weak: WeakTarget(target, selector, action)
    case .unretained: UnretainedTarget(target, selector, action)
    }
  }
}

final class StrongTarget<Target: AnyObject>: TimerTarget {
  let target: Target
  let action: (Target, TrackedTimer) throws -> Void
  /// A proxy may be held strongly and yet have nobody to forward to. Remembered, because the cast is slow.
  private let isProxy: Bool

  init(_ target: Target, _ selector: String, _ action: @escaping (Target, TrackedTimer) throws -> Void) {
    self.target = target
    self.action = action
    isProxy = target is any TargetForwarding
    super.init(selector: selector)
  }

  override func call(_ timer: TrackedTimer) throws -> Outcome {
    if isProxy, !isAlive { return .targetGone }
    try action(target, timer)
    return .called
  }
  override var holding: TargetHolding { .strong }
  override var typeName: String { Diagnostics.typeName(of: target) }
  override var living: AnyObject? {
    if let proxy = target as? any TargetForwarding { proxy.livingTarget } else { target }
  }
  override var address: UInt { UInt(bitPattern: ObjectIdentifier(target)) }
}

final class WeakTarget<Target: AnyObject>: TimerTarget {
  weak var target: Target?
  let action: (Target, TrackedTimer) throws -> Void

  init(_ target: Target, _ selector: String, _ action: @escaping (Target, TrackedTimer) throws -> Void) {
    self.target = target
    self.action = action
    super.init(selector: selector)
  }

  override func call(_ timer: TrackedTimer) throws -> Outcome {
    guard let target else { return .targetGone }
    try action(target, timer)
    return .called
  }
  override var holding: TargetHolding { .weak }
  override var typeName: String { target.map(Diagnostics.typeName(of:)) ?? Diagnostics.typeName(Target.self) }
  override var living: AnyObject? { target }
  override var address: UInt { target.map { UInt(bitPattern: ObjectIdentifier($0)) } ?? 0 }
}

/// Knows for certain whether its target still lives: the unowned reference keeps the dead object's header in place, so
/// that its memory cannot become another object, and a try-retain of it fails.
final class UnretainedTarget<Target: AnyObject>: TimerTarget {
  /// The target's address inverted: a plain pointer here would look like a strong reference to whoever scans memory.
  private let disguised: UInt
  private unowned let target: Target
  let action: (Target, TrackedTimer) throws -> Void
  private let name: String

  init(_ target: Target, _ selector: String, _ action: @escaping (Target, TrackedTimer) throws -> Void) {
    disguised = ~UInt(bitPattern: ObjectIdentifier(target))
    self.target = target
    self.action = action
    name = Diagnostics.typeName(of: target)
    super.init(selector: selector)
  }

  /// The target, if it is alive.
  private func retained() -> Target? {
    let pointer = UnsafeMutableRawPointer(bitPattern: ~disguised).unsafelyUnwrapped
    guard undead_loop_try_retain(pointer) else { return nil }
    return Unmanaged<Target>.fromOpaque(pointer).takeRetainedValue()
  }

  override func call(_ timer: TrackedTimer) throws -> Outcome {
    guard let target = retained() else { return .freedTarget }
    try action(target, timer)
    return .called
  }
  override var holding: TargetHolding { .unretained }
  override var typeName: String { name }
  override var living: AnyObject? { retained() }
  override var address: UInt { ~disguised }
}

/// What stands for another object and may outlive it.
protocol TargetForwarding: AnyObject {
  var isTargetAlive: Bool { get }
  var livingTarget: AnyObject? { get }
}
