import UndeadReport
import UndeadSystem

/// Large objects that one closure alone keeps, which reads a small part of them.
///
///     handlers.append { print(model.title) }     Array -> (code, Model) -> a large array
///
/// What a closure reads, its code says (``FieldReads``): no word of memory does. Where that is not known, nothing is reported.
struct WholeObjects {
  /// A closure, and the object that it captures.
  private struct Key: Hashable {
    var function: UInt64
    /// Where the context has the object; nil if the object itself is the context.
    var captured: UInt32?
    var group: Int
  }

  private static let leastRetained: UInt64 = 1 << 10

  static func drafts(
    _ heap: LoadedHeap, _ places: HeapLocations, _ limits: HeapFindingLimits, _ program: ProgramCode
  ) -> [HeapFindingDraft] {
    let blocks = withoutKnown(captured(heap, limits), heap, limits)
    var layouts = Layouts()
    var drafts: [HeapFindingDraft] = []
    for (key, blocks) in blocks.ordered(by: { ($0.value[0], $0.key.function) < ($1.value[0], $1.key.function) }) {
      guard let (code, linked) = program.code(at: key.function),
        let fields = fields(read: key, code, linked, heap, &layouts)
      else {
        continue
      }
      let kept = blocks.map { ($0, bytes(keptBy: fields, of: $0, heap)) }
      let retained = blocks.reduce(0) { $0 &+ heap.dominators.retained[$1] }
      let used = kept.reduce(UInt64(0)) { $0 &+ ($1.1 ?? heap.dominators.retained[$1.0]) }
      guard used < retained / 4, retained &- used >= limits.bytes else { continue }
      let block = blocks.max { heap.dominators.retained[$0] < heap.dominators.retained[$1] }!
      let names = fields.map { "`\($0.name)`" }
      drafts.append(
        HeapFindingDraft(
          kind: .wholeObject,
          title: "a closure keeps \(blocks.count == 1 ? "a whole object" : "whole objects") for "
            + "\(names.count == 1 ? "one field" : "a few fields")",
          objects: blocks.count, bytes: retained &- used, block: block,
          container: places.name(Int(places.holder[block])), closure: key.function,
          advice: "the closure reads \(list(names)) and no more: unless it needs later values, "
            + "let it capture \(names.count == 1 ? "that" : "these"), as `[\(fields[0].name) = object.\(fields[0].name)]`"
        ))
    }
    return drafts
  }

  private static func list(_ names: [String]) -> String {
    names.count < 2 ? names.joined() : names.dropLast().joined(separator: ", ") + " and " + names.last!
  }

  /// Objects of the program that one closure alone keeps, where those of a closure together retain much.
  private static func captured(_ heap: LoadedHeap, _ limits: HeapFindingLimits) -> [Key: [Int]] {
    let graph = heap.graph
    var found: [Key: [Int]] = [:]
    for block in 0..<graph.count where heap.dominators.retained[block] >= leastRetained {
      let group = heap.types.groups[heap.group(block)]
      guard group.role == .program, group.kind == .object, isOwnedOnce(block, heap), let edge = edge(to: block, heap)
      else {
        continue
      }
      let place = graph.place(edge)
      let holder = Int(heap.paths.holder[block])
      if place.function != 0 {
        found[Key(function: place.function, captured: nil, group: heap.group(block)), default: []].append(block)
      } else if heap.types.groups[heap.group(holder)].kind == .context, !place.isElement, isOwnedOnce(holder, heap),
        let outer = self.edge(to: holder, heap), graph.place(outer).function != 0
      {
        let key = Key(function: graph.place(outer).function, captured: place.offset, group: heap.group(block))
        found[key, default: []].append(block)
      }
    }
    return found.filter { isMuch($0.value, heap, limits) }
  }

  private static func isMuch(_ blocks: [Int], _ heap: LoadedHeap, _ limits: HeapFindingLimits) -> Bool {
    blocks.reduce(0) { $0 &+ heap.dominators.retained[$1] } >= limits.bytes
  }

  /// Without objects that others refer to, even weakly: these may count on the closure to keep them.
  private static func withoutKnown(
    _ blocks: [Key: [Int]], _ heap: LoadedHeap, _ limits: HeapFindingLimits
  ) -> [Key: [Int]] {
    guard !blocks.isEmpty else { return [:] }
    let graph = heap.graph
    let captured = Set(blocks.values.joined())
    var known = Set(
      graph.rootEdges.lazy.filter { graph.file.roots[Int($0.root)].kind == HeapFile.Root.global }
        .map { Int($0.target) })
    for edge in 0..<graph.targets.count {
      let target = Int(graph.targets[edge])
      guard captured.contains(target), edge != Int(heap.paths.edge[target]), !graph.place(edge).isImplied,
        !heap.dominators.dominates(target, graph.source(of: edge))
      else { continue }
      known.insert(target)
    }
    return blocks.mapValues { $0.filter { !known.contains($0) } }.filter { isMuch($0.value, heap, limits) }
  }

