import UndeadReport
import UndeadSystem

/// The libraries that name stacks of C memory.
package struct HeapModules {
  /// File names; the first one is that of code in no module.
  package var names: [String] { numbered.all }
  /// By index of STACKS, and at the end for blocks without one: index of `names`.
  private var ofStack: [UInt32]
  private let modules: [Snapshot.Module]
  private let snapshot: Snapshot
  private var numbered = Numbered<String>()

  private static let notKnown = UInt32.max

  package init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
    modules = snapshot.modules.sorted { $0.low < $1.low }
    ofStack = Array(repeating: Self.notKnown, count: snapshot.stacks.count)
    _ = numbered.number("unknown code")
  }

  /// Number of the module of the frame that allocated: the innermost that is none of malloc's own helpers.
  package mutating func module(ofStack stack: Snapshot.Index) -> UInt32 {
    guard stack != Snapshot.none else { return 0 }
    if ofStack[Int(stack)] != Self.notKnown { return ofStack[Int(stack)] }
    var first: String?
    var found: String?
    for address in snapshot.addresses(ofStack: stack) where address > 0 {
      guard let name = name(at: address - 1) else { continue }
      first = first ?? name
      if !Self.isHelper(name) {
        found = name
        break
      }
    }
    let number = (found ?? first).map { numbered.number($0) } ?? 0
    ofStack[Int(stack)] = number
    return number
  }

  package mutating func name(ofStack stack: Snapshot.Index) -> String {
    let number = Int(module(ofStack: stack))
    return names[number]
  }

  /// `strdup` and `operator new` allocate for their callers.
  private static func isHelper(_ name: String) -> Bool {
    ["libc.so", "libc-", "libstdc++", "libUndeadPreload", "ld-linux"].contains(where: name.hasPrefix)
  }

  private func name(at address: UInt64) -> String? {
    let next = modules.partitioningIndex { $0.low > address }
    guard next > 0, address < modules[next - 1].high else { return nil }
    let path = modules[next - 1].path
    return path.split(separator: "/").last.map(String.init) ?? path
  }
}
