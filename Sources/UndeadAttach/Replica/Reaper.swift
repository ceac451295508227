import UndeadSystem

/// Has a program take note of the ends of copies, which it does not know of.
struct Reaper {
  private let program: TargetProgram
  /// Of wait4, but for the process: __WALL and WNOHANG, as nobody is notified of a copy's end.
  static let waiting: [UInt64] = [0, 0, 0x4000_0001, 0]

  init(_ program: TargetProgram) { self.program = program }

  /// One thread of the program stands still for a moment, and makes one call; again, for some seconds, as long as none has
  /// come to stand in time or the copy's end has not arrived there.
  ///
  /// - Parameters:
  ///   - number: of the copy, as the program numbers it.
  ///   - paused: grows by the nanoseconds that the thread stood still.
  /// - Returns: false if the program has still not taken note.
  func reap(_ number: pid_t, _ paused: inout UInt64) -> Bool {
    guard number > 0 else { return true }
    let end = TracedThread.deadline(5)
    while !hasNoted(number, &paused) {
      guard SystemClock.now() < end else { return false }
      usleep(5000)
    }
    return true
  }

  /// False if it is worth another attempt.
  private func hasNoted(_ number: pid_t, _ paused: inout UInt64) -> Bool {
    let call = SurvivableCall(library: program.library, memory: program.memory)
    let maps = MemoryMap(process: program.anchor) ?? .unknown
    let threads = ProcFile.liveThreads(of: program.pid)
    for tid in threads {
      let start = SystemClock.now()
      guard let thread = try? TracedThread.seize(tid) else { continue }
      defer { thread.detach() }
      guard thread.standStill(by: TracedThread.deadline(0.2)), thread.isAlive else { continue }
      Interruption.repair(thread)
      defer { Interruption.settle(thread) }
      guard let registers = try? thread.registers(), SurvivableCall.fits(registers, in: maps),
        let state = try? call.prepare(thread)
      else { continue }
      let noted = try? call.run(
        SystemCall.wait4, [UInt64(number)] + Self.waiting.dropFirst(), on: thread, state, by: TracedThread.deadline(5))
      try? call.finish(thread, state)
      paused += SystemClock.now() - start
      // 0: it has not ended for the program yet.
      return noted != 0
    }
    return threads.isEmpty
  }
}
