public struct Kiosk {
  public init() {}

  public func open() {}
  public func close() {}  // demoted
  public func sell() {}  // removed
  public func sell(_ count: Int) {}

  package func count() {}  // hidden
  package func count(_ things: Int) {}
  @_spi(Keeper) public func lock() {}  // hidden
  func sweep() {}  // hidden
}

open class Shelf {  // closed
  public init() {}
}

package protocol Stocked {}  // hidden
extension Kiosk: Stocked {}  // hidden

package struct Till {}  // hidden

extension String {
  public var isLabel: Bool { false }
  package var isPrice: Bool { false }  // hidden
}
