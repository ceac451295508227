import UndeadSystem

/// Turns the suspects of a snapshot into groups with retain paths and advice.
final class SuspectBuilder {
  private let snapshot: Snapshot
  private let chain: ReferenceChain
  private let paths: RetainPaths
  private let names: NodeNames
  private let frames: FrameNames
  private let ways: Ways
  private let counts: ReferenceCounts
  /// What the types of deallocated owners have, by the suspect.
  private let ownerFields: [Snapshot.Index: [Snapshot.OwnerField]]

  init(_ snapshot: Snapshot, ways: Ways, counts: ReferenceCounts, names: NodeNames, frames: FrameNames) {
    self.snapshot = snapshot
    self.ways = ways
    self.counts = counts
    self.names = names
    self.frames = frames
    chain = ReferenceChain(snapshot)
    paths = RetainPaths(snapshot)
    ownerFields = Dictionary(grouping: snapshot.ownerFields, by: \.node)
  }

  func build() -> [Suspect] {
    // What outlived its scope is a leak, and said to be one.
    let watched = Set(snapshot.watched.map(\.node))
    var records = snapshot.suspects.filter { !$0.isOfFrame && !watched.contains($0.node) }
    guard !records.isEmpty else { return [] }
    frames.sortByStack(&records) { [snapshot] in snapshot.nodes[Int($0.node)].stack }
    var groups: [String: Suspect] = [:]
    var order: [String] = []
    for record in records {
      let suspect = suspect(record)
      if groups[suspect.signature]?.add(suspect) == nil {
        groups[suspect.signature] = suspect
        order.append(suspect.signature)
      }
    }
    return order.compactMap { groups[$0] }
  }

  private func suspect(_ record: Snapshot.SuspectRecord) -> Suspect {
    let node = Int(record.node)
    let block = snapshot.nodes[node]
    let mechanism = record.mechanism == Snapshot.none ? nil : Int(record.mechanism)
    var back = mechanism.map { ways.way(from: node, to: $0) } ?? []
    let isWeak = back.isEmpty
    if isWeak { back = mechanism.map { ways.way(from: node, to: $0, byNames: true) } ?? [] }
    let holdsBack = chain.references(back, names, frames)
    let kind = kind(record.kind, mechanism)
    let explanation = mechanism.map { snapshot.nodes[$0].explanation } ?? Snapshot.none
    var hash = StableHash(kind.rawValue)
    hash.mix(names.typeHash(of: node))
    for edge in back { hash.mix(names.labelHash(of: edge)) }
    hash.mix(frames.allocationHash(block.stack))
    let handles = DeadOwnerHandles(ownerFields[record.node] ?? [], of: kind, snapshot.strings)
    if kind == .taskOfDeadOwner, explanation != Snapshot.none { hash.mix(frames.allocationHash(explanation)) }
    let allocation = frames.backtrace(block.stack)
    let suspended = explanation == Snapshot.none ? nil : frames.backtrace(explanation)
    let path = retainPath(record, to: node, mechanism: mechanism)
    let stacks = [allocation, suspended].compactMap(\.self)
    let test = frames.tests?.test(stacks: stacks, references: path.map(\.reference))
    if let test { hash.mix(StableHash(test.fullName)) }
    let isHeldByLoop = path.first?.root?.kind == "runLoop"
    let references = counts.references(to: node, names, frames)
    var suspect = Suspect(
      kind: kind, signature: hash.hexadecimal, totalBytes: Int(clamping: block.size),
      objects: [LeakedObject(block, type: names.type(of: node))],
      retainPath: path, holdsBack: holdsBack.isEmpty ? nil : holdsBack, allocation: allocation, suspended: suspended,
      advice: isHeldByLoop
        ? Advice.text(for: path)
        : Advice.text(
          for: kind, holdsBack: holdsBack, suspended: suspended, path: path, isOfFrame: isOfFrame(path, references),
          isOfContinuation: path.contains {
            KnownTypes.holdsContinuation($0) && $0.package == nil && !$0.type.hasPrefix("Swift.Async")
          }, handlers: Self.handlers(references),
          handles: handles),
      test: test)
    if isWeak, !back.isEmpty { suspect.holdsBackWeakly = true }
    suspect.references = references
    if kind != .task, let mechanism, snapshot.nodes[mechanism].stack != Snapshot.none {
      suspect.mechanism = frames.backtrace(snapshot.nodes[mechanism].stack)
    }
    return suspect
  }

