import CHeapTruth
import Foundation

// Objects that are owned by a count, with their addresses in memory that no type describes: every way to get memory with
// every way to write an address.

/// Memory that a holder got in some way.
private class Memory {
  var base: UnsafeMutableRawPointer
  let size: Int

  init(_ base: UnsafeMutableRawPointer?, size: Int) {
    precondition(base != nil && base != MAP_FAILED, "heap-truth: no memory, errno \(errno)")
    self.base = base!
    self.size = size
  }
  /// Around each use by the holder.
  func open() {}
  func close() {}
  func churn() {}
}

/// From malloc and its family.
private class Block: Memory {
  override func churn() { if let moved = realloc(base, size + 8 * Int.random(in: 0..<400)) { base = moved } }
  deinit { free(base) }
}

private final class Mapping: Memory {
  private let length: Int
  private let idle: Int32?

  /// - Parameter idle: the protection while nobody uses it.
  init(_ base: UnsafeMutableRawPointer?, length: Int = 8192, idle: Int32? = nil) {
    self.length = length
    self.idle = idle
    super.init(base, size: 4096)
  }
  override func open() { if idle != nil { mprotect(base, length, PROT_READ | PROT_WRITE) } }
  override func close() { if let idle { mprotect(base, length, idle) } }
  deinit { munmap(base, length) }

