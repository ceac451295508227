import CUndeadTrace
import UndeadSystem

/// A process of our own that has nothing but one page, and that ends with us.
final class EmptyProcess {
  let thread: TracedThread
  let memory: TargetMemory
  /// Its page.
  let address: UInt64

  var pid: pid_t { thread.tid }
  /// Where a system call instruction is.
  var instruction: UInt64 { address + EmptyProgram.callOffset }

  /// - Parameters:
  ///   - address: where nothing will be that is put into it.
  ///   - files: descriptors that it is to have.
  init(at address: UInt64, files: [Int32]) throws(AttachError) {
    self.address = address
    let pid = try EmptyProgram.start(at: address, files: files)
    thread = TracedThread(tid: pid)
    do throws(AttachError) {
      try Self.stop(thread)
      memory = try TargetMemory(of: pid)
      // Stack, and pages of the kernel's.
      try call(SystemCall.munmap, 0, address)
      let end = address + EmptyProgram.pageSize
      try call(SystemCall.munmap, end, CoreFile.userEnd - end)
    } catch {
      Self.end(pid)
      throw error
    }
  }

  private static func stop(_ thread: TracedThread) throws(AttachError) {
    do throws(PtraceError) {
      try Ptrace.request(Ptrace.seize, thread.tid, 0, Ptrace.systemCallGood | Ptrace.exitKill)
      try Ptrace.request(Ptrace.interrupt, thread.tid)
    } catch {
      throw .refused(error.code, pid: thread.tid, tid: thread.tid)
    }
    guard thread.standStill(by: TracedThread.deadline(10)), thread.isAlive else {
      throw .failure("an empty process did not start: it \(thread.stop)")
    }
  }

  func end() { Self.end(pid) }

  private static func end(_ pid: pid_t) {
    kill(pid, SIGKILL)
    var status: Int32 = 0
    while undead_trace_wait(pid, &status, 0) == pid, !WaitStatus(bits: status).hasEnded {}
  }

  // MARK: System calls

  private func call(_ number: Int, _ first: UInt64, _ second: UInt64) throws(AttachError) {
    let result = try thread.systemCall(number, first, second, at: instruction)
    guard result >= 0 else {
      throw .failure("system call \(number) in an empty process failed: \(SystemError.text(Int32(-result)))")
    }
  }

  /// Gives back the address, or minus the error number.
  func map(
    _ low: UInt64, _ size: UInt64, _ protection: Int32, _ flags: UInt64, _ file: UInt64, _ offset: UInt64
  ) throws(AttachError) -> Int64 {
    try thread.systemCall(SystemCall.mmap, low, size, UInt64(protection), flags, file, offset, at: instruction)
  }

  /// Takes all files away.
  func closeFiles() throws(AttachError) {
    _ = try thread.systemCall(SystemCall.closeRange, 0, 0xFFFF_FFFF, 0, at: instruction)
  }

  /// Gives it the registers of a thread, but for where it stands: that is on its own page.
  func take(_ source: ReplicaThread) throws(AttachError) {
    let own = try thread.registers()
    var registers = source.registers
    guard registers.fs_base < CoreFile.userEnd, registers.gs_base < CoreFile.userEnd else {
      throw .misuse("the thread pointer \(hex(registers.fs_base)) of thread \(source.tid) is no address")
    }
    // What could only come from a damaged file: selectors other than those of every program, single steps.
    (registers.cs, registers.ss) = (own.cs, own.ss)
    (registers.ds, registers.es, registers.fs, registers.gs) = (own.ds, own.es, own.fs, own.gs)
    registers.eflags = own.eflags
    registers.orig_rax = .max
    registers.rip = instruction
    try thread.setRegisters(registers)
  }
}

extension Registers {
  /// - Parameter words: all of them, in the order of the structure.
  init(_ words: [UInt64]) {
    self.init()
    withUnsafeMutableBytes(of: &self) { own in words.withUnsafeBytes { own.copyBytes(from: $0.prefix(own.count)) } }
  }
}
