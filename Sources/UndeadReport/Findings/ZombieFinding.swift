extension Finding {
  /// Uses of a dead object.
  package init(_ zombie: Zombie) {
    self.init(kind: .zombie, cause: zombie.kind, signature: zombie.signature, title: zombie.message)
    details = zombie.details
    marks = [zombie.sampled == true ? "sampled" : nil, zombie.race == true ? "race" : nil].compactMap(\.self)
    count = zombie.count
    sites = [
      Self.site(.used, zombie.access, thread: zombie.thread),
      Self.site(
        .freed, Backtrace(frames: Array(zombie.deallocation.framesAfterDeinit)), thread: zombie.deallocationThread),
      Self.site(.allocated, zombie.allocation),
    ]
    advice = zombie.advice
  }

  /// Without what the runtime and libraries did inside of the first call of the program's.
  private static func site(_ role: Site.Role, _ backtrace: Backtrace, thread: String? = nil) -> Site {
    let own = backtrace.frames.firstIndex { !$0.system && !SymbolText.isAllocatingInitializer($0.symbol) }
    let frames = Array(backtrace.frames[(own ?? 0)...])
    let text = frames.isEmpty ? "at an unknown place" : nil
    return Site(role: role, text: text, frame: frames.first, backtrace: Backtrace(frames: frames), thread: thread)
  }
}