  static func anonymous(_ flags: Int32 = MAP_PRIVATE, length: Int = 8192) -> UnsafeMutableRawPointer? {
    mmap(nil, length, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0)
  }
  static func advised(_ advice: Int32) -> UnsafeMutableRawPointer? {
    let base = anonymous()
    madvise(base, 8192, advice)
    return base
  }
  static func ofMemoryFile(views: Int = 1) -> UnsafeMutableRawPointer? {
    let file = truth_memory_file(8192)
    defer { Glibc.close(file) }
    var base: UnsafeMutableRawPointer?
    for _ in 0..<views {
      if let base { munmap(base, 8192) }
      base = mmap(nil, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
      base?.storeBytes(of: 1, toByteOffset: 5000, as: UInt8.self)
    }
    return base
  }
  static func inTheMiddle() -> UnsafeMutableRawPointer? {
    let reserved = mmap(nil, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)!
    let base = mmap(reserved + 65536, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
    munmap(reserved, 65536)
    munmap(reserved + 65536 + 8192, (1 << 20) - 65536 - 8192)
    return base
  }
  static func moved() -> UnsafeMutableRawPointer? { truth_move_mapping(anonymous(), 8192) }
}

/// Two views of one file: what is written through one stands in the other, and only that one stays.
private final class Views: Memory {
  private let other, idle: UnsafeMutableRawPointer

  init() {
    let file = truth_memory_file(8192)
    other = mmap(nil, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    let base = mmap(nil, 8192, PROT_READ, MAP_SHARED, file, 0)
    Glibc.close(file)
    idle = base!
    super.init(other, size: 4096)
    close()
  }
  // While nobody uses it the page table knows nothing of the pages: they are in the file alone.
  override func close() {
    madvise(other, 8192, MADV_DONTNEED)
    madvise(idle, 8192, MADV_DONTNEED)
  }
  deinit {
    munmap(other, 8192)
    munmap(idle, 8192)
  }
}

/// A part of one block that many share.
private final class ArenaPart: Memory {
  nonisolated(unsafe) private static let arena = calloc(64, 512)!
  nonisolated(unsafe) private static var isUsed = [Bool](repeating: false, count: 64)
  private static let lock = NSLock()
  private let number: Int

  init() {
    number = Self.lock.withLock {
      let number = Self.isUsed.firstIndex(of: false)!
      Self.isUsed[number] = true
      return number
    }
    super.init(Self.arena + number * 512, size: 512)
  }
  deinit { Self.lock.withLock { Self.isUsed[number] = false } }
}

/// Variables of C code, of the program or of a library that was loaded later.
private final class Globals: Memory {
  nonisolated(unsafe) private static var free = (0..<Int(TRUTH_SLOTS)).map { $0 }
  private static let lock = NSLock()
  private let number: Int

  init() {
    number = Self.lock.withLock { Self.free.removeLast() }
    super.init(UnsafeMutableRawPointer(truth_global_slots(UInt32(number))), size: 64)
  }
  deinit { Self.lock.withLock { Self.free.append(number) } }
}

private final class Break: Memory {
  nonisolated(unsafe) private static var free: [UnsafeMutableRawPointer] = []
  private static let lock = NSLock()

  init() {
    let base = Self.lock.withLock { Self.free.popLast() ?? truth_sbrk(512) }
    super.init(base, size: 512)
    memset(self.base, 0, 512)
  }
  deinit {
    let base = base
    Self.lock.withLock { Self.free.append(base) }
  }
}

/// How an address is written.
private struct Writing: Sendable {
  var name: String
  var stride = 8
  var offset = 0
  var encode: @Sendable (UInt) -> UInt = { $0 }
  var decode: @Sendable (UInt) -> UInt = { $0 }

  static let all = [
    Writing(name: "plain"),
    Writing(name: "record", stride: 48, offset: 40),
    Writing(name: "lowBits", encode: { $0 | 5 }, decode: { $0 & ~7 }),
    Writing(name: "topBits", encode: { $0 | 0xabcd << 48 }, decode: { $0 & 0xffff_ffff_ffff }),
    Writing(name: "bothEnds", encode: { $0 | 0x8001 << 48 | 3 }, decode: { $0 & 0xffff_ffff_fff8 }),
    Writing(name: "nanBox", encode: { $0 | 0xfffc << 48 }, decode: { $0 & 0xffff_ffff_ffff }),
    Writing(name: "interior", encode: { $0 + 24 }, decode: { $0 - 24 }),
    Writing(name: "packed", stride: 12, offset: 4),
    Writing(name: "odd", stride: 9, offset: 1),
  ]
}

private final class Raw: Holder, @unchecked Sendable {
  private let memory: Memory
  private let writing: Writing
  private var count = 0

  init(_ memory: Memory, _ writing: Writing) {
    self.memory = memory
    self.writing = writing
    super.init()
  }

  override func put(_ node: Node) -> Bool {
    let place = count * writing.stride + writing.offset
    if place + 8 > memory.size { return false }
    memory.open()
    defer { memory.close() }
    let word = UInt(bitPattern: Unmanaged.passRetained(node).toOpaque())
    memory.base.storeBytes(of: writing.encode(word), toByteOffset: place, as: UInt.self)
    count += 1
    return true
  }
  override func take() -> Node? {
    if count == 0 { return nil }
    count -= 1
    memory.open()
    defer { memory.close() }
    let place = count * writing.stride + writing.offset
    let word = writing.decode(memory.base.loadUnaligned(fromByteOffset: place, as: UInt.self))
    memory.base.storeBytes(of: 0, toByteOffset: place, as: UInt.self)
    return Unmanaged<Node>.fromOpaque(UnsafeRawPointer(bitPattern: word)!).takeRetainedValue()
  }
  override func churn() { memory.churn() }
  deinit { while take() != nil {} }
}

private let blocks: [(name: String, make: @Sendable () -> Memory)] = [
  ("malloc", { Block(malloc(256), size: 256) }),
  ("small", { Block(malloc(64), size: 64) }),
  ("calloc", { Block(calloc(16, 16), size: 256) }),
  ("aligned", { Block(aligned_alloc(512, 1024), size: 1024) }),
  ("large", { Block(malloc(300_000), size: 300_000) }),
]

private let regions: [(name: String, make: @Sendable () -> Memory)] = [
  ("arena", { ArenaPart() }),
  ("global", { Globals() }),
  ("sbrk", { Break() }),
  ("private", { Mapping(Mapping.anonymous()) }),
  ("fixed", { Mapping(Mapping.inTheMiddle()) }),
  ("moved", { Mapping(Mapping.moved()) }),
  ("sparse", { Mapping(Mapping.anonymous(MAP_PRIVATE | MAP_NORESERVE, length: 1 << 28), length: 1 << 28) }),
  ("growsDown", { Mapping(Mapping.anonymous(MAP_PRIVATE | Int32(MAP_STACK | MAP_GROWSDOWN))) }),
  ("noAccess", { Mapping(Mapping.anonymous(), idle: PROT_NONE) }),
  ("readOnly", { Mapping(Mapping.anonymous(), idle: PROT_READ) }),
  ("cold", { Mapping(Mapping.advised(MADV_COLD)) }),
  ("notDumped", { Mapping(Mapping.advised(MADV_DONTDUMP)) }),
]

/// What the kernel takes away from a forked child, or the parent changes under its eyes, is lost there.
private let lostInFork: [(name: String, make: @Sendable () -> Memory)] = [
  ("wipedOnFork", { Mapping(Mapping.advised(MADV_WIPEONFORK)) }),
  ("notForked", { Mapping(Mapping.advised(MADV_DONTFORK)) }),
  ("shared", { Mapping(Mapping.anonymous(MAP_SHARED)) }),
  ("memoryFile", { Mapping(Mapping.ofMemoryFile()) }),
  ("mappedAgain", { Mapping(Mapping.ofMemoryFile(views: 3)) }),
  ("onlyInTheFile", { Views() }),
  ("sharedReadOnly", { Mapping(Mapping.anonymous(MAP_SHARED), idle: PROT_READ) }),
  ("sharedNoAccess", { Mapping(Mapping.anonymous(MAP_SHARED), idle: PROT_NONE) }),
]

let memoryKinds: [Kind] = Writing.all.flatMap { writing in
  blocks.map { block in
    Kind(name: "memory.\(block.name).\(writing.name)") { Raw(block.make(), writing) }
  }
    + regions.map { region in
      Kind(name: "memory.\(region.name).\(writing.name)", isRoot: true, limit: 6) { Raw(region.make(), writing) }
    }
    + lostInFork.map { region in
      Kind(name: "memory.\(region.name).\(writing.name)", isRoot: true, isLostInFork: true, limit: 6) {
        Raw(region.make(), writing)
      }
    }
}

/// A table of handlers as C programs have it: its first words look like those of other libraries' blocks.
private final class Handlers: Holder, @unchecked Sendable {
  private var handlers: [UnsafeMutablePointer<truth_handler>] = []
  override func put(_ node: Node) -> Bool {
    handlers.append(truth_handler_make(Unmanaged.passRetained(node).toOpaque()))
    return true
  }
  override func take() -> Node? {
    guard let handler = handlers.popLast() else { return nil }
    defer { free(handler) }
    return Unmanaged<Node>.fromOpaque(handler.pointee.owner).takeRetainedValue()
  }
  deinit { while take() != nil {} }
}

/// Objects in memory for their type, and the pointer is into the middle of it.
private final class Pointers: Holder, @unchecked Sendable {
  private let first = UnsafeMutablePointer<Node>.allocate(capacity: 16)
  private lazy var next = first
  override func put(_ node: Node) -> Bool {
    if next == first + 16 { return false }
    next.initialize(to: node)
    next += 1
    return true
  }
  override func take() -> Node? {
    if next == first { return nil }
    next -= 1
    return next.move()
  }
  deinit {
    while take() != nil {}
    first.deallocate()
  }
}

/// A list of C structs whose links lead into the middle of the next one.
private final class Intrusive: Holder, @unchecked Sendable {
  private var link: UnsafeMutablePointer<truth_link>?
  override func put(_ node: Node) -> Bool {
    link = truth_link_push(link, Unmanaged.passRetained(node).toOpaque())
    return true
  }
  override func take() -> Node? {
    guard link != nil, let object = truth_link_pop(&link) else { return nil }
    return Unmanaged<Node>.fromOpaque(object).takeRetainedValue()
  }
  deinit { while take() != nil {} }
}

let recordKinds: [Kind] = [
  Kind(name: "record.handlers") { Handlers() },
  Kind(name: "record.pointers") { Pointers() },
  Kind(name: "record.intrusive") { Intrusive() },
]
