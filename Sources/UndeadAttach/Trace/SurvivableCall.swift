import UndeadSystem

/// A system call that a thread of a living program makes for us.
///
/// Should the tool be killed in the middle, the thread ends the call, returns into the C library's end of a signal handler,
/// and finds a frame there with everything that it had: it goes on by itself. The frame lies below the red zone of its stack, where nothing
/// of the program is.
struct SurvivableCall {
  let library: CLibrary
  let memory: TargetMemory

  /// Room below the stack pointer that the frame takes at most, with what code that runs on it needs.
  static let room: UInt64 = 32 << 10
  private static let redZone: UInt64 = 128
  /// Of clone, but for the stack: nothing is shared, and no signal reports the end.
  static let copying: [UInt64] = [0, 0, 0, 0, 0]

  /// True if the thread's stack has room for the frame.
  static func fits(_ registers: Registers, in maps: MemoryMap) -> Bool {
    guard registers.rsp > room, let region = maps.region(containing: registers.rsp - 1) else { return false }
    return region.isWritable && !region.isShared && registers.rsp - room >= region.start
  }

  /// What was changed in the thread, to be put back by ``finish(_:_:)``.
  struct State {
    let registers: Registers
    let mask: UInt64
    let frame: UInt64
    /// Where a child that the call makes is to have its stack: if it is let go it ends at once.
    let childStack: UInt64
  }

  /// Writes the frame below the thread's stack. Nothing has changed for the thread afterwards.
  func prepare(_ thread: TracedThread) throws(AttachError) -> State {
    let registers = try thread.registers()
    let mask = try thread.signalMask()
    let extended = thread.extendedState()
    let frame = SignalFrame(
      registers: Interruption.selfContained(registers), extended: extended, mask: mask,
      returnAddress: library.signalReturn, below: registers.rsp - Self.redZone)
    try memory.write(frame.extended, at: frame.extendedAddress)
    try memory.write(frame.bytes, at: frame.address)
    let childStack = frame.address & ~63 - 64
    try memory.write(withUnsafeBytes(of: library.exit.littleEndian, Array.init), at: childStack)
    return State(registers: registers, mask: mask, frame: frame.address, childStack: childStack)
  }

  /// Makes the call.
  ///
  /// - Parameter onEvent: called with a new process, as the tool numbers it.
  func run(
    _ number: Int, _ arguments: [UInt64], on thread: TracedThread, _ state: State, by deadline: UInt64,
    onEvent: (UInt64) throws(AttachError) -> Void = { _ in }
  ) throws(AttachError) -> Int64 {
    var registers = state.registers
    registers.set(systemCall: number, arguments, at: library.systemCall)
    registers.rsp = state.frame
    // From here on, in one step, the thread would find its way back alone.
    try thread.setRegisters(registers)
    // Signals wait meanwhile; the frame has the mask, too.
    try thread.setSignalMask(.max)
    return try thread.runSystemCall(by: deadline, onEvent: onEvent)
  }

  /// Brings the thread back to where the system looks for signals, and restarts calls, when it goes on.
  func finish(_ thread: TracedThread, _ state: State) throws(AttachError) {
    guard thread.isAlive else { return }
    do throws(PtraceError) {
      try Ptrace.request(Ptrace.interrupt, thread.tid)
      try Ptrace.request(Ptrace.continue, thread.tid)
    } catch {
      throw thread.gone(error.code)
    }
    guard thread.standStill(by: TracedThread.deadline(5)) else {
      throw .failure("thread \(thread.tid) does not stand still")
    }
    try thread.setSignalMask(state.mask)
    try thread.setRegisters(state.registers)
  }
}

/// The frame that the kernel finds when a signal handler returns (`struct rt_sigframe`, x86-64).
struct SignalFrame {
  let address: UInt64
  let bytes: [UInt8]
  /// The frame's XSAVE area.
  let extendedAddress: UInt64
  let extended: [UInt8]

  private enum Layout {
    // <asm/sigframe.h>: return address, ucontext (flags, link, stack 24, mcontext 256, mask), siginfo 128.
    static let size = 8 + 16 + 24 + 256 + 8 + 128
    static let stackMode = 8 + 16 + 8
    static let machine = 8 + 16 + 24
    static let mask = machine + 256
    // <asm/ucontext.h>: UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS.
    static let flags: UInt64 = 7
    // <asm/sigcontext.h>: the software's bytes of the area of FXSAVE.
    static let software = 464
    static let magic1: UInt32 = 0x4650_5853
    static let magic2: UInt32 = 0x4650_5845
  }

  init(
    registers: Registers, extended state: [UInt8], mask: UInt64, returnAddress: UInt64, below top: UInt64
  ) {
    extendedAddress = (top - UInt64(state.count) - 4) & ~63
    address = (extendedAddress - UInt64(Layout.size)) & ~15
    extended = Self.marked(state)
    var frame = [UInt8](repeating: 0, count: Layout.size)
    Self.put(returnAddress, at: 0, in: &frame)
    Self.put(Layout.flags, at: 8, in: &frame)
    // No mode of an alternate stack: the kernel leaves the thread's own as it is.
    Self.put(UInt32(3), at: Layout.stackMode, in: &frame)
    let machine: [UInt64] = [
      registers.r8, registers.r9, registers.r10, registers.r11, registers.r12, registers.r13, registers.r14,
      registers.r15, registers.rdi, registers.rsi, registers.rbp, registers.rbx, registers.rdx, registers.rax,
      registers.rcx, registers.rsp, registers.rip, registers.eflags,
      registers.cs | registers.ss << 48, 0, 0, 0, 0, state.isEmpty ? 0 : extendedAddress,
    ]
    for (index, value) in machine.enumerated() {
      Self.put(value, at: Layout.machine + 8 * index, in: &frame)
    }
    Self.put(mask, at: Layout.mask, in: &frame)
    bytes = frame
  }

  /// The area as signal frames have it: sizes in it, and a mark behind it.
  private static func marked(_ state: [UInt8]) -> [UInt8] {
    guard state.count >= 576 else { return [] }
    var area = state
    // The kernel leaves the set of components here when it reports the area.
    let components = state[Layout.software..<Layout.software + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    put(Layout.magic1, at: Layout.software, in: &area)
    put(UInt32(state.count + 4), at: Layout.software + 4, in: &area)
    put(components, at: Layout.software + 8, in: &area)
    put(UInt32(state.count), at: Layout.software + 16, in: &area)
    return area + withUnsafeBytes(of: Layout.magic2.littleEndian, Array.init)
  }

  private static func put<Number: FixedWidthInteger>(_ value: Number, at offset: Int, in bytes: inout [UInt8]) {
    withUnsafeBytes(of: value.littleEndian) { source in
      for (index, byte) in source.enumerated() { bytes[offset + index] = byte }
    }
  }
}
