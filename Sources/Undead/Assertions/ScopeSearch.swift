import CUndead
import UndeadReport

/// The leaks of a snapshot by the scopes in which their objects were born.
struct ScopeSearch {
  private let snapshot: Snapshot
  private let relations = ScopeTable.relations
  /// Scope of each node that leaked or is a suspect.
  private let scopes: [Int: UInt32]
  private let selection: LeakSelection?

  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
    let relations = relations
    var scopes: [Int: UInt32] = [:]
    func add(_ node: Int) {
      let address = snapshot.nodes[node].address
      guard !ReportedLeaks.contains(address) else { return }
      scopes[node] = relations.scope(undead_scope_of_block(UnsafeRawPointer(bitPattern: UInt(address))))
    }
    for (index, node) in snapshot.nodes.enumerated() where node.isUnreachable { add(index) }
    for suspect in snapshot.suspects { add(Int(suspect.node)) }
    self.scopes = scopes
    // Without anything to look for, the passing case, it would be in vain.
    selection = scopes.values.contains { $0 != 0 } ? LeakSelection(snapshot) : nil
  }

  func innermost(of wanted: Set<UInt32>, around scope: UInt32) -> UInt32? {
    relations.innermost(of: wanted, around: scope)
  }

  /// A report of what was born in the scopes that `isWanted` names, which counts as reported from then on.
  func report(where isWanted: (UInt32) -> Bool, options: ReportOptions) -> LeakReport {
    let seeds = scopes.filter { isWanted($0.value) }.map(\.key)
    let suspects = snapshot.suspects.filter { seeds.contains(Int($0.node)) }
    let leaked = seeds.filter { snapshot.nodes[$0].state == .leaked || snapshot.nodes[$0].state == .raw }
    guard let selection, !leaked.isEmpty || !suspects.isEmpty else { return LeakReport() }
    let nodes = selection.connected(to: leaked) { node in
      guard let scope = scopes[node], !ReportedLeaks.contains(snapshot.nodes[node].address) else { return false }
      return scope == 0 || scope == ScopeTable.outside || isWanted(scope)
    }
    ReportedLeaks.insert(nodes.map { snapshot.nodes[$0].address })
    return selection.report(of: nodes, suspects: suspects, options: options)
  }
}
