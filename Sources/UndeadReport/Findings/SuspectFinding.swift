extension Finding {
  /// A group of suspects.
  package init(_ suspect: Suspect) {
    self.init(kind: .suspect, cause: suspect.kind.rawValue, signature: suspect.signature, title: Self.title(suspect))
    let (blame, reference) = Blame.of(suspect)
    culprit = blame
    count = suspect.count
    totalBytes = suspect.totalBytes
    objects = suspect.objects
    chains = Self.chains(suspect, culprit: reference)
    let mechanism = suspect.mechanism.flatMap { made in
      made.firstOwnFrame.map { Site(role: .mechanism, text: Self.holderType(suspect), frame: $0, backtrace: made) }
    }
    sites = [suspect.suspended.flatMap(Site.init(suspended:)), Site(allocated: suspect.allocation), mechanism]
      .compactMap(\.self)
    references = suspect.references
    advice = suspect.advice
    test = suspect.test
  }

  private static func title(_ suspect: Suspect) -> String {
    if let words = SuspectWords.of(suspect.kind), words.several != nil {
      let frame = suspect.kind == .taskOfDeadOwner ? suspect.suspended?.firstOwnFrame : nil
      return words.title + (frame.map { ", in \($0.symbol)" } ?? "")
    }
    let subject =
      suspect.cycle.map { "retain cycle of " + cycleTypes($0) } ?? suspect.objects.first?.type ?? "object"
    let holder = suspect.retainPath.first?.item.map { "a \($0) that it holds itself" } ?? holder(suspect)
    let weakly = suspect.holdsBackWeakly ?? false
    return
      "\(subject) held only by \(weakly ? holder.replacing("it holds itself", with: "it has a field for, which does not keep it") : holder)"
  }

  private static func chains(_ suspect: Suspect, culprit: Int?) -> [Chain] {
    let path = suspect.retainPath
    if let cycle = suspect.cycle {
      var chain = Chain(cycle: cycle, culprit: culprit)
      guard let first = path.first, first.root != nil else { return [chain] }
      // The way from there only if it does not begin with the cycle.
      guard path.count == 1 || first.type == cycle.first?.type else { return [Chain(path: path), chain] }
      chain.root = Chain.Root(first)
      return [chain]
    }
    var chains = path.isEmpty ? [] : [Chain(path: path)]
    if let back = suspect.holdsBack, let first = back.first {
      chains.append(
        Chain(
          role: .holdsBack, back, end: holderType(suspect), culprit: culprit,
          introduction: suspect.holdsBackWeakly ?? false
            ? "and \(first.type) has a field for that thing, which does not keep it:"
            : "and \(first.type) holds that thing itself:"))
    }
    return chains
  }

  /// What of libdispatch holds a suspect, by the class that its owner has it in.
  private static func dispatchObject(_ suspect: Suspect) -> String {
    let types = Set((suspect.holdsBack ?? []).map(\.type))
    if types.contains("Dispatch.DispatchIO") { return "DispatchIO" }
    return types.contains("Dispatch.DispatchWorkItem") ? "work item" : "dispatch source"
  }

  private static func holder(_ suspect: Suspect) -> String {
    let known = SuspectWords.of(suspect.kind)?.holder ?? "something"
    if suspect.kind == .thread { return known }
    return (suspect.kind == .dispatchSource ? "a \(dispatchObject(suspect))" : known) + " that it holds itself"
  }

  private static func holderType(_ suspect: Suspect) -> String {
    if let item = suspect.retainPath.first?.item { return "the \(item)" }
    if suspect.kind == .dispatchSource { return "the \(dispatchObject(suspect))" }
    return SuspectWords.of(suspect.kind)?.mechanism ?? "what holds it"
  }
}
