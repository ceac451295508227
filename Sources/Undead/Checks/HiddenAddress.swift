/// The address of an object in a form that a scan does not take for a reference.
struct HiddenAddress: Hashable, Sendable {
  private let bits: UInt64

  // Bits that no address of a program has and that a scan does not mask away.
  private static let disguise: UInt64 = 0x00AA_0000_0000_0000

  init(_ address: UInt64) {
    bits = address ^ Self.disguise
  }

  /// The address itself. It must not stay in memory of the program.
  var address: UInt64 { bits ^ Self.disguise }
}
