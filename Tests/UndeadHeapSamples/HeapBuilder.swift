import Foundation
import UndeadHeap
import UndeadReport

/// Builds heap files of processes that never were, with code addresses that have names.
package struct HeapBuilder {
  package typealias Block = Int
  package typealias Root = Int

  /// A function in a backtrace.
  package struct Function: Hashable {
    package var symbol: String
    package var file: String?
    package var line: Int?
    package var module: String

    /// A function of the program.
    package static func app(_ symbol: String, _ file: String? = nil, _ line: Int? = nil) -> Function {
      Function(symbol: symbol, file: file, line: line, module: "App")
    }

    /// A function of the toolchain or of a library of the system.
    package static func system(_ symbol: String, _ module: String = "libswiftCore.so") -> Function {
      Function(symbol: symbol, module: module)
    }
  }

  struct Link {
    var place: UInt32
    var target: Block
    var neighbours: [UInt64]?
  }

  struct BlockRecord {
    var address: UInt64
    var type: Snapshot.Index
    var flags: UInt32
    var size: UInt64
    var site: UInt32
    var strong: UInt32?
    var use: (used: UInt64, capacity: UInt64)?
    var hash: UInt64?
    var links: [Link] = []
  }

  /// What a snapshot has; can be added to.
  package var snapshot = Snapshot()
  var strings = StringInterner()
  var blocks: [BlockRecord] = []
  var places: [HeapFile.Place] = []
  var sites: [HeapFile.Site] = []
  package var roots: [HeapFile.Root] = []
  var rootEdges: [(root: Root, block: Block, words: [UInt64]?)] = []
  package var holders: [(block: Block, descriptor: UInt32, field: String)] = []
  package var queueLabels: [(block: Block, label: String)] = []
  package var threadStacks: [HeapFile.ThreadStack] = []
  package var memory: [HeapFile.MemoryLine] = []
  package var malloc: [HeapFile.MallocPart] = []
  package var generations: [HeapFile.Generation] = []
  package var waits: [HeapFile.Wait] = []
  package var tasks: [HeapFile.Task] = []
  package var taskMemory: [HeapFile.TaskMemory] = []
  /// Words of blocks that name tasks of `async let`; without one the file has no such section.
  package var innerWords: [(from: Block, task: UInt64)] = []
  package var census: [HeapFile.CensusLine] = []
  private var types: [String: Snapshot.Index] = [:]
  private var stacks: [[Function]: Snapshot.Index] = [:]
  private var functions: [Function: UInt64] = [:]
  private var placeIDs: [[UInt64]: UInt32] = [:]
  private var siteIDs: [UInt64: UInt32] = [:]
  private var nextAddress: UInt64
  private let base: UInt64
  /// What new blocks are born in.
  package var generation: UInt32 = 0
  /// What new blocks with a backtrace are sampled with; 0 for none.
  package var sampleMean: UInt32 = 0
  package var allocations: [HeapFile.Allocations] = []

  package init(base: UInt64 = 0x5500_0000_0000) {
    self.base = base
    nextAddress = base + 0x4000_0000
    var low = base
    for name in ["/app/App", "/usr/lib/libswiftCore.so", "/usr/lib/libfoo.so.1", "/usr/lib/libc.so.6"] {
      snapshot.modules.append(
        .init(low: low, high: low + 0x10_0000, bias: low, path: name, flags: name == "/app/App" ? 0 : 1))
      low += 0x1000_0000
    }
    snapshot.metadata = [
      .init(key: "path", value: "/app/App"), .init(key: "argument", value: "App"), .init(key: "pid", value: "42"),
      .init(key: "startedAt", value: "1700000000.5"), .init(key: "durationSeconds", value: "1.25"),
      .init(key: "heap", value: "1"),
    ]
  }

  // MARK: Blocks

  /// A Swift object, or another block with a type.
  ///
  /// - Parameters:
  ///   - strong: strong references; nil for as many as there are counted links and strong globals.
  ///   - flags: of ``HeapFile/Shape`` beyond those that follow from the rest.
  package mutating func object(
    _ type: String, size: UInt64 = 32, kind: Snapshot.Kind = .object, isOfProgram: Bool? = nil, strong: UInt32? = nil,
    use: (used: UInt64, capacity: UInt64)? = nil, hash: UInt64? = nil, reached: Bool = true, flags: UInt32 = 0,
    address: UInt64? = nil, at stack: [Function] = []
  ) -> Block {
    let index = self.type(type, kind, isOfProgram ?? type.hasPrefix("App."))
    return add(
      type: index, size: size, strong: strong, use: use, hash: hash, reached: reached, flags: flags, address: address,
      at: stack)
  }

  /// Memory that Swift code allocated without a type.
  package mutating func raw(size: UInt64 = 32, reached: Bool = true, at stack: [Function] = []) -> Block {
    let flags = HeapFile.Shape.countUnknown
    return add(type: Snapshot.none, size: size, reached: reached, flags: flags, isRaw: true, at: stack)
  }

  /// A block of C code.
  package mutating func foreign(size: UInt64 = 32, reached: Bool = true, at stack: [Function] = []) -> Block {
    add(type: Snapshot.none, size: size, reached: reached, flags: HeapFile.Shape.countUnknown, at: stack)
  }

  private mutating func add(
    type: Snapshot.Index, size: UInt64, strong: UInt32? = nil, use: (used: UInt64, capacity: UInt64)? = nil,
    hash: UInt64? = nil, reached: Bool, flags: UInt32, address: UInt64? = nil, isRaw: Bool = false, at stack: [Function]
  ) -> Block {
    let place = address ?? nextAddress
    // A size that no process can have leaves no gap behind it.
    nextAddress = max(nextAddress, place &+ (min(size, 1 << 40) + 31) & ~15)
    let allFlags = flags | (reached ? HeapFile.Shape.reached : 0)
    blocks.append(
      BlockRecord(
        address: place, type: type, flags: allFlags, size: size, site: site(stack, isRaw: isRaw), strong: strong,
        use: use,
        hash: hash))
    return blocks.count - 1
  }

  /// The address that a block has in the file.
  package func address(_ block: Block) -> UInt64 { blocks[block].address }

  package mutating func setStrong(_ block: Block, _ count: UInt32) { blocks[block].strong = count }

  private mutating func site(_ functions: [Function], isRaw: Bool) -> UInt32 {
    guard !functions.isEmpty || generation != 0 || isRaw else { return 0 }
    let stack = self.stack(functions)
    let mean = functions.isEmpty ? 0 : sampleMean
    let flags: UInt32 = (isRaw ? 1 : 0) | (mean > 0 ? 2 : 0)
    let key = UInt64(stack) << 32 | UInt64(generation) << 2 | UInt64(flags) ^ UInt64(mean) << 16
    if let known = siteIDs[key] { return known }
    sites.append(.init(stack: stack, generation: generation, flags: flags, sampleMean: mean))
    siteIDs[key] = UInt32(sites.count)
    return UInt32(sites.count)
  }

  package mutating func type(_ name: String, _ kind: Snapshot.Kind, _ isOfProgram: Bool) -> Snapshot.Index {
    let key = "\(kind.rawValue) \(name)"
    if let known = types[key] { return known }
    let index = Snapshot.Index(snapshot.types.count)
    snapshot.types.append(
      .init(
        isa: base + 0x8_0000 + UInt64(index) * 64, name: strings.intern(name), kind: kind, flags: isOfProgram ? 1 : 0))
    types[key] = index
    return index
  }

  /// Index of STACKS of a backtrace, innermost first; none for an empty one.
  package mutating func stack(_ functions: [Function]) -> Snapshot.Index {
    guard !functions.isEmpty else { return Snapshot.none }
    if let known = stacks[functions] { return known }
    let first = UInt32(snapshot.frames.count)
    for function in functions { snapshot.frames.append(address(of: function) + 1) }
    let index = Snapshot.Index(snapshot.stacks.count)
    snapshot.stacks.append(.init(first: first, count: UInt32(functions.count)))
    stacks[functions] = index
    return index
  }

  /// The code address of a function, which gets a name in the file.
  package mutating func address(of function: Function) -> UInt64 {
    if let known = functions[function] { return known }
    let module = snapshot.modules.first { $0.path.hasSuffix("/\(function.module)") } ?? snapshot.modules[0]
    let address = module.low + 0x1000 + UInt64(functions.count) * 16
    functions[function] = address
    snapshot.symbols[address] = [
      Frame(
        symbol: function.symbol, file: function.file, line: function.line, module: function.module,
        offset: address - module.bias)
    ]
    return address
  }

  // MARK: References

  /// A reference from one block to another.
  package mutating func link(
    _ from: Block, _ label: String, _ to: Block, strength: UInt32 = HeapFile.Strength.counted, type: String = "",
    offset: UInt32 = 16, flags: UInt32 = 0, closure: Function? = nil, neighbours: [UInt64]? = nil
  ) {
    let isElement = label.hasPrefix("[")
    let place = HeapFile.Place(
      holder: blocks[from].type, offset: offset, label: strings.intern(label), declaredType: strings.intern(type),
      strength: strength, flags: flags | (isElement ? 1 : 0) | (neighbours == nil ? 0 : 2),
      function: closure.map { address(of: $0) } ?? 0)
    blocks[from].links.append(Link(place: self.place(place), target: to, neighbours: neighbours))
  }

  private mutating func place(_ place: HeapFile.Place) -> UInt32 {
    let key = [place.holder, place.offset, place.label, place.declaredType, place.strength, place.flags].map {
      UInt64($0)
    }
    if let known = placeIDs[key + [place.function]] { return known }
    places.append(place)
    placeIDs[key + [place.function]] = UInt32(places.count - 1)
    return UInt32(places.count - 1)
  }

  /// A root that holds blocks.
  package mutating func root(
    _ kind: UInt32, _ name: String, thread: UInt32 = 0, isWeak: Bool = false, holds: [Block] = []
  ) -> Root {
    roots.append(
      .init(
        kind: kind, name: strings.intern(name), address: kind == HeapFile.Root.register ? 0 : base + 0x9_0000,
        thread: thread, flags: isWeak ? 1 : 0))
    for block in holds { rootEdges.append((roots.count - 1, block, nil)) }
    return roots.count - 1
  }

  /// A global variable that holds blocks.
  @discardableResult
  package mutating func global(_ name: String, holds: Block...) -> Root {
    root(HeapFile.Root.global, name, holds: holds)
  }

  /// - Parameter words: around the reference, if it may be a slice.
  package mutating func hold(_ root: Root, _ block: Block, words: [UInt64]? = nil) {
    rootEdges.append((root, block, words))
  }

  // MARK: Facts

  package mutating func note(_ text: String) { snapshot.notes.append(strings.intern(text)) }

  package mutating func count(_ key: String, _ value: UInt64) {
    snapshot.counters.append(.init(key: key, value: value))
  }

  package mutating func addMemory(_ kind: UInt32, _ name: String, resident: UInt64, reserved: UInt64 = 0) {
    memory.append(.init(name: strings.intern(name), kind: kind, resident: resident, reserved: max(resident, reserved)))
  }

  /// Starts a generation: blocks that are added from now on are of it.
  package mutating func mark(_ name: String, time: UInt64 = 1_700_000_000_000_000_000) {
    generation += 1
    generations.append(.init(number: generation, name: strings.intern(name), time: time))
    snapshot.setMetadata("generation", "\(generation)")
  }

  package mutating func intern(_ text: String) -> StringID { strings.intern(text) }
}
