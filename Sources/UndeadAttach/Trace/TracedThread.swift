import CUndeadTrace
import UndeadSystem

package typealias Registers = user_regs_struct

/// A thread that this thread of the tool traces; it stands still between two calls.
package final class TracedThread {
  package let tid: pid_t
  /// False once it has ended.
  package private(set) var isAlive = true
  private(set) var stop = WaitStatus(bits: 0)
  /// How it stood when its process was stopped, if its registers were changed since.
  var original: Registers?

  init(tid: pid_t) { self.tid = tid }

  // MARK: Stopping

  /// Begins to trace a thread, and asks it to stand still.
  ///
  /// - Throws: what the system said.
  static func seize(_ tid: pid_t) throws(PtraceError) -> TracedThread {
    try Ptrace.request(Ptrace.seize, tid, 0, Ptrace.systemCallGood)
    let thread = TracedThread(tid: tid)
    _ = try? Ptrace.request(Ptrace.interrupt, tid)
    return thread
  }

  /// Waits until the thread stands still for us, not for a signal of its own: that one is delivered first.
  ///
  /// - Returns: false if it had not come to that by `deadline`.
  func standStill(by deadline: UInt64) -> Bool {
    while let next = wait(until: deadline) {
      guard isAlive, next.holdsSignal else { return true }
      // Any stop takes back what was asked before.
      _ = try? Ptrace.request(Ptrace.interrupt, tid)
      _ = try? Ptrace.request(Ptrace.continue, tid, 0, UInt64(next.signal))
    }
    return false
  }

  /// Where the thread was stopped, and where handlers of signals interrupted it before; empty for one that stood still by itself
  /// (SIGSTOP).
  func interruptedPlaces(_ library: CLibrary, _ memory: TargetMemory) -> [UInt64] {
    guard isAlive, stop.signal == SIGTRAP, let registers = try? standingRegisters() else { return [] }
    return [registers.rip] + (SignalFrames.interrupted(above: registers.rsp, library: library, memory: memory) ?? [])
  }

  func goOn() {
    Interruption.settle(self)
    _ = try? Ptrace.request(Ptrace.continue, tid)
  }

  /// Has a thread stand still that went on.
  func standStillAgain(by deadline: UInt64) -> Bool {
    _ = try? Ptrace.request(Ptrace.interrupt, tid)
    return standStill(by: deadline)
  }

  /// The next thing that happens to the thread; nil if nothing does by `deadline`.
  func wait(until deadline: UInt64) -> WaitStatus? {
    var bits: Int32 = 0
    var turns = 0
    while true {
      let result = undead_trace_wait(tid, &bits, WNOHANG)
      if result == tid {
        stop = WaitStatus(bits: bits)
        if stop.hasEnded { isAlive = false }
        return stop
      }
      if result < 0 {
        isAlive = false
        return WaitStatus(bits: 0)
      }
      turns += 1
      if turns < 64 { continue }
      guard SystemClock.now() < deadline else { return nil }
      usleep(turns < 512 ? 20 : 500)
    }
  }

  /// Lets the thread go on as if nothing had been.
  func detach() {
    guard isAlive else { return }
    _ = try? Ptrace.request(Ptrace.detach, tid)
    isAlive = false
  }

  /// Ends a process of one thread, and waits for that: for seconds, as it may be one of many that want a processor.
  func kill() {
    // Its turn to end comes sooner; only the privileged may.
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(tid), 0)
    Glibc.kill(tid, SIGKILL)
    let end = Self.deadline(20)
    while isAlive, wait(until: end) != nil {}
  }

  // MARK: Registers

  package func registers() throws(AttachError) -> Registers {
    var registers = Registers()
    try request(Ptrace.getRegisters, &registers)
    return registers
  }

  package func setRegisters(_ registers: Registers) throws(AttachError) {
    var registers = registers
    try request(Ptrace.setRegisters, &registers)
  }

  private func request(_ request: Int32, _ registers: inout Registers) throws(AttachError) {
    let code = withUnsafeMutablePointer(to: &registers) {
      undead_trace_request(request, tid, 0, UInt64(UInt(bitPattern: $0)))
    }
    if code < 0 { throw gone(Int32(-code)) }
  }

  /// The registers as the thread came to stand with them.
  package func standingRegisters() throws(AttachError) -> Registers {
    if let original { return original }
    return try registers()
  }

  /// The XSAVE area in the standard format; empty where there is none.
  package func extendedState() -> [UInt8] {
    let room = 16384
    var size = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, initialized in
      var vector = iovec(iov_base: buffer.baseAddress, iov_len: room)
      let code = undead_trace_request(
        Ptrace.getRegisterSet, tid, Ptrace.xstate,
        withUnsafeMutablePointer(to: &vector) { UInt64(UInt(bitPattern: $0)) })
      size = code < 0 ? 0 : min(vector.iov_len, room)
      initialized = size
    }
    return bytes
  }

  package func setExtendedState(_ state: [UInt8]) throws(AttachError) {
    guard !state.isEmpty else { return }
    var state = state
    let code = state.withUnsafeMutableBytes { bytes in
      var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
      return withUnsafeMutablePointer(to: &vector) {
        undead_trace_request(Ptrace.setRegisterSet, tid, Ptrace.xstate, UInt64(UInt(bitPattern: $0)))
      }
    }
    if code < 0 { throw gone(Int32(-code)) }
  }

  package func signalMask() throws(AttachError) -> UInt64 {
    var mask: UInt64 = 0
    let code = withUnsafeMutablePointer(to: &mask) {
      undead_trace_request(Ptrace.getSignalMask, tid, 8, UInt64(UInt(bitPattern: $0)))
    }
    if code < 0 { throw gone(Int32(-code)) }
    return mask
  }

  package func setSignalMask(_ mask: UInt64) throws(AttachError) {
    var mask = mask
    let code = withUnsafeMutablePointer(to: &mask) {
      undead_trace_request(Ptrace.setSignalMask, tid, 8, UInt64(UInt(bitPattern: $0)))
    }
    if code < 0 { throw gone(Int32(-code)) }
  }

  func setOptions(_ options: UInt64) throws(AttachError) {
    do throws(PtraceError) {
      try Ptrace.request(Ptrace.setOptions, tid, 0, options)
    } catch {
      throw gone(error.code)
    }
  }

  func gone(_ code: Int32) -> AttachError {
    code == ESRCH
      ? .failure("thread \(tid) ended while it was looked at")
      : .failure("thread \(tid) cannot be controlled: \(SystemError.text(code))")
  }

  // MARK: Running

  /// Makes the system call that the registers are set for, whose instruction is next, and stands at its end.
  ///
  /// - Parameter onEvent: called with the message of a clone event.
  /// - Returns: what the call gave back.
  @discardableResult
  func runSystemCall(
    by deadline: UInt64, onEvent: (UInt64) throws(AttachError) -> Void = { _ in }
  ) throws(AttachError) -> Int64 {
    var ends = 0
    var signal: UInt64 = 0
    while ends < 2 {
      do throws(PtraceError) {
        try Ptrace.request(Ptrace.systemCall, tid, 0, signal)
      } catch {
        throw gone(error.code)
      }
      signal = 0
      guard let next = wait(until: deadline) else { throw .again("thread \(tid) did not end a system call in time") }
      guard isAlive else { throw gone(ESRCH) }
      if next.isSystemCall {
        ends += 1
      } else if next.event == Ptrace.eventClone {
        var message: UInt64 = 0
        _ = withUnsafeMutablePointer(to: &message) {
          undead_trace_request(Ptrace.eventMessage, tid, 0, UInt64(UInt(bitPattern: $0)))
        }
        try onEvent(message)
      } else if next.holdsSignal {
        signal = UInt64(next.signal)
      }
    }
    return Int64(bitPattern: try registers().rax)
  }

  /// Has a thread of a process that is ours do one instruction; false if that was answered by a signal, which is not delivered.
  func step(by deadline: UInt64) throws(AttachError) -> Bool {
    do throws(PtraceError) {
      try Ptrace.request(Ptrace.singleStep, tid)
    } catch {
      throw gone(error.code)
    }
    guard let next = wait(until: deadline) else { throw .again("thread \(tid) did not end an instruction in time") }
    guard isAlive else { throw gone(ESRCH) }
    return next.holdsSignal && next.signal == SIGTRAP
  }

  /// Makes one system call in a process that is ours: registers are as before afterwards, the thread stands at the end of
  /// the call.
  ///
  /// - Parameter instruction: the address of a `syscall` in the process.
  package func systemCall(
    _ number: Int, _ arguments: UInt64..., at instruction: UInt64
  ) throws(AttachError) -> Int64 {
    let before = try registers()
    var registers = before
    registers.set(systemCall: number, arguments, at: instruction)
    try setRegisters(registers)
    let seconds = 10.0
    let result = try runSystemCall(by: Self.deadline(seconds))
    try setRegisters(before)
    return result
  }

  /// Calls a function in a process that is ours, on a stack of its own.
  ///
  /// - Parameters:
  ///   - stack: its upper end.
  ///   - trap: the address of an `int3` in the process, where the function returns to.
  ///   - limit: in seconds.
  /// - Returns: what the function gave back.
  /// - Throws: `AttachError` (again) if it did not return in time, or a signal ended it.
  package func call(
    _ function: UInt64, _ arguments: UInt64..., stack: UInt64, trap: UInt64, memory: TargetMemory, limit: Double
  ) throws(AttachError) -> UInt64 {
    let deadline = Self.deadline(limit)
    var registers = try registers()
    registers.set(call: function, arguments)
    registers.rsp = stack & ~15 &- 8
    try memory.write(withUnsafeBytes(of: trap.littleEndian, Array.init), at: registers.rsp)
    try setRegisters(registers)
    var signal: UInt64 = 0
    while true {
      do throws(PtraceError) {
        try Ptrace.request(Ptrace.continue, tid, 0, signal)
      } catch {
        throw gone(error.code)
      }
      signal = 0
      guard let next = wait(until: deadline) else { throw tooLong(limit) }
      guard isAlive else { throw .again("process \(tid) \(next) during a call") }
      guard next.holdsSignal else { continue }
      let now = try self.registers()
      if next.signal == SIGTRAP, now.rip == trap + 1 { return now.rax }
      guard Self.crashes.contains(next.signal) else { continue }
      // The library catches faults of its own reading.
      guard Self.handles(next.signal, tid) else {
        throw .again(
          "a call in process \(tid) was ended by signal \(next.signal) at 0x\(String(now.rip, radix: 16))")
      }
      signal = UInt64(next.signal)
    }
  }

  private func tooLong(_ limit: Double) -> AttachError {
    _ = try? Ptrace.request(Ptrace.interrupt, tid)
    _ = wait(until: Self.deadline(1))
    let place = (try? registers()).map { " (it stands at 0x\(String($0.rip, radix: 16)))" } ?? ""
    return .again("a call in process \(tid) did not return within \(limit) s\(place)")
  }

  static let crashes: Set<Int32> = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS]

  private static func handles(_ signal: Int32, _ tid: pid_t) -> Bool {
    guard let set = ProcFile.status("SigCgt", of: tid), let bits = UInt64(set, radix: 16) else { return false }
    return bits >> UInt64(signal - 1) & 1 != 0
  }

  static func deadline(_ seconds: Double) -> UInt64 { SystemClock.now() + UInt64(seconds * 1e9) }
}

extension Registers {
  /// Prepares a system call; `instruction` is the address of a `syscall`.
  mutating func set(systemCall number: Int, _ arguments: [UInt64], at instruction: UInt64) {
    func argument(_ index: Int) -> UInt64 { index < arguments.count ? arguments[index] : 0 }
    rax = UInt64(number)
    (rdi, rsi, rdx) = (argument(0), argument(1), argument(2))
    (r10, r8, r9) = (argument(3), argument(4), argument(5))
    rip = instruction
    // No system call is to be restarted.
    orig_rax = .max
  }

  /// Prepares the call of a function, but for its stack.
  mutating func set(call function: UInt64, _ arguments: [UInt64]) {
    func argument(_ index: Int) -> UInt64 { index < arguments.count ? arguments[index] : 0 }
    (rdi, rsi, rdx) = (argument(0), argument(1), argument(2))
    (rcx, r8, r9) = (argument(3), argument(4), argument(5))
    rax = 0
    rip = function
    orig_rax = .max
    // The direction flag is clear in a call.
    eflags &= ~0x400
  }
}
