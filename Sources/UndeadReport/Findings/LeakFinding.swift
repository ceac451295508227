import UndeadSystem

extension Finding {
  /// A group of leaks.
  package init(_ leak: Leak) {
    self.init(kind: .leak, cause: leak.kind.rawValue, signature: leak.signature, title: Self.title(leak))
    let (blame, reference) = Blame.of(leak)
    culprit = blame
    count = leak.count
    objectCount = leak.objectCount
    totalBytes = leak.totalBytes
    objects = leak.objects
    chains = Self.chains(leak, culprit: reference)
    sites = Self.sites(leak)
    references = leak.isOfDependency(leak.references) ? nil : leak.references
    alsoLeaked = leak.alsoLeaked
    advice = leak.advice
    certainty = leak.kind == .abandoned ? nil : Certainty.text(leak.certainty)
    test = leak.test
    reason = leak.reason
  }

  private static func title(_ leak: Leak) -> String {
    let type = leak.objects.first?.type ?? "object"
    return switch leak.kind {
    case .retainCycle where leak.cycle?.isEmpty ?? true: "retain cycle of \(leak.objects.first?.type ?? "objects")"
    case .retainCycle where leak.cycle?.package != nil:
      "objects of \(leak.cycle?.package ?? "") that were never ended: \(cycleTypes(leak.cycle ?? []))"
    case .retainCycle: "retain cycle of \(cycleTypes(leak.cycle ?? []))"
    case .unreferenced where leak.suspended != nil: "suspended task that nobody can resume"
    case .unreferenced where type == NodeNames.rawMemory: "raw memory that nothing refers to"
    case .unreferenced: "\(type) that nothing refers to"
    case .abandoned: "\(type) outlives its scope" + (leak.scope.map { " \"\($0.name)\"" } ?? "")
    default: "\(leak.kind.rawValue) \(type)"
    }
  }

  /// "App.Owner and App.Child".
  static func cycleTypes(_ cycle: [Reference]) -> String {
    var types: [String] = []
    for reference in cycle where !types.contains(reference.type) { types.append(reference.type) }
    switch types.count {
    case 0...2: return types.joined(separator: " and ")
    default: return "\(types[0]), \(types[1]) and \(Quantity.of(types.count - 2, "more type"))"
    }
  }

  private static func chains(_ leak: Leak, culprit: Int?) -> [Chain] {
    var chains: [Chain] = []
    if let path = leak.retainPath, let last = path.last {
      chains.append(Chain(path: path, culprit: leak.cycle == nil || leak.kind == .abandoned ? culprit : nil))
      if let cycle = leak.cycle {
        let isHeldBack = path.dropLast().contains { step in cycle.contains { $0.type == step.type } }
        let introduction =
          isHeldBack || path.count > 1 ? "holds what holds it:" : "is in a retain cycle, which keeps it as well:"
        chains.append(Chain(cycle: cycle, introduction: "and \(last.type) \(introduction)"))
      }
    } else if let cycle = leak.cycle {
      chains.append(Chain(cycle: cycle, culprit: culprit, omitted: leak.omittedReferences ?? 0))
    }
    for cycle in leak.innerCycles ?? [] {
      let introduction = "it holds another cycle, which leaks also without it:"
      chains.append(Chain(cycle: cycle, role: .innerCycle, introduction: introduction))
    }
    return chains
  }

  private static func sites(_ leak: Leak) -> [Site] {
    var allocated = Site(allocated: leak.allocation)
    (allocated.otherCallers, allocated.hiddenCallers) = otherCallers(leak)
    var sites = [leak.suspended.flatMap(Site.init(suspended:)), allocated].compactMap(\.self)
    if let scope = leak.scope {
      sites.append(
        Site(
          role: .scope, text: "\"\(scope.name)\" ended",
          frame: scope.backtrace.site, backtrace: scope.backtrace))
    }
    return sites
  }

  private static let callerLimit = 3

  /// Who else called the allocating function, and how many ways are not among these.
  private static func otherCallers(_ leak: Leak) -> ([Frame], hidden: Int) {
    var callers: [Frame] = []
    var seen = Set<String>()
    for other in leak.otherAllocations ?? [] {
      let path = other.callPath
      let common = zip(path, leak.allocation.callPath).prefix { $0 == $1 }.count
      guard let frame = path.dropFirst(common).first else { continue }
      let place = "\(StackText.function(frame)) \(frame.file ?? "") \(frame.line ?? 0)"
      if seen.insert(place).inserted { callers.append(frame) }
    }
    let shown = Array(callers.prefix(callerLimit))
    return (shown, shown.isEmpty ? 0 : max(0, max(0, leak.allocationPaths ?? 0) - 1 - shown.count))
  }
}

extension Leak {
  /// True if the counted object is a dependency's: nobody can do anything about its references.
  fileprivate func isOfDependency(_ count: ReferenceCount?) -> Bool {
    guard let type = count?.type ?? cycle?.first?.type else { return false }
    return cycle?.contains { $0.type == type && $0.package != nil } ?? false
  }
}

extension Site {
  /// Where an object was allocated.
  package init(allocated backtrace: Backtrace) {
    let frame = backtrace.site
    let text = frame == nil ? "at an unknown place: no backtrace was recorded" : nil
    self.init(role: .allocated, text: text, frame: frame, backtrace: backtrace)
    called = backtrace.start?.called
  }

  /// Where a task waits; nil if its stack is empty.
  init?(suspended backtrace: Backtrace) {
    guard let frame = backtrace.site else { return nil }
    self.init(role: .suspended, frame: frame, backtrace: backtrace)
  }
}
