extension Finding {
  /// Uses of a dead object.
  package init(_ zombie: Zombie) {
    self.init(kind: .zombie, cause: zombie.kind, signature: zombie.signature, title: zombie.message)
    details = zombie.details
    marks = [zombie.sampled == true ? "sampled" : nil, zombie.race == true ? "race" : nil].compactMap(\.self)
    count = zombie.count
    let freed = Backtrace(frames: Array(zombie.deallocation.framesAfterDeinit))
    // What escapes was not used yet; and what lies in front of an overflow may live.
    if zombie.kind != "escape" { sites.append(Self.site(.used, zombie.access, thread: zombie.thread)) }
    if zombie.kind != "overflow" || zombie.deallocationThread != nil {
      sites.append(Self.site(.freed, freed, thread: zombie.deallocationThread))
    }
    sites.append(Self.site(.allocated, zombie.allocation))
    advice = zombie.advice
  }

  /// Without what the runtime and libraries did inside of the first call of the program's.
  private static func site(_ role: Site.Role, _ backtrace: Backtrace, thread: String? = nil) -> Site {
    let own = backtrace.frames.firstIndex {
      !$0.system && !$0.isGenerated && !SymbolText.isAllocatingInitializer($0.symbol)
    }
    let frames = Array(backtrace.frames[(own ?? 0)...])
    let text = frames.isEmpty ? "at an unknown place" : nil
    // A deinit that nobody wrote has no line: what let its object go has one.
    let written = frames.first { !$0.system && !$0.isGenerated && !($0.isDeinit && ($0.isNear || $0.line == nil)) }
    return Site(
      role: role, text: text, frame: written ?? frames.first, backtrace: Backtrace(frames: frames), thread: thread)
  }
}
