// Pointers that outlive what they point to, or leave it.
import CParts
import Foundation

// MARK: Pointers that escaped

// BUG escaped-array kind=field type=*_ContiguousArrayStorage* member=element*
@inline(never) private func firstOf(_ count: Int) -> UnsafePointer<Int> {
  let numbers = (0..<count).map { $0 * 2 }  // allocated escaped-array
  return opaque(numbers).withUnsafeBufferPointer { $0.baseAddress! }  // freed escaped-array
}
private func escapedArray() {
  let first = firstOf(20)
  use(first[5])  // used escaped-array
}

// BUG escaped-string kind=field type=*__StringStorage* member=byte*
@inline(never) private func cName(_ number: Int) -> UnsafePointer<CChar> {
  var name = "the name of user "
  name += "\(number) in a string on the heap"  // allocated escaped-string
  return opaque(name).withCString { $0 }  // freed escaped-string
}
private func escapedString() {
  let name = cName(4)
  use(Int(strlen(name)))  // used escaped-string
}

// BUG escaped-data kind=field type=raw*
@inline(never) private func bytesOf(_ count: Int) -> UnsafeRawPointer {
  let data = Data(repeating: 1, count: count)  // allocated escaped-data
  return opaque(data).withUnsafeBytes { $0.baseAddress! }  // freed escaped-data
}
private func escapedData() {
  let bytes = bytesOf(300)
  use(Int(bytes.load(fromByteOffset: 100, as: UInt8.self)))  // used escaped-data
}

// BUG stale-after-append kind=field type=*_ContiguousArrayStorage* operation=write
private func staleAfterAppend() {
  var numbers = opaque([Int](repeating: 1, count: 8))  // allocated stale-after-append
  let first = numbers.withUnsafeMutableBufferPointer { $0.baseAddress! }
  grow(&numbers)
  first[3] = 7  // used stale-after-append
  use(numbers[3])
}
@inline(never) private func grow(_ numbers: inout [Int]) {
  numbers.append(contentsOf: repeatElement(2, count: 20))  // freed stale-after-append
  use(numbers.count)
}

// BUG field-pointer kind=field type=App.Settings member=*limit
final class Settings {
  var name = "settings"
  var limit = 100
}
@inline(never) private func limitPointer() -> UnsafeMutablePointer<Int> {
  let settings = opaque(Settings())  // allocated field-pointer
  return withUnsafeMutablePointer(to: &settings.limit) { $0 }  // freed field-pointer
}
private func fieldPointer() {
  let limit = limitPointer()
  use(limit.pointee)  // used field-pointer
}

// MARK: Raw memory

// BUG ring-after-grow kind=field type=raw*
final class Ring {
  var bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 64)  // allocated ring-after-grow
  var count = 64
  @inline(never) func reserve(_ capacity: Int) {
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.update(from: bytes, count: count)
    bytes.deallocate()  // freed ring-after-grow
    bytes = larger
    count = capacity
  }
}
private func ringAfterGrow() {
  let ring = Ring()
  ring.bytes.initialize(repeating: 3, count: 64)
  let readIndex = ring.bytes + 40
  ring.reserve(128)
  use(Int(readIndex.pointee))  // used ring-after-grow
}

// BUG freed-twice kind=release type=raw*
@inline(never) private func close(_ buffer: UnsafeMutableRawPointer) {
  buffer.deallocate()  // freed freed-twice
  use(1)
}
private func freedTwice() {
  let buffer = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 8)  // allocated freed-twice
  close(buffer)
  buffer.deallocate()  // used freed-twice
  use(2)
}

// BUG written-behind-end kind=overflow type=raw* operation=write details=*64*bytes*
private func writtenBehindEnd() {
  let numbers = UnsafeMutablePointer<Int>.allocate(capacity: 8)  // allocated written-behind-end
  for i in 0...8 { numbers[opaque(i)] = i }  // used written-behind-end
  use(numbers[3])
  numbers.deallocate()
}

// BUG copied-behind-end kind=overflow type=raw* operation=write
private func copiedBehindEnd() {
  let text = opaque([UInt8](repeating: 65, count: 100))
  let buffer = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)  // allocated copied-behind-end
  memcpy(buffer, text, text.count)  // used copied-behind-end
  use(Int(buffer.load(as: UInt8.self)))
  buffer.deallocate()
}

// BUG read-in-front kind=overflow type=raw*
private func readInFront() {
  let page = UnsafeMutablePointer<UInt8>.allocate(capacity: 4096)  // allocated read-in-front
  page.initialize(repeating: 10, count: 4096)
  var end = 4096
  // Back to the last line, of which there is none.
  while page[opaque(end) - 1] == 10, end > -64 { end -= 1 }  // used read-in-front
  use(end)
  page.deallocate()
}

// BUG empty-tail kind=overflow type=*Tail* operation=write
private final class Tail: ManagedBuffer<Int, Int> {}
@inline(never) private func emptyTail(_ count: Int) -> Tail {
  let tail = Tail.create(minimumCapacity: opaque(count)) { _ in 0 }  // allocated empty-tail
  return unsafeDowncast(tail, to: Tail.self)
}
private func tail() {
  let tail = emptyTail(0)
  tail.withUnsafeMutablePointerToElements { $0[opaque(1)] = 5 }  // used empty-tail
  use(tail.header)
}

// BUG written-to-socket kind=field type=raw* operation=read
private func writtenToSocket() {
  var ends: [Int32] = [0, 0]
  pipe(&ends)
  let answer = UnsafeMutableRawPointer.allocate(byteCount: 200, alignment: 8)  // allocated written-to-socket
  answer.initializeMemory(as: UInt8.self, repeating: 1, count: 200)
  answer.deallocate()  // freed written-to-socket
  use(write(ends[1], answer + 16, 100))  // used written-to-socket
}

// BUG interned-name kind=field type=*__StringStorage*
final class Names {
  nonisolated(unsafe) static var table: [UnsafePointer<UInt8>] = []
  @inline(never) static func intern(_ number: Int) -> Int {
    var name = "an interned name with "
    name += "the number \(number)"  // allocated interned-name
    name.withUTF8 { table.append($0.baseAddress!) }
    return name.utf8.count  // freed interned-name
  }
}
private func internedName() {
  let count = Names.intern(3)
  let bytes = UnsafeBufferPointer(start: Names.table[0], count: count)
  use(bytes.reduce(0) { $0 + Int($1) })  // used interned-name
}

let pointers: [(name: String, run: () -> Void)] = [
  ("escaped-array", escapedArray), ("escaped-string", escapedString), ("escaped-data", escapedData),
  ("stale-after-append", staleAfterAppend), ("field-pointer", fieldPointer), ("ring-after-grow", ringAfterGrow),
  ("freed-twice", freedTwice), ("written-behind-end", writtenBehindEnd), ("copied-behind-end", copiedBehindEnd),
  ("read-in-front", readInFront), ("empty-tail", tail), ("written-to-socket", writtenToSocket),
  ("interned-name", internedName),
]
