import UndeadSystem

/// A process that is to be recorded, or is.
struct Target {
  let pid: pid_t
  /// A thread of it that has not ended.
  let anchor: pid_t
  let memory: TargetMemory
  let maps: MemoryMap
  let glibc: CLibrary
  let library: LiveLibrary?

  init(_ pid: pid_t) throws(AttachError) {
    let program = try TargetProgram(pid: pid)
    self.pid = pid
    anchor = program.anchor
    memory = program.memory
    glibc = program.library
    guard let mapped = MemoryMap(process: anchor) else {
      throw .failure("cannot read the mappings of process \(pid): \(SystemError.text(errno))")
    }
    maps = mapped
    library = LiveLibrary(in: maps, memory: memory)
  }

  /// What would go wrong later is reported before anything is touched.
  func checkThatItMayBeRecorded(samplesZombies: Bool) throws(AttachError) {
    if let state = ProcFile.state(of: anchor), "TtZX".contains(state) {
      throw .misuse("process \(pid) does not run (state \(state)): let it go on first")
    }
    guard try filtersLetPass(Self.calls + (samplesZombies ? Self.callsOfZombies : [])) else {
      throw .misuse(
        "process \(pid) has a filter of system calls (seccomp) that may end it for what the recorder does, or that undead may not "
          + "read (CAP_SYS_ADMIN): it is not tried; start it under 'undead run', or look at it without --record")
    }
    if let preloaded = maps.imageStarts.first(where: { $0.path.contains("/libUndeadPreload.so") }) {
      throw .misuse(
        "process \(pid) runs under undead already ('\(preloaded.path)'): use 'undead leaks \(pid)' or 'undead heap \(pid)'"
      )
    }
    if samplesZombies, let thread = try threadThatBlocksFaults() {
      throw .misuse(
        "thread \(thread) of process \(pid) blocks SIGSEGV or SIGBUS: a use of a dead object there would end the process"
      )
    }
    if let limit = fileSizeLimit(), limit < 64 << 20 {
      throw .misuse(
        "process \(pid) may not write files of more than \(limit) bytes (ulimit -f), and would be ended for a file in memory"
      )
    }
  }

  /// What the loader, the library and the code that is put in do, and what the recorder does in any thread afterwards:
  /// numbers of <asm/unistd_64.h>, with the arguments that filters look at.
  private static let calls: [(number: Int, arguments: [UInt64])] =
    // read, write, close, fstat, pread64, openat, newfstatat, memfd_create
    [0, 1, 3, 5, 17, 257, 262, 319].map { ($0, []) }
    // munmap, madvise, munlock, rt_sigprocmask, rt_sigreturn, sched_yield
    + [11, 28, 150, 14, 15, 24].map { ($0, []) }
    // getpid, readlink, gettid, futex, clock_gettime, prlimit64
    + [39, 89, 186, 202, 228, 302].map { ($0, []) }
    // mmap of data and of code; mprotect of data, of constants and of code
    + [
      (9, [0, 4096, 3, 0x22]), (9, [0, 4096, 5, 0x802]), (10, [0, 4096, 3]), (10, [0, 4096, 1]), (10, [0, 4096, 5]),
    ]

  /// To take pages away and give them back, and to learn of a thread: mprotect, rt_sigaction, tgkill.
  private static let callsOfZombies: [(number: Int, arguments: [UInt64])] = [
    (10, [0, 4096, 0]), (13, []), (234, [0, 0, 0]),
  ]

  /// The kernel ends a process for a fault whose signal is blocked.
  private func threadThatBlocksFaults() throws(AttachError) -> pid_t? {
    let faults: UInt64 = 1 << UInt64(SIGSEGV - 1) | 1 << UInt64(SIGBUS - 1)
    return ProcFile.liveThreads(of: pid).first { tid in
      ProcFile.status("SigBlk", of: tid).flatMap { UInt64($0, radix: 16) }.map { $0 & faults != 0 } ?? false
    }
  }

  private func filtersLetPass(_ calls: [(number: Int, arguments: [UInt64])]) throws(AttachError) -> Bool {
    let calls = calls.map {
      SystemCallFilter.Call(number: $0.number, arguments: $0.arguments, instruction: glibc.systemCall)
    }
    for tid in ProcFile.liveThreads(of: pid) {
      guard let mode = ProcFile.status("Seccomp", of: tid), mode != "0" else { continue }
      guard mode == "2", let thread = try? TracedThread.seize(tid) else { return false }
      defer { LiveCall.letGo(thread) }
      guard thread.standStill(by: TracedThread.deadline(5)) else { return false }
      if thread.isAlive, !SystemCallFilter.allows(calls, on: thread) { return false }
    }
    return true
  }

  private func fileSizeLimit() -> UInt64? {
    guard
      let line = ProcFile.text("/proc/\(pid)/limits")?.split(separator: "\n").first(where: {
        $0.hasPrefix("Max file size")
      })
    else { return nil }
    return line.dropFirst("Max file size".count).split(separator: " ").first.flatMap { UInt64($0) }
  }

  func function(_ name: String, library path: String?) throws(AttachError) -> LiveCall.Function {
    if let library {
      guard let address = library.image.address(of: name) else {
        throw .misuse("process \(pid) has a library of another version of undead in it; use that version")
      }
      return .address(address)
    }
    guard let path, let bytes = WholeFile.read(path), bytes.count > 64 else {
      throw .failure("cannot read the library '\(path ?? "")': \(SystemError.text(errno))")
    }
    return .opening(bytes, name)
  }

  func call(_ function: LiveCall.Function, _ request: inout RecordRequest) throws(AttachError) -> Int32 {
    var bytes = request.encoded
    let status = try LiveCall(pid: pid, memory: memory, library: glibc, maps: maps).run(function, request: &bytes)
    request.readAnswer(bytes)
    return status
  }
}
