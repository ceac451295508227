// As much of the module of swift-collections as its storage needs: a ring in a managed buffer.
@frozen public struct _DequeSlot {
  @usableFromInline var position: Int
  @inlinable init(at position: Int) { self.position = position }
}
@frozen public struct _DequeBufferHeader {
  @usableFromInline var capacity: Int
  @usableFromInline var count: Int
  @usableFromInline var startSlot: _DequeSlot
  @inlinable init(capacity: Int, count: Int, startSlot: _DequeSlot) {
    self.capacity = capacity
    self.count = count
    self.startSlot = startSlot
  }
}
@_fixed_layout public class _DequeBuffer<Element>: ManagedBuffer<_DequeBufferHeader, Element> {
  deinit {
    withUnsafeMutablePointers { header, elements in
      for index in 0..<header.pointee.count {
        (elements + (header.pointee.startSlot.position + index) % header.pointee.capacity).deinitialize(count: 1)
      }
    }
  }
}
@frozen public struct Deque<Element> {
  @usableFromInline var buffer: ManagedBufferPointer<_DequeBufferHeader, Element>
  public init(capacity: Int) {
    let buffer = _DequeBuffer<Element>.create(minimumCapacity: capacity) { _ in
      _DequeBufferHeader(capacity: capacity, count: 0, startSlot: _DequeSlot(at: 0))
    }
    self.buffer = ManagedBufferPointer(unsafeBufferObject: buffer)
  }
  public var count: Int { buffer.header.count }
  public mutating func append(_ element: Element) {
    buffer.withUnsafeMutablePointers { header, elements in
      precondition(header.pointee.count < header.pointee.capacity)
      let place = (header.pointee.startSlot.position + header.pointee.count) % header.pointee.capacity
      (elements + place).initialize(to: element)
      header.pointee.count += 1
    }
  }
  public mutating func removeFirst() -> Element {
    buffer.withUnsafeMutablePointers { header, elements in
      let start = header.pointee.startSlot.position
      let element = (elements + start).move()
      header.pointee.startSlot.position = (start + 1) % header.pointee.capacity
      header.pointee.count -= 1
      return element
    }
  }
}
