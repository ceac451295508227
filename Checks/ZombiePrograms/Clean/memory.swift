// Raw memory, and storage that ends where its block ends.
import CParts
import Glibc

final class Word {
  let text: String
  init(_ number: Int) { text = "word number \(number) of a list" }
}

private struct Header {
  var count = 0
  var name = "a header that is longer than fifteen bytes"
}

/// Elements behind the header, which are objects.
private final class Ring: ManagedBuffer<Header, Word> {
  static func make(_ capacity: Int) -> Ring {
    unsafeDowncast(Ring.create(minimumCapacity: capacity) { _ in Header() }, to: Ring.self)
  }
  func append(_ word: Word) {
    withUnsafeMutablePointers { header, elements in
      (elements + header.pointee.count).initialize(to: word)
      header.pointee.count += 1
    }
  }
  func grown() -> Ring {
    let ring = Ring.make(header.count * 2)
    withUnsafeMutablePointers { header, elements in
      for i in 0..<header.pointee.count { ring.append(elements[i]) }
    }
    return ring
  }
  deinit {
    _ = withUnsafeMutablePointers { header, elements in elements.deinitialize(count: header.pointee.count) }
  }
}

private func managedBuffer(_ round: Int) -> Int {
  var ring = Ring.make(2)
  for i in 0..<20 + round {
    if ring.header.count == ring.capacity {
      ring = ring.grown()
    }
    ring.append(Word(i))
  }
  return ring.withUnsafeMutablePointers { header, elements in
    (0..<header.pointee.count).reduce(header.pointee.name.utf8.count) { $0 + elements[$1].text.utf8.count }
  }
}

/// As large as its allocator says, up to the last byte.
private func tailAllocation(_ round: Int) -> Int {
  var sum = 0
  for size in [1, 7, 15, 16, 33, 250 + round, 1000, 4064, 4096, 20000] {
    let buffer = ManagedBuffer<Int, UInt8>.create(minimumCapacity: size) { $0.capacity }
    let capacity = buffer.capacity
    buffer.withUnsafeMutablePointerToElements { $0.initialize(repeating: 3, count: capacity) }
    sum += buffer.withUnsafeMutablePointerToElements { Int($0[size - 1]) + Int($0[capacity - 1]) }
    var pointer = ManagedBufferPointer<Int, Int>(bufferClass: Pages.self, minimumCapacity: size) { _, _ in size }
    pointer.withUnsafeMutablePointerToElements { $0.initialize(repeating: round, count: size) }
    sum += pointer.withUnsafeMutablePointers { $0.pointee + $1[size - 1] } + (pointer.isUniqueReference() ? 1 : 0)
  }
  return sum
}
private final class Pages {}

private func rawMemory(_ round: Int) -> Int {
  var sum = 0
  for count in [1, 3, 64, 511 + round, 512, 513, 5000] {
    let words = UnsafeMutablePointer<Word>.allocate(capacity: count)
    words.initialize(repeating: Word(count), count: count)
    let more = UnsafeMutableBufferPointer<Word>.allocate(capacity: count * 2)
    _ = more.moveInitialize(fromContentsOf: UnsafeMutableBufferPointer(start: words, count: count))
    words.deallocate()
    sum += more[count - 1].text.utf8.count
    more.extracting(..<count).deinitialize()
    more.deallocate()
    let raw = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1 << (count % 13))
    raw.initializeMemory(as: UInt8.self, repeating: 2)
    sum += raw.reduce(0) { $0 + Int($1) }
    raw.deallocate()
    sum += withUnsafeTemporaryAllocation(of: Int.self, capacity: count) {
      $0.initialize(repeating: 1)
      return $0.reduce(0, +)
    }
  }
  return sum
}

