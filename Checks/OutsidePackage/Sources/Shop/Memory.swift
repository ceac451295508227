/// Memory by hand.
public final class Token {
  public let number: Int
  public init(number: Int) { self.number = number }
}

/// Gives a token to code that wants a plain pointer, as C callbacks do.
public func handOut(_ number: Int) -> UnsafeMutableRawPointer {
  Unmanaged.passRetained(Token(number: number)).toOpaque()
}

public func takeBack(_ pointer: UnsafeMutableRawPointer) -> Int {
  Unmanaged<Token>.fromOpaque(pointer).takeRetainedValue().number
}

public final class Bitmap {
  private let pixels: UnsafeMutablePointer<UInt32>
  private let frees: Bool

  public init(size: Int, frees: Bool) {
    pixels = .allocate(capacity: size)
    pixels.initialize(repeating: 0, count: size)
    self.frees = frees
  }

  public var first: UInt32 { pixels[0] }

  deinit {
    if frees { pixels.deallocate() }
  }
}
