import UndeadReport
import UndeadSystem

/// The functions of the program by code addresses; each address is looked up once in a session.
final class ProgramFunctions: Sendable {
  /// Nil for an address that is none of the program's.
  private let known = Mutex<[UInt64: String?]>([:])

  /// For each address the function that it is in, with module and type; that around a closure, too.
  func names(of addresses: Set<UInt64>, in modules: [Snapshot.Module]) -> [UInt64: String] {
    known.withLock { known in
      let new = addresses.filter { known[$0] == nil }
      if !new.isEmpty {
        let names = Symbolizer.programFunctions(at: Array(new), modules: modules)
        for address in new { known.updateValue(names[address], forKey: address) }
      }
      return addresses.reduce(into: [:]) { names, address in
        if let name = known[address] ?? nil { names[address] = name }
      }
    }
  }
}
