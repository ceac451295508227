import UndeadSystem

/// What threads were about in malloc's code when their program ended, brought to an end in a process that is made of it: only
/// tables that nobody is changing tell all blocks.
///
/// Each thread goes on, step by step, until it leaves that code: it has returned then, or calls a function, for which malloc
/// has its tables in order. What it has by then is in its registers, as in the program a moment later.
struct UnfinishedCalls {
  let process: EmptyProcess
  let library: CLibrary

  /// A large list is looked through in some thousands.
  private static let mostSteps = 100_000
  /// In seconds, for all threads: those that come later stay as they were.
  private static let limit = 20.0
  /// In seconds, of a processor that has much else to do.
  private static let stepLimit = 10.0
  /// The flags that code may change by calculating: carry, parity, adjust, zero, sign, direction, overflow.
  private static let flags: UInt64 = 0xCD5
  private static let systemCall: [UInt8] = [0x0F, 0x05]

  /// Returns the threads as they stand afterwards. The process has the registers that it had before.
  func finish(_ threads: [ReplicaThread]) throws(AttachError) -> [ReplicaThread] {
    guard threads.contains(where: isInside) else { return threads }
    let own = try process.thread.registers()
    let state = process.thread.extendedState()
    let deadline = TracedThread.deadline(Self.limit)
    var finished = threads
    for index in threads.indices where isInside(threads[index]) {
      finished[index].registers = try end(threads[index], own, by: deadline)
    }
    try process.thread.setRegisters(own)
    try process.thread.setExtendedState(state)
    return finished
  }

  private func isInside(_ thread: ReplicaThread) -> Bool {
    !thread.isInSystemCall && library.allocator?.contains(thread.registers.rip) ?? false
  }

  private func end(
    _ source: ReplicaThread, _ own: Registers, by deadline: UInt64
  ) throws(AttachError) -> Registers {
    let thread = process.thread
    try process.take(source)
    // The kernel refuses what no processor could have had; then the thread stays as it was.
    guard (try? thread.setExtendedState(source.extendedState)) != nil else { return source.registers }
    var registers = try thread.registers()
    registers.rip = source.registers.rip
    registers.eflags = own.eflags & ~Self.flags | source.registers.eflags & Self.flags
    try thread.setRegisters(registers)
    for _ in 0..<Self.mostSteps where SystemClock.now() < deadline {
      guard library.allocator?.contains(registers.rip) ?? false,
        process.memory.read(at: registers.rip, count: 2) != Self.systemCall,
        try thread.step(by: TracedThread.deadline(Self.stepLimit))
      else { break }
      registers = try thread.registers()
    }
    // All but what the processor has for its own process.
    var result = source.registers
    (result.rax, result.rbx, result.rcx, result.rdx) = (registers.rax, registers.rbx, registers.rcx, registers.rdx)
    (result.rsi, result.rdi, result.rbp, result.rsp) = (registers.rsi, registers.rdi, registers.rbp, registers.rsp)
    (result.r8, result.r9, result.r10, result.r11) = (registers.r8, registers.r9, registers.r10, registers.r11)
    (result.r12, result.r13, result.r14, result.r15) = (registers.r12, registers.r13, registers.r14, registers.r15)
    (result.rip, result.eflags) = (registers.rip, registers.eflags)
    return result
  }
}