  /// The only reference that owns a block.
  private static func edge(to block: Int, _ heap: LoadedHeap) -> Int? {
    let edge = heap.paths.edge[block]
    guard edge != HeapPaths.none, heap.dominators.immediate[block] == heap.paths.holder[block] else { return nil }
    return Int(edge)
  }

  /// Blocks of C count what they captured, but of their words no type says so.
  private static func isOwnedOnce(_ block: Int, _ heap: LoadedHeap) -> Bool {
    heap.ownership.counted[block] <= 1 && heap.graph.strongCounts[block] == 1
  }

  private struct Field {
    var name: String
    var range: Range<Int64>
  }

  /// The stored properties of which the closure reads something; nil if it does more with the object, or that is not known.
  private static func fields(
    read key: Key, _ code: ELFCode, _ linked: UInt64, _ heap: LoadedHeap, _ layouts: inout Layouts
  ) -> [Field]? {
    let type = heap.types.groups[key.group].name
    guard let layout = layouts.layout(of: type, code),
      let offsets = FieldReads.offsets(
        by: linked, in: code, metadata: layout.metadata, captured: key.captured.map(Int64.init)),
      !offsets.isEmpty, offsets.allSatisfy({ $0 >= layout.fields[0].range.lowerBound })
    else { return nil }
    return layout.fields.filter { field in offsets.contains { field.range.contains($0) } }
  }

  /// Of classes, each looked for once.
  private struct Layouts {
    private var known: [String: (metadata: UInt64, fields: [Field])?] = [:]

    mutating func layout(of type: String, _ code: ELFCode) -> (metadata: UInt64, fields: [Field])? {
      if let known = known[type] { return known }
      let found = WholeObjects.layout(of: type, code)
      known[type] = .some(found)
      return found
    }
  }

  /// Where a class of the program has its stored properties: the compiler names the variables that hold their offsets.
  private static func layout(of type: String, _ code: ELFCode) -> (metadata: UInt64, fields: [Field])? {
    let word: UInt64 = 8
    let name = type.split(separator: ".").last.map(String.init) ?? type
    let variables = code.variables(endingWith: ["CN", "vpWvd"], containing: name)
    guard let metadata = variables["type metadata for \(type)"] else { return nil }
    // Fields of a class of another module may move when the program starts, and with them those behind.
    if case .name = code.reference(at: metadata &+ word) { return nil }
    let start = "direct field offset for \(type)."
    var fields: [Field] = []
    for (variable, address) in variables where variable.hasPrefix(start) {
      guard let offset = code.number(at: address).flatMap(Int64.init(exactly:)), offset >= 16 else { return nil }
      let field = variable.dropFirst(start.count).prefix { $0 != " " }
      fields.append(Field(name: String(field), range: offset..<offset))
    }
    fields = fields.ordered { $0.range.lowerBound < $1.range.lowerBound }
    guard !fields.isEmpty else { return nil }
    for number in fields.indices {
      let end = number + 1 < fields.count ? fields[number + 1].range.lowerBound : Int64.max
      fields[number].range = fields[number].range.lowerBound..<end
    }
    return (metadata, fields)
  }

  /// What fields of an object keep of what it retains; nil if they lead back to it, and so to all of it.
  private static func bytes(keptBy fields: [Field], of object: Int, _ heap: LoadedHeap) -> UInt64? {
    let graph = heap.graph
    var bytes: UInt64 = 0
    var met: Set<Int> = []
    var open: [Int] = []
    func visit(_ edge: Int) {
      let target = Int(graph.targets[edge])
      guard graph.place(edge).strength != HeapFile.Strength.none || target == object,
        heap.dominators.dominates(object, target), met.insert(target).inserted
      else { return }
      open.append(target)
    }
    for edge in graph.edges(of: object) {
      let place = graph.place(edge)
      guard !place.isElement, !place.isImplied, fields.contains(where: { $0.range.contains(Int64(place.offset)) })
      else {
        continue
      }
      visit(edge)
    }
    while let block = open.popLast() {
      if block == object { return nil }
      bytes &+= graph.size(block)
      for edge in graph.edges(of: block) { visit(edge) }
    }
    return bytes
  }
}
