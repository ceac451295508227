import UndeadReport

/// The leaks of a snapshot by the scopes in which their objects were born.
struct ScopeSearch {
  private let snapshot: Snapshot
  private let session: DetectionSession
  private let relations: ScopeTable.Relations
  /// Scope of each node that leaked or is a suspect.
  private let scopes: [Int: UInt32]
  private let selection: LeakSelection?

  init(_ snapshot: Snapshot, in session: DetectionSession) {
    self.snapshot = snapshot
    self.session = session
    let (relations, reported) = (session.scopes.relations, session.reported)
    self.relations = relations
    var scopes: [Int: UInt32] = [:]
    func add(_ node: Int) {
      scopes[node] = relations.scope(session.instrument.markOfBlock(snapshot.nodes[node].address))
    }
    for (index, node) in snapshot.nodes.enumerated() where node.isUnreachable && !reported.contains(node.address) {
      add(index)
    }
    for node in snapshot.suspects.map({ Int($0.node) })
    where !reported.containsSuspect(snapshot.nodes[node].address) {
      add(node)
    }
    // Without anything to look for, the passing case, it would be in vain.
    let selection = scopes.values.contains { $0 != 0 } ? LeakSelection(snapshot, reported: reported) : nil
    if let selection {
      // A part of a reported leak that was still in use then belongs to that report.
      let known = snapshot.nodes.indices.filter {
        snapshot.nodes[$0].isUnreachable && reported.contains(snapshot.nodes[$0].address)
      }
      for node in selection.held(by: known) { scopes[node] = nil }
    }
    self.scopes = scopes
    self.selection = selection
  }

  func innermost(of wanted: Set<UInt32>, around scope: UInt32) -> UInt32? {
    relations.innermost(of: wanted, around: scope)
  }

  /// A report of what was born in a scope, but not in another one of `all` that lies in it. It counts as reported from
  /// then on.
  func report(of scope: AllocationScope, among all: Set<UInt32>, options: ReportOptions) -> LeakReport {
    report(of: scope.number, among: all, and: scope.function.map(strays) ?? [], options)
  }

  /// A scope whose check may have missed something.
  struct Expected: Sendable {
    /// The function of the test.
    var function: String?
    /// What its check left out.
    var options: ReportOptions
  }

  /// What the checks of these scopes did not find: for each one with any, in their order.
  ///
  /// Only if an object of the program is among it: what the toolchain keeps for itself may be gone by now.
  func missed(by scopes: [UInt32: Expected]) -> [(scope: UInt32, report: LeakReport)] {
    let numbers = Set(scopes.keys)
    let functions = functions(of: strays).filter { isOfProgram($0.key) }
    let own = self.scopes.filter { isOfProgram($0.key) }
    var found = Set(own.values.compactMap { innermost(of: numbers, around: $0) })
    found.formUnion(scopes.filter { $0.value.function.map(functions.values.joined().contains) ?? false }.keys)
    return found.filter { !relations.isExcluded($0) }.sorted().compactMap { scope in
      guard let expected = scopes[scope] else { return nil }
      let strays = expected.function.map(strays) ?? []
      let report = report(of: scope, among: numbers, and: strays, expected.options)
      return report.leaks.isEmpty ? nil : (scope, report)
    }
  }

  private func isOfProgram(_ node: Int) -> Bool {
    let record = snapshot.nodes[node]
    return record.isUnreachable && record.type != Snapshot.none && snapshot.types[Int(record.type)].isOfProgram
  }

  /// What was born while scopes were open and that none of them reported.
  func unattributed() -> LeakReport {
    report([], where: { $0 != 0 && !relations.isExcluded($0) }, session.environment.suppressions())
  }

  private func report(
    of scope: UInt32, among all: Set<UInt32>, and strays: [Int], _ options: ReportOptions
  ) -> LeakReport {
    report(strays, where: { innermost(of: all, around: $0) == scope && !relations.isExcluded($0) }, options)
  }

  private func report(_ nodes: [Int], where isWanted: (UInt32) -> Bool, _ options: ReportOptions) -> LeakReport {
    let seeds = Set(nodes).union(scopes.filter { isWanted($0.value) }.keys)
    let suspects =
      snapshot.suspects.filter { !$0.isOfFrame && seeds.contains(Int($0.node)) }
      + (selection?.setsOfFrames(with: seeds) ?? [])
    let leaked = seeds.filter { node in
      let record = snapshot.nodes[node]
      return (record.state == .leaked || record.state == .raw) && !session.reported.contains(record.address)
    }
    guard let selection, !leaked.isEmpty || !suspects.isEmpty else { return LeakReport() }
    let nodes = selection.connected(to: leaked) { node in
      guard let scope = scopes[node], !session.reported.contains(snapshot.nodes[node].address) else { return false }
      return scope == 0 || scope == ScopeTable.outside || isWanted(scope)
    }
    session.reported.insert(nodes.map { snapshot.nodes[$0].address })
    session.reported.insertSuspects(suspects.map { snapshot.nodes[Int($0.node)].address })
    return selection.report(of: nodes, suspects: suspects, options: options)
  }

  /// What leaked and was born in no scope that is known, but on a way through the function.
  private func strays(allocatedIn function: String) -> [Int] {
    functions(of: strays).filter { $0.value.contains(function) }.map(\.key)
  }

  /// What leaked and was born in no scope that is known.
  private var strays: [Int] {
    scopes.filter { $0.value == ScopeTable.outside && snapshot.nodes[$0.key].isUnreachable }.map(\.key)
  }

  /// The functions of the program on the ways to the allocations.
  private func functions(of nodes: [Int]) -> [Int: Set<String>] {
    if nodes.isEmpty { return [:] }
    let names = session.functions.names(of: Set(nodes.flatMap(callSites)), in: snapshot.modules)
    return Dictionary(uniqueKeysWithValues: nodes.map { ($0, Set(callSites(of: $0).compactMap { names[$0] })) })
  }

  /// Code addresses of the calls on the way to the allocation.
  private func callSites(of node: Int) -> [UInt64] {
    snapshot.addresses(ofStack: snapshot.nodes[node].stack).filter { $0 > 0 }.map { $0 - 1 }
  }
}
