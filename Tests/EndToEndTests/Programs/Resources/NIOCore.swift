// What the instrument knows of NIO's ByteBuffer: the names and sizes of its fields.
public struct ByteBuffer {
  var _storage: _Storage
  var _readerIndex: UInt32
  var _writerIndex: UInt32
  var _slice: _ByteBufferSlice

  final class _Storage {
    private(set) var capacity: UInt32
    private(set) var bytes: UnsafeMutableRawPointer

    init(_ count: UInt32) {
      capacity = count
      bytes = .allocate(byteCount: Int(count), alignment: 16)
      bytes.initializeMemory(as: UInt8.self, repeating: 1, count: Int(count))
    }

    deinit { bytes.deallocate() }
  }

  public init(count: UInt32) {
    (_storage, _readerIndex, _writerIndex) = (_Storage(count), 0, count)
    _slice = _ByteBufferSlice(upperBound: count, _begin: _UInt24(_backing: (0, 0)))
  }

  public func slice(from low: UInt32, count: UInt32) -> ByteBuffer {
    var part = self
    (part._readerIndex, part._writerIndex) = (0, count)
    let begin = _UInt24(_backing: (UInt16(low & 0xFFFF), UInt8(low >> 16)))
    part._slice = _ByteBufferSlice(upperBound: low + count, _begin: begin)
    return part
  }
}

struct _ByteBufferSlice {
  var upperBound: UInt32
  var _begin: _UInt24
}

struct _UInt24 {
  var _backing: (UInt16, UInt8)
}
