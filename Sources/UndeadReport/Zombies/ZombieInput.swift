import UndeadSystem

/// The zombie log of a process, and names for its code addresses.
package struct ZombieInput: Sendable {
  /// What was found in the process.
  package var log: ZombieLog
  /// Names for each list of modules of the log, in the same order.
  package var symbols: [SymbolTable]
  /// File name of the process's executable; the kernel gives it to threads without a name of their own.
  package var program: String

  /// Takes a log and the names for the code addresses that ``lookupAddresses(ofModuleList:)`` lists.
  package init(_ log: ZombieLog, symbols: [SymbolTable] = [], program: String = "") {
    self.log = log
    self.symbols = symbols
    self.program = program
  }

  /// Takes a log and finds its names.
  ///
  /// - Returns: also what a reader of the report has to know about names that were not found.
  package static func symbolizing(
    _ log: ZombieLog, program: String, symbolizer: Symbolizer = Symbolizer()
  ) -> (input: ZombieInput, notes: [String]) {
    var input = ZombieInput(log, program: program)
    var notes: [String] = []
    for (number, modules) in log.moduleLists.enumerated() {
      let names = symbolizer.symbolize(input.lookupAddresses(ofModuleList: number), modules: modules)
      input.symbols.append(names.symbols)
      for note in names.notes where !notes.contains(note) { notes.append(note) }
    }
    return (input, notes)
  }

  /// Every code address that needs a name of a list of modules: return addresses minus 1, functions as they are.
  package func lookupAddresses(ofModuleList index: Int) -> [UInt64] {
    var addresses = Set<UInt64>()
    for event in log.events where event.modules == index {
      for address in event.allocation + event.deallocation + event.access where address > 0 {
        addresses.insert(address - 1)
      }
      if event.implementation != 0 { addresses.insert(event.implementation) }
    }
    return addresses.ordered()
  }
}

/// Backtraces and functions of a zombie log, by the modules that were mapped at the time.
struct ZombieNames {
  private let input: ZombieInput
  private var names: [FrameNames] = []
  private let unknown: FrameNames

  init(_ input: ZombieInput) {
    self.input = input
    for (number, modules) in input.log.moduleLists.enumerated() {
      var snapshot = Snapshot()
      snapshot.modules = modules
      let symbols = number < input.symbols.count ? input.symbols[number] : SymbolTable()
      names.append(FrameNames(snapshot, symbols: symbols))
    }
    unknown = FrameNames(Snapshot(), symbols: SymbolTable())
  }

  func backtrace(_ addresses: [UInt64], of event: ZombieLog.Event) -> Backtrace {
    (event.modules.map { names[$0] } ?? unknown).backtrace(returnAddresses: addresses)
  }

  /// The function that would have run, as the compiler named it; nil if it is not known.
  func implementation(of event: ZombieLog.Event) -> String? {
    guard event.implementation != 0, let index = event.modules, index < input.symbols.count else { return nil }
    // The outermost frame is the function itself, the others are what was inlined at its start.
    let frame = input.symbols[index][event.implementation]?.last
    return frame.flatMap { $0.symbol.contains("+0x") ? nil : $0.symbol }
  }
}
