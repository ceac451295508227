import CUndead
import UndeadReport

/// An object that is watched: knows whether it is alive, and never keeps it alive nor runs code of it.
///
/// The memory of an object that died stays reserved as long as there is a handle, so that no other one can be mistaken
/// for it. An object that is being deallocated counts as dead. Without an instrument it is a weak reference instead.
final class ObjectHandle: Sendable {
  let type: String
  private let hidden: HiddenAddress
  private let reference: WeakReference?

  init(_ object: AnyObject) {
    type = String(reflecting: Swift.type(of: object))
    let address = Unmanaged.passUnretained(object).toOpaque()
    undead_object_hold(address)
    reference = Availability.isSupported ? nil : WeakReference(object)
    hidden = HiddenAddress(UInt64(UInt(bitPattern: address)))
  }

  deinit {
    undead_object_let_go(pointer)
  }

  var isAlive: Bool { reference?.isAlive ?? undead_object_is_alive(pointer) }

  var address: UInt64 { hidden.address }

  /// The object, without a reference to it; its header can be read as long as there is this handle.
  var pointer: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: UInt(hidden.address)) }

  /// Identifies the object as long as it is watched.
  var identity: HiddenAddress { hidden }
}

// Unchecked: nobody sets it, and the runtime reads it atomically.
private final class WeakReference: @unchecked Sendable {
  private weak var object: AnyObject?

  init(_ object: AnyObject) {
    self.object = object
  }

  var isAlive: Bool { object != nil }
}
