extension Zombie {
  /// The call of a timer to its freed target, which the run loop noticed and did not make.
  ///
  /// - Parameter diagnostic: of kind `timerTarget`, with the target's type and address in its details.
  init(preventedBy diagnostic: Diagnostic) {
    func trace(_ role: String) -> Backtrace {
      Backtrace(frames: diagnostic.backtraces?.first { $0.role == role }?.frames ?? [])
    }
    let type = diagnostic.details["target"] ?? "unknown class"
    let selector = diagnostic.details["selector"] ?? ""
    let creation = trace("creation")
    var hash = StableHash("timerTarget")
    for part in [type, selector, creation.firstOwnFrame?.symbol ?? ""] { hash.mix(StableHash(part)) }
    self.init(
      kind: "timerTarget", type: type, message: diagnostic.message, address: diagnostic.details["address"] ?? "",
      thread: diagnostic.details["thread"] ?? "", count: diagnostic.details["count"].flatMap(Int.init) ?? 1,
      signature: hash.hexadecimal, member: selector.isEmpty ? nil : selector,
      details: creation.firstOwnFrame.map { "the timer was made in \(SymbolText.short($0.symbol))" },
      advice: "invalidate the timer before its target goes away, or make it with `holding: .weak`",
      allocation: trace("allocation"), deallocation: trace("deallocation"),
      access: diagnostic.backtrace ?? Backtrace())
  }
}
