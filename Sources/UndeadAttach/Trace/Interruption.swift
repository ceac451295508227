import Glibc

/// System calls that a stop ends with EINTR, though no signal came.
///
/// Most calls go on by themselves when a thread does; those of signal(7), "Interruption of system calls and library
/// functions by stop signals", do not.
enum Interruption {
  /// recvfrom and the like end so if the socket has a time limit. Nothing was done yet where one of these says EINTR.
  private static let repeatable: Set<UInt64> = [
    0, 1, 19, 20,  // read, write, readv, writev
    43, 288,  // accept, accept4
    44, 45, 46, 47, 299, 307,  // sendto, recvfrom, sendmsg, recvmsg, recvmmsg, sendmmsg
    65, 220,  // semop, semtimedop
    69, 70,  // msgsnd, msgrcv
    128,  // rt_sigtimedwait
    208, 333,  // io_getevents, io_pgetevents
    232, 281, 441,  // epoll_wait, epoll_pwait, epoll_pwait2
    426,  // io_uring_enter
  ]

  /// Sees to it that a thread which just came to stand makes its call again, even if the tool is killed meanwhile.
  static func repair(_ thread: TracedThread) {
    guard thread.isAlive, thread.original == nil, let registers = try? thread.registers(),
      registers.rax == UInt64(bitPattern: -Int64(EINTR)), repeatable.contains(registers.orig_rax),
      !hasSignal(thread.tid)
    else { return }
    var again = registers
    again.rax = registers.orig_rax
    again.rip -= 2
    again.orig_rax = .max
    // epoll_wait and epoll_pwait have milliseconds in the fourth argument.
    let isEpoll = [232, 281].contains(registers.orig_rax)
    if isEpoll { again.r10 = rest(of: registers.r10) }
    if (try? thread.setRegisters(again)) != nil { thread.original = registers }
  }

  /// The rest of a time in milliseconds, with its end above it: `shorten_milliseconds` of `rest_of_time.c`. Else a call that is
  /// looked at again and again would never end.
  private static func rest(of timeout: UInt64) -> UInt64 {
    let whole = Int32(truncatingIfNeeded: timeout)
    guard whole > 0 else { return timeout }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let now = UInt32(truncatingIfNeeded: time.tv_sec * 1000 + time.tv_nsec / 1_000_000)
    var end = UInt32(timeout >> 32)
    var rest = Int32(bitPattern: end &- now)
    if end == 0 || rest > whole || rest < -(1 << 20) { (end, rest) = (now &+ UInt32(whole), whole) }
    return UInt64(max(end, 1)) << 32 | UInt64(max(rest, 0))
  }

  /// Before a thread goes on: a signal that came since ends the call, as it would have.
  static func settle(_ thread: TracedThread) {
    guard thread.isAlive, let original = thread.original else { return }
    if hasSignal(thread.tid) { try? thread.setRegisters(original) }
    thread.original = nil
  }

  /// The registers with which a thread goes on by itself, without the system's help: its call is made anew.
  static func selfContained(_ registers: Registers) -> Registers {
    var registers = registers
    // ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK of the kernel.
    let restarted: Set<Int64> = [-512, -513, -514, -516]
    if registers.orig_rax != .max, restarted.contains(Int64(bitPattern: registers.rax)) {
      registers.rax = registers.orig_rax
      registers.rip -= 2
    }
    registers.orig_rax = .max
    return registers
  }

  /// True if a signal waits for the thread which it takes.
  private static func hasSignal(_ tid: pid_t) -> Bool {
    guard let status = ProcFile.text("/proc/\(tid)/status") else { return true }
    var sets: [Substring: UInt64] = [:]
    for line in status.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2, parts[0] == "ShdPnd" || parts[0].hasPrefix("Sig"),
        let bits = UInt64(parts[1].drop { $0 == "\t" || $0 == " " }, radix: 16)
      {
        sets[parts[0]] = bits
      }
    }
    let waiting = (sets["SigPnd"] ?? 0) | (sets["ShdPnd"] ?? 0)
    return waiting & ~(sets["SigBlk"] ?? 0) != 0
  }
}