  /// Handlers of libdispatch that hold the object.
  private static func handlers(_ references: ReferenceCount?) -> [String] {
    (references?.holders ?? []).compactMap { holder in
      holder.type == "dispatch source refs"
        ? holder.field : holder.type.hasPrefix("dispatch queue") ? "cleanup handler" : nil
    }
  }

  /// Whether a frame of the task holds the object, and not what the task's closure captures.
  private func isOfFrame(_ path: [PathStep], _ references: ReferenceCount?) -> Bool {
    ["async frame", "resume context"].contains(path.dropLast().last?.field ?? "")
      && !(references?.holders.contains { $0.type == "Task" } ?? false)
  }

  /// What one thing alone keeps, without a field for it: what the program's own main function has is no news.
  func buildKeptAlone() -> [KeptAlone] {
    let others = Set(snapshot.watched.map(\.node) + snapshot.suspects.map(\.node))
    var groups: [String: KeptAlone] = [:]
    for record in snapshot.keptAlone where !others.contains(record.node) && names.isOfUser(Int(record.node)) {
      guard let kept = keptAlone(record) else { continue }
      if groups[kept.signature]?.add(kept) == nil { groups[kept.signature] = kept }
    }
    return groups.values.ordered(by: KeptAlone.mostFirst)
  }

  private func keptAlone(_ record: Snapshot.SuspectRecord) -> KeptAlone? {
    let (node, mechanism) = (Int(record.node), Int(record.mechanism))
    guard record.mechanism != Snapshot.none else { return nil }
    let explanation = snapshot.nodes[mechanism].explanation
    let suspended = explanation == Snapshot.none ? nil : frames.backtrace(explanation)
    if suspended?.frames.contains(where: { SymbolText.isAsyncMain($0.symbol) }) ?? false { return nil }
    // What a task holds besides is what it works with.
    if let suspended, !suspended.frames.contains(where: { isMember($0, ofTypeOf: node) }) { return nil }
    let kind = kind(record.kind & ~Snapshot.SuspectRecord.alone, mechanism)
    let item = paths.item(mechanism)
    let name = [item.flatMap { paths.text($0.kind) }, item.flatMap { paths.text($0.name) }.map { "\"\($0)\"" }]
    var hash = StableHash("keptAlone")
    for text in [kind.rawValue, suspended?.firstOwnFrame?.symbol ?? ""] + name.map({ $0 ?? "" }) {
      hash.mix(StableHash(text))
    }
    hash.mix(names.typeHash(of: node))
    hash.mix(frames.allocationHash(snapshot.nodes[node].stack))
    return KeptAlone(
      kind: kind, signature: hash.hexadecimal, type: names.type(of: node),
      size: Int(clamping: snapshot.nodes[node].size),
      item: item == nil ? nil : name.compactMap(\.self).joined(separator: " "),
      allocation: frames.backtrace(snapshot.nodes[node].stack), suspended: suspended)
  }

  /// Whether a function, or the one that it is a closure in, is a member of the type of an object.
  private func isMember(_ frame: Frame, ofTypeOf node: Int) -> Bool {
    let owner = FunctionName(frame.symbol).owner.joined(separator: ".")
    let type = TypeName.unspecialized(names.type(of: node))
    return !frame.system && !owner.isEmpty
      && (type == owner || type.hasSuffix("." + owner) || owner.hasPrefix(type + "."))
  }

  private func kind(_ number: UInt32, _ mechanism: Int?) -> Suspect.Kind {
    let item = mechanism.flatMap(paths.item).flatMap { paths.text($0.kind) }
    let kind = SuspectWords.all.first { $0.number == number }?.kind ?? Suspect.Kind(rawValue: "heldByUnknown")
    // What a run loop holds may be no timer.
    guard kind == .timer, let item, !["timer", "display link", "precise timer"].contains(item) else { return kind }
    return .runLoop
  }

  private func retainPath(_ record: Snapshot.SuspectRecord, to node: Int, mechanism: Int?) -> [PathStep] {
    var edges = paths.edges(of: record.path)
    let start = record.path == Snapshot.none ? mechanism : paths.firstNode(of: record.path)
    // A path may end at what fires or waits; the rest of the way is in the references.
    if let end = edges.last.map({ Int(snapshot.edges[$0].to) }) ?? start, end != node {
      edges += ways.way(from: end, to: node)
    }
    return paths.steps(root: record.path, edges, to: node, names, frames)
  }
}
