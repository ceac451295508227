/// What a report is made of: the snapshot of a process, and names for its code addresses.
package struct ReportInput: Sendable {
  /// What was found in the process.
  package var snapshot: LeakSnapshot
  /// Names for the code addresses of the snapshot.
  package var symbols: SymbolTable

  /// Takes a snapshot, with the symbols that were saved with it.
  package init(_ snapshot: LeakSnapshot) {
    self.init(snapshot, symbols: snapshot.symbols)
  }

  /// Takes a snapshot and a table of symbols.
  package init(_ snapshot: LeakSnapshot, symbols: SymbolTable) {
    self.snapshot = snapshot
    self.symbols = symbols
  }
}
