#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// An address that a scan of memory does not take for a reference: the tables of this module know timers and loops
/// without holding them, and must not make leaked ones look as if something did.
struct HiddenReference<Object: AnyObject>: Hashable {
  let complement: UInt

  init(_ object: Object) { complement = ~UInt(bitPattern: ObjectIdentifier(object)) }

  init(_ object: Unmanaged<Object>) { complement = ~UInt(bitPattern: object.toOpaque()) }

  init(complement: UInt) { self.complement = complement }

  /// The object's address.
  var address: UInt { ~complement }

  /// The object, if it still is one: the caller knows why.
  var unmanaged: Unmanaged<Object> {
    Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: ~complement).unsafelyUnwrapped)
  }
}

// The address alone does no harm.
extension HiddenReference: Sendable {}
#endif
