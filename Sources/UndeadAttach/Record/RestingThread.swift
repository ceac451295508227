import UndeadSystem

/// Threads that may be asked to call something, as they hold no lock of the loader or of malloc: they wait in a system call
/// in which nobody does, or, if none is seen to wait, compute in code that neither of them calls.
struct RestingThread {
  private let pid: pid_t
  private let library: CLibrary
  private let memory: TargetMemory
  private let maps: MemoryMap

  init(pid: pid_t, library: CLibrary, memory: TargetMemory, maps: MemoryMap) {
    self.pid = pid
    self.library = library
    self.memory = memory
    self.maps = maps
  }

  /// Numbers of <asm/unistd_64.h>. Neither malloc nor the loader makes any of these.
  private static let calls: Set<UInt64> = [
    7, 271,  // poll, ppoll
    23, 270,  // select, pselect6
    34, 130, 128,  // pause, rt_sigsuspend, rt_sigtimedwait
    35, 230,  // nanosleep, clock_nanosleep
    219,  // restart_syscall: one of those with a time limit that was interrupted before; locks have none
    43, 288, 45, 47,  // accept, accept4, recvfrom, recvmsg
    61, 247,  // wait4, waitid
    232, 281, 441,  // epoll_wait, epoll_pwait, epoll_pwait2
  ]
  private static let read: UInt64 = 0
  private static let futex: UInt64 = 202
  /// What conditions, semaphores and joins wait with. Locks wait with FUTEX_WAIT, malloc's among them.
  private static let futexWaitBitset: UInt64 = 9
  private static let futexCommand: UInt64 = 0x7f
  /// For so many seconds only threads that wait are looked for.
  private static let patience = 1.0
  /// How much of a stack is searched for the frame of a signal handler.
  private static let searchedStack = 256 << 10

  /// Brings one to a stand.
  ///
  /// - Parameter limit: in seconds.
  /// - Throws: `AttachError` (again) if none comes to rest in time.
  func find(limit: Double) throws(AttachError) -> TracedThread {
    let deadline = TracedThread.deadline(limit)
    let patience = TracedThread.deadline(Self.patience)
    while true {
      for tid in candidates() {
        if let thread = try stop(tid, where: rests) { return thread }
      }
      if SystemClock.now() > patience {
        for tid in ProcFile.liveThreads(of: pid) {
          if let thread = try stop(tid, where: computes) { return thread }
        }
      }
      guard SystemClock.now() < deadline else { break }
      usleep(1000)
    }
    throw .again(
      "no thread of process \(pid) came to a place within \(limit) s at which it could open the library: all were at work in "
        + "the C library or in signal handlers; try again")
  }

  /// Threads that seem to wait, those first whose wait goes on as it was.
  private func candidates() -> [pid_t] {
    var found: [pid_t] = []
    for tid in ProcFile.liveThreads(of: pid) {
      guard let text = ProcFile.text("/proc/\(pid)/task/\(tid)/syscall") else { continue }
      let fields = text.split(separator: " ").map {
        UInt64($0.hasPrefix("0x") ? $0.dropFirst(2) : $0, radix: $0.hasPrefix("0x") ? 16 : 10)
      }
      guard fields.count == 9, let number = fields[0], let operation = fields[2] else { continue }
      if isAllowed(number, operation) { found.append(tid) }
    }
    return found
  }

  private func isAllowed(_ number: UInt64, _ second: UInt64) -> Bool {
    if number == Self.futex { return second & Self.futexCommand == Self.futexWaitBitset }
    return number == Self.read || Self.calls.contains(number)
  }

  private func stop(_ tid: pid_t, where isSafe: (Registers) -> Bool) throws(AttachError) -> TracedThread? {
    let thread: TracedThread
    do throws(PtraceError) {
      thread = try TracedThread.seize(tid)
    } catch {
      if error.code == ESRCH { return nil }
      throw AttachError.refused(error.code, pid: pid, tid: tid)
    }
    if thread.standStill(by: TracedThread.deadline(1)), thread.isAlive, let registers = try? thread.registers(),
      isSafe(registers)
    {
      return thread
    }
    LiveCall.letGo(thread)
    return nil
  }

  private func rests(_ registers: Registers) -> Bool {
    guard registers.orig_rax != .max, isAllowed(registers.orig_rax, registers.rsi), isInLibrary(registers.rip),
      SurvivableCall.fits(registers, in: maps), let region = maps.region(containing: registers.rsp)
    else { return false }
    return !isInSignalHandler(registers.rsp, end: region.end)
  }

  /// Neither malloc nor the loader calls code of other images while it holds a lock, but for constructors, where a library
  /// may be opened.
  private func computes(_ registers: Registers) -> Bool {
    guard registers.orig_rax == .max, let code = maps.region(containing: registers.rip), code.isExecutable,
      code.path.hasPrefix("/"), !code.path.hasPrefix("/memfd:\(LiveCall.fileName)"), !isInLibrary(registers.rip),
      !Self.isLoader(code.path), SurvivableCall.fits(registers, in: maps),
      let stack = maps.region(containing: registers.rsp)
    else { return false }
    return !isInSignalHandler(registers.rsp, end: stack.end)
  }

  private static func isLoader(_ path: String) -> Bool {
    path.split(separator: "/").last?.hasPrefix("ld-") ?? true
  }

  private func isInLibrary(_ address: UInt64) -> Bool {
    library.image.code.contains { $0.contains(address) }
  }

  /// A handler may have interrupted anything.
  private func isInSignalHandler(_ stack: UInt64, end: UInt64) -> Bool {
    let depth = min(Int(end - stack), Self.searchedStack)
    let frames = SignalFrames.interrupted(above: stack, depth: depth, library: library, memory: memory)
    return frames.map { !$0.isEmpty } ?? true
  }
}
