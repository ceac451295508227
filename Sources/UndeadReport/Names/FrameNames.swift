import UndeadSystem

/// Frames of the code addresses of a snapshot, each address resolved once.
package final class FrameNames {
  private let snapshot: Snapshot
  private let symbols: SymbolTable
  private let modules: [Snapshot.Module]
  private var resolved: [UInt64: [Frame]] = [:]
  /// By stack; `unknown` where nobody asked yet. A tree of a million objects may have a million stacks.
  private var siteHashes: [StableHash] = []
  private var sites: [CodeSite] = []
  private var siteNumbers: [UInt64: Int32] = [:]
  /// The addresses that were asked for last, by their low bits: most stacks share theirs.
  private var recent = [(address: UInt64, site: Int32)](repeating: (0, 0), count: 256)
  private var closureHashes: [UInt64: StableHash] = [:]
  /// Tells which function is a test; nil if findings are not grouped by tests.
  let tests: TestFinder?
  /// Few blocks have a backtrace, so leaks are not distinguished by it.
  let isSampled: Bool
  /// Which code is a dependency's.
  package let packages: Packages

  package init(_ snapshot: Snapshot, symbols: SymbolTable) {
    self.snapshot = snapshot
    self.symbols = symbols
    tests = symbols.tests.map(TestFinder.init)
    modules = snapshot.modules.ordered { $0.low < $1.low }
    isSampled = snapshot.metadata("sampleBytes") != nil
    packages = Packages(symbols, program: snapshot.metadata("path") ?? "")
  }

  /// The frames of a stack, innermost first; none for ``LeakSnapshot/none``.
  package func backtrace(_ stack: Snapshot.Index) -> Backtrace {
    backtrace(returnAddresses: snapshot.addresses(ofStack: stack))
  }

  /// Where a scope ended: without the calls of this package that ended it.
  func scopeEnd(_ stack: Snapshot.Index) -> Backtrace {
    let frames = backtrace(stack).frames
    let last = frames.prefix { $0.system }.lastIndex { OwnLibraries.define($0.symbol) }
    return Backtrace(frames: Array(frames[((last ?? -1) + 1)...]))
  }

  /// The frames of return addresses, innermost first.
  package func backtrace(returnAddresses: some Sequence<UInt64>) -> Backtrace {
    Backtrace(frames: returnAddresses.flatMap { $0 == 0 ? [] : frames(at: $0 - 1) })
  }

  /// The function of a closure; nil if there is none.
  package func closure(at address: UInt64) -> Frame? {
    guard address != 0 else { return nil }
    let frames = frames(at: address)
    // The forwarder that the compiler puts before a closure has no line of its own.
    var frame = frames.first { $0.symbol.contains("closure #") && $0.line != nil } ?? frames.last
    if let symbol = frame?.symbol { frame?.symbol = FunctionName.withoutThunks(symbol) }
    frame?.inlined = false
    return frame
  }

  /// What a closure calls what it captures, by position; nil where it is not known.
  func name(ofCapture number: Int, at address: UInt64) -> String? {
    guard let names = symbols.variables[address], number < names.count else { return nil }
    let name = names[number]
    return name.isEmpty || name.hasPrefix("$") ? nil : name
  }

  /// Hash of the function of the program that made an allocation, the same in every run.
  ///
  /// Only the innermost one of the user's: what leaks in a function is one bug, however many callers the function has.
  func siteHash(_ stack: Snapshot.Index) -> StableHash {
    guard Int(stack) < snapshot.stacks.count else { return StableHash("") }
    if siteHashes.isEmpty { siteHashes = [StableHash](repeating: .unknown, count: snapshot.stacks.count) }
    let known = siteHashes[Int(stack)]
    if known != .unknown { return known }
    let hash = site(stack) ?? StableHash("")
    siteHashes[Int(stack)] = hash
    return hash
  }

  /// The same for the backtrace of an allocation, by which findings are distinguished if all are known.
  func allocationHash(_ stack: Snapshot.Index) -> StableHash {
    isSampled ? StableHash() : siteHash(stack)
  }

  /// Hash of all functions and lines of a stack, the same in every run.
  func stackHash(_ stack: Snapshot.Index) -> StableHash {
    var hash = StableHash()
    for address in snapshot.addresses(ofStack: stack) where address != 0 {
      for part in sites[site(at: address - 1)].lines { hash.mix(part) }
    }
    return hash
  }

  /// Puts records in the order of the backtraces of what they tell about, which is the same in every run.
  func sortByStack<Record>(_ records: inout [Record], _ stack: (Record) -> Snapshot.Index) {
    var hashes: [Snapshot.Index: StableHash] = [:]
    let keyed = records.enumerated().map { number, record in
      let stack = stack(record)
      let hash = hashes[stack] ?? stackHash(stack)
      hashes[stack] = hash
      return (key: (hash, number), record: record)
    }
    records = keyed.sorted { $0.key < $1.key }.map(\.record)
  }

  /// Hash of the function that made an allocation; nil if no frame says anything.
  private func site(_ stack: Snapshot.Index) -> StableHash? {
    var (dependency, initializer, library): (StableHash?, StableHash?, StableHash?) = (nil, nil, nil)
    for address in snapshot.addresses(ofStack: stack) where address != 0 {
      let number = site(at: address - 1)
      if let program = sites[number].program { return program }
      dependency = dependency ?? sites[number].dependency
      initializer = initializer ?? sites[number].initializer
      library = library ?? sites[number].library
    }
    return dependency ?? initializer ?? library
  }

  /// Position in `sites` of what an address says.
  private func site(at address: UInt64) -> Int {
    let slot = Int(truncatingIfNeeded: (address ^ (address >> 8)) & 255)
    if recent[slot].address == address, address != 0 { return Int(recent[slot].site) }
    let number = siteNumbers[address] ?? Int32(sites.count)
    if Int(number) == sites.count {
      sites.append(CodeSite(frames(at: address)))
      siteNumbers[address] = number
    }
    recent[slot] = (address, number)
    return Int(number)
  }

  /// Hash of the function of a closure, the same in every run; that of an empty text where there is none.
  func closureHash(at address: UInt64) -> StableHash {
    if let known = closureHashes[address] { return known }
    let hash = StableHash(closure(at: address)?.symbol ?? "")
    closureHashes[address] = hash
    return hash
  }

  private func frames(at address: UInt64) -> [Frame] {
    if let known = resolved[address] { return known }
    let module = module(at: address)
    let name = module.map { SymbolText.fileName($0.path) } ?? ""
    var frames = symbols[address] ?? []
    if frames.isEmpty {
      let offset = address &- (module?.bias ?? 0)
      let symbol = "\(name.isEmpty ? "unknown code" : name)+0x\(String(offset, radix: 16))"
      // Code outside of every module has another address in every run: it must not distinguish leaks.
      frames = [Frame(symbol: symbol, module: name, offset: offset, system: module == nil)]
    }
    for position in frames.indices {
      let known = SymbolText.fileName(frames[position].module)
      frames[position].module = known.isEmpty ? name : known
      let isSystem = frames[position].system || module?.isSystem ?? false
      frames[position].system = isSystem || SymbolText.isToolchain(frames[position])
      if !frames[position].system { frames[position].package = packages.package(of: frames[position]) }
    }
    resolved[address] = frames
    return frames
  }

  private func module(at address: UInt64) -> Snapshot.Module? {
    let next = modules.partitioningIndex { $0.low > address }
    return next > 0 && address < modules[next - 1].high ? modules[next - 1] : nil
  }
}

/// What the frames of one code address say of an allocation.
private struct CodeSite {
  /// Hashes of the innermost functions of each kind; no others are known once there is one of the program.
  private(set) var program: StableHash?
  private(set) var dependency: StableHash?
  private(set) var initializer: StableHash?
  private(set) var library: StableHash?
  /// Hash and line of each function, innermost first.
  let lines: [UInt64]

  init(_ frames: [Frame]) {
    lines = frames.flatMap { [StableHash($0.symbol).value, UInt64(truncatingIfNeeded: $0.line ?? 0)] }
    for frame in frames {
      func hash() -> StableHash { StableHash(FunctionName.withoutThunks(frame.symbol)) }
      if frame.package != nil {
        dependency = dependency ?? hash()
      } else if !frame.system {
        guard SymbolText.isAllocatingInitializer(frame.symbol) else {
          program = hash()
          return
        }
        initializer = initializer ?? hash()
      } else if library == nil, !SymbolText.isRuntimeEntry(frame.symbol) {
        library = hash()
      }
    }
  }
}

extension StableHash {
  /// That of nothing: no text has it.
  fileprivate static let unknown = StableHash()
}
