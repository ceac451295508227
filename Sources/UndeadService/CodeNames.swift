import UndeadReport
import UndeadSystem

/// Names of code that were looked up once: a scraper asks for the same ones every few seconds.
///
/// They hold as long as the same libraries are loaded at the same addresses.
package final class CodeNames: Sendable {
  private struct State {
    var modules: [Snapshot.Module] = []
    var table = SymbolTable()
    var notes: [String] = []
  }

  private let state = Mutex(State())
  package let symbolizer: Symbolizer
  /// Names of so many addresses are kept; a program has far fewer places that allocate.
  private static let most = 200_000

  /// - Parameter usesDebugInformation: false to go by symbol tables alone, without `llvm-symbolizer`.
  init(usesDebugInformation: Bool) {
    symbolizer =
      usesDebugInformation
      ? Symbolizer()
      : Symbolizer(environment: { $0 == "UNDEAD_SYMBOLIZER" ? "/dev/null" : nil })
    hidesNotes = !usesDebugInformation
  }

  private let hidesNotes: Bool

  /// Names of addresses, as they are looked up, and what the reader has to know of those that were not found.
  func look(up addresses: [UInt64], _ modules: [Snapshot.Module], known: SymbolTable) -> Symbolizer.Result {
    var (table, notes) = state.withLock { state in
      if state.modules != modules || state.table.frames.count > Self.most {
        state = State(modules: modules)
      }
      return (state.table, state.notes)
    }
    table.frames.merge(known.frames) { _, known in known }
    let missing = addresses.filter { table[$0] == nil }
    guard !missing.isEmpty else { return result(table, notes) }
    let found = symbolizer.symbolize(missing, modules: modules)
    table.frames.merge(found.symbols.frames) { known, _ in known }
    for note in found.notes where !notes.contains(note) { notes.append(note) }
    let (newTable, newNotes) = (table, notes)
    state.withLock { state in
      guard state.modules == modules else { return }
      state.table = newTable
      state.notes = newNotes
    }
    return result(table, notes)
  }

  private func result(_ table: SymbolTable, _ notes: [String]) -> Symbolizer.Result {
    var result = Symbolizer.Result()
    result.symbols = table
    result.notes = hidesNotes ? notes.filter { !$0.contains("UNDEAD_SYMBOLIZER") } : notes
    return result
  }

  /// The names of a snapshot's code.
  package func look(up snapshot: Snapshot) -> Symbolizer.Result {
    look(up: snapshot.lookupAddresses, snapshot.modules, known: snapshot.symbols)
  }
}
