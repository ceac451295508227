/// Reads numbers of the byte streams of a heap file; the first failure ends the stream and is remembered.
///
/// It is inlined into the module that decodes the graph: three numbers or more are read for each block and reference. It is public as
/// the compiler inlines nothing of another module that is `package`; no product offers this one.
public struct HeapStream {
  public enum Failure {
    case cutOff, tooLarge

    public var text: String {
      switch self {
      case .cutOff: "a number is cut off"
      case .tooLarge: "a number is too large"
      }
    }
  }

  @usableFromInline let base: UnsafePointer<UInt8>
  @usableFromInline let end: Int
  public var position = 0
  public private(set) var failure: Failure?

  public init(_ bytes: UnsafeRawBufferPointer) {
    base = bytes.assumingMemoryBound(to: UInt8.self).baseAddress ?? UnsafePointer(bitPattern: 8)!
    end = bytes.count
  }

  @inlinable public var isAtEnd: Bool { position >= end }
  @inlinable public var rest: Int { end - position }

  /// An unsigned LEB128 number; 0 after a failure.
  @inlinable @inline(__always)
  public mutating func number() -> UInt64 {
    if position < end {
      let byte = base[position]
      if byte < 0x80 {
        position += 1
        return UInt64(byte)
      }
    }
    return longNumber()
  }

  /// A number that must fit into 32 bits.
  @inlinable @inline(__always)
  public mutating func small() -> UInt32 {
    let value = number()
    if value > UInt64(UInt32.max) { fail(.tooLarge) }
    return UInt32(truncatingIfNeeded: value)
  }

  /// A signed number in zigzag form.
  @inlinable @inline(__always)
  public mutating func signed() -> Int64 {
    let value = number()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// Eight bytes, little endian.
  @inlinable public mutating func word() -> UInt64 {
    guard rest >= 8 else {
      fail(.cutOff)
      return 0
    }
    defer { position += 8 }
    return UInt64(littleEndian: UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self))
  }

  /// Passes over bytes.
  public mutating func skip(_ count: Int) {
    if rest < count { fail(.cutOff) } else { position += count }
  }

  @inline(never)
  @usableFromInline mutating func longNumber() -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < end {
      let byte = base[position]
      if shift == 63 && byte > 1 { break }
      value |= UInt64(byte & 0x7F) << shift
      position += 1
      if byte < 0x80 { return value }
      shift += 7
    }
    fail(position < end ? .tooLarge : .cutOff)
    return 0
  }

  @inline(never)
  @usableFromInline mutating func fail(_ reason: Failure) {
    if failure == nil { failure = reason }
  }
}
