/// Frames of the code addresses of a snapshot, each address resolved once.
struct FrameNames {
  private let snapshot: Snapshot
  private let symbols: SymbolTable
  private let modules: [Snapshot.Module]
  private var resolved: [UInt64: [Frame]] = [:]
  private var siteHashes: [Snapshot.Index: StableHash] = [:]
  /// Tells which function is a test; nil if findings are not grouped by tests.
  let tests: TestFinder?

  init(_ snapshot: Snapshot, symbols: SymbolTable) {
    self.snapshot = snapshot
    self.symbols = symbols
    tests = symbols.tests.map(TestFinder.init)
    modules = snapshot.modules.sorted { $0.low < $1.low }
  }

  /// The frames of a stack, innermost first.
  mutating func backtrace(_ stack: Snapshot.Index) -> Backtrace {
    backtrace(returnAddresses: snapshot.addresses(ofStack: stack))
  }

  /// Where a scope ended: without the calls of this package that ended it.
  mutating func scopeEnd(_ stack: Snapshot.Index) -> Backtrace {
    let frames = backtrace(stack).frames
    let last = frames.prefix { $0.system }.lastIndex { OwnLibraries.define(SymbolText.withoutThunks($0.symbol)[...]) }
    return Backtrace(frames: Array(frames[((last ?? -1) + 1)...]))
  }

  /// The frames of return addresses, innermost first.
  mutating func backtrace(returnAddresses: some Sequence<UInt64>) -> Backtrace {
    Backtrace(frames: returnAddresses.flatMap { $0 == 0 ? [] : frames(at: $0 - 1) })
  }

  /// The function of a closure; nil if there is none.
  mutating func closure(at address: UInt64) -> Frame? {
    guard address != 0 else { return nil }
    let frames = frames(at: address)
    // The forwarder that the compiler puts before a closure has no line of its own.
    var frame = frames.first { $0.symbol.contains("closure #") && $0.line != nil } ?? frames.last
    if let symbol = frame?.symbol { frame?.symbol = SymbolText.withoutThunks(symbol) }
    frame?.inlined = false
    return frame
  }

  /// Hash of the function of the program that made an allocation, the same in every run.
  ///
  /// Only the innermost one: what leaks in a function is one bug, however many callers the function has.
  mutating func siteHash(_ stack: Snapshot.Index) -> StableHash {
    if let known = siteHashes[stack] { return known }
    let frames = backtrace(stack).frames
    let own = frames.first { !$0.system && !SymbolText.isAllocatingInitializer($0.symbol) }
    let site = own ?? frames.first { !$0.system } ?? frames.first { !SymbolText.isRuntimeEntry($0.symbol) }
    let hash = StableHash(site.map { SymbolText.withoutThunks($0.symbol) } ?? "")
    siteHashes[stack] = hash
    return hash
  }

  private mutating func frames(at address: UInt64) -> [Frame] {
    if let known = resolved[address] { return known }
    let module = module(at: address)
    let name = module.map { SymbolText.fileName($0.path) } ?? ""
    var frames = symbols[address] ?? []
    if frames.isEmpty {
      let offset = address &- (module?.bias ?? 0)
      let symbol = "\(name.isEmpty ? "unknown code" : name)+0x\(String(offset, radix: 16))"
      // Code outside of every module has another address in every run: it must not tell leaks apart.
      frames = [Frame(symbol: symbol, module: name, offset: offset, system: module == nil)]
    }
    for position in frames.indices {
      let known = SymbolText.fileName(frames[position].module)
      frames[position].module = known.isEmpty ? name : known
      let isSystem = frames[position].system || module?.isSystem ?? false
      frames[position].system = isSystem || SymbolText.isToolchain(frames[position])
    }
    resolved[address] = frames
    return frames
  }

  private func module(at address: UInt64) -> Snapshot.Module? {
    var (low, high) = (0, modules.count)
    while low < high {
      let middle = (low + high) / 2
      if modules[middle].low <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, address < modules[low - 1].high else { return nil }
    return modules[low - 1]
  }
}
