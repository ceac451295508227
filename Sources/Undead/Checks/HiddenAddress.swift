/// The address of an object in a form that a scan does not take for a reference.
struct HiddenAddress: Hashable, Sendable {
  private let bits: UInt64

  init(_ address: UInt64) {
    // No address of a program has bit 47 set, its complement has: whatever tag bits a scan masks away.
    bits = ~address
  }

  /// The address itself. It must not stay in memory of the program.
  var address: UInt64 { ~bits }
}
