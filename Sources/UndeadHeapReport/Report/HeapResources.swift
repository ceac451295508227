import UndeadHeap
import UndeadReport
import UndeadSystem

extension HeapReport {
  /// An open file, and the object that has its number.
  package struct DescriptorRow: Codable, Sendable, Equatable {
    package var number: Int
    package var kind: String
    /// A path, or the two ends of a connection.
    package var target: String
    /// Type of the object whose field has the number, "global" and the name of a variable, or "thread" and the one that waits for it; nil
    /// if nobody is known to have it.
    package var type: String?
    /// Of what a closure captured its function, in braces.
    package var field: String?
    /// The type and the field; nil if nobody is known to have the number.
    package var holder: String? { type.map { "\($0)\(suffix)" } }
    /// The field as it follows the type: parts of collections have no point in front, nor has the closure that has a context.
    var suffix: String {
      field.map { LoadedHeap.isPartOfCollection($0) ? $0 : $0.hasPrefix("{") ? " \($0)" : ".\($0)" } ?? ""
    }
    /// Where the object was allocated.
    package var allocation: LeakReport.Backtrace
    /// The shortest path from a root to the object.
    package var retainPath: [LeakReport.PathStep]
    /// What the thread was doing that waits for it.
    package var waits: LeakReport.Backtrace?
  }

  /// A thread, and what its stack holds.
  package struct ThreadRow: Codable, Sendable, Equatable {
    package var id: Int
    package var name: String
    package var stackBytes: Int
    package var residentBytes: Int
    /// What would be freed if nothing but its stack held it.
    package var retainedBytes: Int
    package var count: Int
    /// What it was doing; empty if that is not known.
    package var backtrace: LeakReport.Backtrace
  }
}

/// Open files and threads of a process, with the objects of its heap.
struct HeapResources {
  private let heap: LoadedHeap
  private let resources: ProcessResources
  private let symbols: HeapSymbols
  private static let most = 10_000

  /// nil if the file does not say what there was.
  init?(_ heap: LoadedHeap, _ symbols: HeapSymbols) {
    guard let resources = heap.file.resources else { return nil }
    (self.heap, self.resources, self.symbols) = (heap, resources, symbols)
  }

  // MARK: Descriptors

  /// Ascending by number.
  func descriptors() -> [HeapReport.DescriptorRow] {
    let holders = heap.descriptorHolders(symbols)
    let shown = resources.descriptors.prefix(Self.most)
    var teller = HeapPathTeller(heap)
    let recordBlocks = shown.compactMap { holders[UInt32(bitPattern: $0.number)] }.map { Int($0.block) }.filter {
      heap.types.groups[heap.group($0)].kind == .other
    }
    let owners = heap.owners(ofRecords: Set(recordBlocks))
    func object(_ holder: HeapFile.DescriptorHolder) -> Int { owners[Int(holder.block)]?.block ?? Int(holder.block) }
    let blocks = shown.map { holders[UInt32(bitPattern: $0.number)].map(object) }
    for block in blocks { if let block { teller.add(block) } }
    symbols.prepare(stacks: blocks.compactMap { $0.map(heap.graph.stack) }, functions: teller.functions)
    let paths = blocks.contains { $0 != nil } ? teller.tell(symbols.table) : []
    var next = 0
    let variables = variables()
    let waiters = waiters(shown)
    return shown.map { descriptor in
      var row = HeapReport.DescriptorRow(
        number: Int(descriptor.number), kind: descriptor.kind.rawValue, target: descriptor.target,
        allocation: LeakReport.Backtrace(frames: []), retainPath: [])
      guard let holder = holders[UInt32(bitPattern: descriptor.number)] else {
        row.type = variables[UInt32(bitPattern: descriptor.number)].map { "global \($0)" }
        if let waiter = waiters[descriptor.waiter] {
          row.type = row.type ?? waiter.name
          row.waits = symbols.backtrace(waiter.frames)
        }
        return row
      }
      let block = object(holder)
      let label = heap.file.snapshot.strings[holder.field]
      let isRecord = heap.types.groups[heap.group(block)].kind == .other
      row.type = isRecord ? label : heap.typeName(block)
      row.retainPath = paths[next]
      let closure = row.retainPath.last { $0.closure != nil }?.closure.map { "{\(SymbolText.short($0.symbol))}" }
      row.field = owners[Int(holder.block)]?.field ?? (isRecord ? nil : LoadedHeap.isCaptured(label) ? closure : label)
      row.allocation = symbols.backtrace(heap.graph.stack(block))
      next += 1
      return row
    }
  }

  /// By number of the thread: its name with the call that it waits in, and where that is.
  private func waiters(_ shown: ArraySlice<OpenDescriptor>) -> [UInt32: (name: String, frames: Snapshot.Index)] {
    let waiting = Set(shown.map(\.waiter))
    let frames = Dictionary(heap.file.stacks.map { ($0.thread, $0.frames) }) { first, _ in first }
    var waiters: [UInt32: (name: String, frames: Snapshot.Index)] = [:]
    for thread in resources.threads where waiting.contains(thread.id) && !thread.call.isEmpty {
      let name = "thread \(thread.id) '\(ThreadName.readable(thread.name))' in \(thread.call)()"
      waiters[thread.id] = (name, frames[thread.id] ?? Snapshot.none)
    }
    symbols.prepare(stacks: waiters.values.map(\.frames))
    return waiters
  }

  /// By number of the descriptor: the global variable that has it. Such holders have no block.
  private func variables() -> [UInt32: String] {
    let names = heap.file.holders.lazy.filter { $0.block == Snapshot.none }.map {
      ($0.descriptor, Demangler.readable(heap.file.snapshot.strings[$0.field]))
    }
    return Dictionary(names) { first, _ in first }
  }

  // MARK: Threads

  /// Those whose stacks retain most first.
  func threads() -> [HeapReport.ThreadRow] {
    var stacks: [UInt32: HeapFile.ThreadStack] = [:]
    for stack in heap.file.stacks { stacks[stack.thread] = stack }
    var retained: [UInt32: (bytes: UInt64, count: Int)] = [:]
    for (number, root) in heap.file.roots.enumerated() where root.kind == HeapFile.Root.stack {
      let node = heap.dominators.nodes.node(ofRoot: number)
      retained[root.thread, default: (0, 0)].bytes &+= heap.dominators.retained[node]
      retained[root.thread]?.count += max(0, Int(heap.dominators.subtree[node]) - 1)
    }
    let shown = resources.threads.prefix(Self.most)
    symbols.prepare(stacks: shown.map { stacks[$0.id]?.frames ?? Snapshot.none })
    let rows = shown.map { thread in
      let stack = stacks[thread.id]
      return HeapReport.ThreadRow(
        id: Int(thread.id), name: ThreadName.readable(thread.name), stackBytes: Int(clamping: stack?.reserved ?? 0),
        residentBytes: Int(clamping: stack?.resident ?? 0),
        retainedBytes: Int(clamping: retained[thread.id]?.bytes ?? 0),
        count: retained[thread.id]?.count ?? 0, backtrace: symbols.backtrace(stack?.frames ?? Snapshot.none))
    }
    return rows.sorted { ($1.retainedBytes, $1.residentBytes, $0.id) < ($0.retainedBytes, $0.residentBytes, $1.id) }
  }
}