/// What Swift allocates, C grows and frees, and the other way round.
private func reallocated(_ round: Int) -> Int {
  var sum = 0
  for size in [1, 16, 100, 2000, 4090, 70000] {
    let block = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
    block.initialize(repeating: UInt8(size & 0x7F), count: size)
    let grown = parts_grow(block, size * 3 + round)!.assumingMemoryBound(to: UInt8.self)
    sum += (0..<size).reduce(0) { $0 + Int(grown[$1]) }
    let shrunk = parts_grow(grown, size)!
    if size % 2 == 0 { free(shrunk) } else { shrunk.deallocate() }
    let other = malloc(size)!.bindMemory(to: UInt8.self, capacity: size)
    other.initialize(repeating: 1, count: size)
    sum += Int(other[size - 1])
    other.deallocate()
  }
  return sum
}

private func collections(_ round: Int) -> Int {
  var numbers: [Int] = []
  var words: [String: Word] = [:]
  var seen: Set<String> = []
  for i in 0..<60 + round {
    numbers.append(i)
    words["key \(i % 17)"] = Word(i)
    seen.insert("a member of the set \(i % 23)")
    if i % 9 == 0 { words["key 3"] = nil }
  }
  var copy = numbers
  copy.withUnsafeMutableBufferPointer { $0.reverse() }
  copy.removeSubrange(3..<20)
  copy.insert(contentsOf: numbers[5...30], at: 2)
  let exact = [UInt8](unsafeUninitializedCapacity: 100) { buffer, count in
    _ = buffer.initialize(from: repeatElement(7, count: 100))
    count = 93
  }
  let parts = numbers.lazy.filter { $0 % 3 == 0 }.map { [$0, $0 + 1] }.flatMap { $0 }
  let nested = Dictionary(grouping: copy) { $0 % 5 }.mapValues { ContiguousArray($0.sorted()) }
  return copy.reduce(0, +) + exact.count + parts.reduce(0, +) + nested.values.reduce(0) { $0 + $1.count }
    + words.values.reduce(0) { $0 + $1.text.utf8.count } + seen.count
}

private func strings(_ round: Int) -> Int {
  var text = ""
  for i in 0..<30 + round { text += i % 4 == 0 ? "ä line with é accents \(i)\n" : "plain \(i)\n" }
  let lines = text.split(separator: "\n").map(String.init)
  let copied = lines.map { $0.withCString { strdup($0)! } }
  var sum = copied.reduce(0) { $0 + Int(strlen($1)) }
  sum += copied.reduce(0) { $0 + String(cString: $1).count }
  for copy in copied { free(copy) }
  sum += text.utf8.withContiguousStorageIfAvailable { $0.reduce(0) { $0 &+ Int($1) } } ?? 0
  sum += lines.joined(separator: "-").uppercased().unicodeScalars.count
  var mutable = text
  mutable.replaceSubrange(mutable.startIndex..<mutable.index(mutable.startIndex, offsetBy: 9), with: "x")
  return sum + mutable.utf16.count + Int(parts_lines(40))
}

/// Owners of raw memory that cannot be copied.
private struct Bytes: ~Copyable {
  let start: UnsafeMutableRawPointer
  let count: Int
  init(_ count: Int) {
    start = .allocate(byteCount: count, alignment: 8)
    start.initializeMemory(as: UInt8.self, repeating: 1, count: count)
    self.count = count
  }
  borrowing func sum() -> Int { UnsafeRawBufferPointer(start: start, count: count).reduce(0) { $0 + Int($1) } }
  consuming func joined(_ other: consuming Bytes) -> Bytes {
    let result = Bytes(count + other.count)
    result.start.copyMemory(from: start, byteCount: count)
    return result
  }
  deinit { start.deallocate() }
}
private func noncopyable(_ round: Int) -> Int {
  var bytes: Bytes? = Bytes(10)
  for i in 1...6 { bytes = bytes.take()!.joined(Bytes(i * 16 + round)) }
  return bytes.take()!.sum()
}

let memory: [(name: String, run: (Int) -> Int)] = [
  ("managed-buffer", managedBuffer), ("tail-allocation", tailAllocation), ("raw-memory", rawMemory),
  ("reallocated", reallocated), ("collections", collections), ("strings", strings), ("noncopyable", noncopyable),
  ("blocks-of-c", { Int(parts_blocks(UInt32($0), 60)) }),
  ("containers-of-cxx", { Int(parts_containers(Int32(50 + $0))) }),
]
