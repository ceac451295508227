import UndeadSystem

/// Recording of a program that was not started for it: the library is put into the living process, and taken out of use
/// again.
package enum LiveRecording {
  /// What is recorded.
  package struct Options: Sendable {
    /// Mean of bytes between two backtraces; 0: every block has one.
    package var sampleBytes: UInt64 = 0
    /// False if only zombies are sampled.
    package var recordsAllocations = true
    package var zombies: Zombies?

    package init() {}
  }

  /// Which blocks are watched for uses after their death.
  package struct Zombies: Sendable, Equatable {
    /// One of so many, at random.
    package var rate: UInt32
    /// Names of types all of whose objects are.
    package var types: String

    /// As in a program that is started with it.
    package static let usualRate: UInt32 = 1000
    package static let mostBytesOfTypes = RecordRequest.typesBytes - 1

    package init(rate: UInt32, types: String = "") {
      self.rate = rate
      self.types = types
    }
  }

  /// How a recording was ended.
  package struct Ending: Sendable, Equatable {
    /// False if the memory of the tables stays.
    package var gaveMemoryBack: Bool
    /// True if calls of the allocator go through the library still, as blocks of its own may be freed later.
    package var keepsHooks = false
    /// Threads that were.
    package var threadsInHooks: [pid_t]
  }

  /// The log of uses of dead objects in the memory of a process; nil if nobody put the sample of zombies into it.
  package static func zombieLog(of pid: pid_t) throws(AttachError) -> [UInt8]? {
    let target = try Target(pid)
    return target.library?.zombieLog(target.memory)
  }

  /// Puts the library into a process, if it is not there, and begins to record.
  ///
  /// - Parameter library: its path, as the tool sees it.
  /// - Returns: how many pointers to functions of the allocator were changed.
  /// - Throws: `AttachError`; the program is as it was, but that it may have the library, which does nothing.
  @discardableResult
  package static func begin(_ pid: pid_t, library: String, options: Options = Options()) throws(AttachError) -> Int {
    try TracerThread.run { () throws(AttachError) -> Int in
      let target = try Target(pid)
      try target.checkThatItMayBeRecorded(samplesZombies: options.zombies != nil)
      var request = RecordRequest()
      request.sampleBytes = options.sampleBytes
      request.recordsNothing = !options.recordsAllocations
      if let zombies = options.zombies { request.zombies = zombies }
      let function = try target.function("undead_record_attached", library: library)
      let status = try target.call(function, &request)
      try check(status, request, pid)
      return Int(request.places)
    }
  }

  /// Ends the recording of a process. The library stays in it, without use; a later recording takes it up again.
  ///
  /// - Parameter onlyZombies: true if a recording of allocations goes on.
  package static func end(_ pid: pid_t, onlyZombies: Bool = false) throws(AttachError) -> Ending {
    try TracerThread.run { () throws(AttachError) -> Ending in
      let target = try Target(pid)
      guard target.library != nil else { throw .misuse("process \(pid) is not recorded: nothing was put into it") }
      var request = RecordRequest()
      request.recordsNothing = onlyZombies
      let status = try target.call(try target.function("undead_record_detach", library: nil), &request)
      try check(status, request, pid)
      if request.keepsHooks { return Ending(gaveMemoryBack: false, keepsHooks: true, threadsInHooks: []) }
      let busy = try HookWatch(target: target, inHook: request.inHook).wait()
      guard busy.isEmpty else { return Ending(gaveMemoryBack: false, threadsInHooks: busy) }
      let released = try target.call(try target.function("undead_record_release", library: nil), &request)
      return Ending(gaveMemoryBack: released == RecordRequest.Status.done, threadsInHooks: [])
    }
  }

  private static func check(_ status: Int32, _ request: RecordRequest, _ pid: pid_t) throws(AttachError) {
    switch status {
    case RecordRequest.Status.done: return
    case RecordRequest.Status.refused: throw .misuse("process \(pid) cannot be recorded: \(request.message)")
    case RecordRequest.Status.already: throw .misuse("process \(pid): \(request.message)")
    case RecordRequest.Status.invalid:
      throw .misuse("process \(pid) has a library of another version of undead in it; use that version")
    default: throw .failure("process \(pid): the library answered \(status)")
    }
  }
}

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

/// Waits until no thread is in a function of the library any more.
struct HookWatch {
  let target: Target
  /// Where a thread keeps the frame of the function it is in, from its thread pointer.
  let inHook: Int64

  /// In seconds.
  private static let limit = 5.0

  /// Gives back the threads that stayed in one.
  ///
  /// No thread enters one for more than a moment when the calls are as before: each has to be seen outside once.
  func wait() throws(AttachError) -> [pid_t] {
    let deadline = TracedThread.deadline(Self.limit)
    var left = ProcFile.liveThreads(of: target.pid)
    while true {
      var busy: [pid_t] = []
      for tid in left where try isBusy(tid, by: deadline) { busy.append(tid) }
      left = busy
      guard !left.isEmpty, SystemClock.now() < deadline else { return left }
      usleep(5000)
    }
  }

  /// The thread stands for as long as it takes to look.
  private func isBusy(_ tid: pid_t, by deadline: UInt64) throws(AttachError) -> Bool {
    let thread: TracedThread
    do throws(PtraceError) {
      thread = try TracedThread.seize(tid)
    } catch {
      if error.code == ESRCH || ProcFile.state(of: tid) == nil { return false }
      throw AttachError.refused(error.code, pid: target.pid, tid: tid)
    }
    defer { LiveCall.letGo(thread) }
    guard thread.standStill(by: deadline) else { return true }
    guard thread.isAlive, let registers = try? thread.registers(), registers.fs_base != 0 else { return false }
    guard let frame = target.memory.load(UInt64.self, at: registers.fs_base &+ UInt64(bitPattern: inHook)) else {
      return true
    }
    // Left by a jump: the stack has been taken back beyond it.
    let isLeft = frame < registers.rsp && registers.rsp - frame < 1 << 20
    return frame != 0 && !isLeft
  }
}
