import CUndeadTrace
import UndeadSystem

/// A copy of a running program: the system makes it from the program's memory (copy on write) while that stands still, and
/// the program goes on at once.
///
/// Belongs to the thread that made it (``TracerThread``). The copy ends with the tool, whatever ends that.
package final class LiveReplica {
  package let maps: MemoryMap
  package let host: ReplicaHost
  /// Nanoseconds that the program stood still.
  package private(set) var paused: UInt64
  package let threads: [ReplicaThread]
  package let taken: UInt64
  private let held: [UInt64]?
  private let program: TargetProgram
  /// What the program calls the copy.
  private let numberInProgram: pid_t
  private let guardian: Guardian
  private var uncopied: UncopiedMemory
  private var isEnded = false

  /// Stops the program, copies it, and lets it go on.
  ///
  /// - Parameter smaps: the text of `/proc/PID/smaps`, read shortly before: that takes long.
  /// - Throws: `AttachError`; the program goes on, and no copy is left.
  package init(of program: TargetProgram, smaps: [UInt8]) throws(AttachError) {
    self.program = program
    guardian = Guardian(of: program.pid)
    var held = HeldByKernel(for: program.anchor)
    let lost = smaps.withUnsafeBytes { MemoryMap.uncopied(smaps: $0) }
    let haste = Haste()
    defer { haste.end() }
    let start = SystemClock.now()
    let stopped = try TracedProcess(
      stopping: program.pid, outsideMallocOf: program.library, memory: program.memory)
    let fork = Fork(stopped, program, guardian)
    let host: ReplicaHost
    do throws(AttachError) {
      threads = try stopped.states()
      held.read(stopped.threads)
      uncopied = UncopiedMemory(of: program, lost)
      host = try fork.make()
    } catch {
      fork.undo()
      stopped.resume()
      var paused: UInt64 = 0
      Reaper(program).reap(fork.numberInProgram, &paused) ? guardian.dismiss() : guardian.takeOver()
      throw error
    }
    taken = SystemClock.wallClock()
    stopped.resume()
    paused = SystemClock.now() - start
    self.host = host
    numberInProgram = fork.numberInProgram
    uncopied.put(into: host)
    maps = MemoryMap(process: host.pid) ?? .unknown
    self.held = held.words(in: maps)
    Self.giveWay(host.pid)
    if uncopied.isLate(in: host.pid, maps) {
      throw .again("process \(program.pid) just got memory that copies of it do not have")
    }
  }

  deinit { end() }

  /// If memory or processors are short, the copy is the one that has to do without.
  private static func giveWay(_ pid: pid_t) {
    let file = open("/proc/\(pid)/oom_score_adj", O_WRONLY | O_CLOEXEC)
    if file >= 0 {
      _ = write(file, "1000", 4)
      close(file)
    }
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(pid), 10)
  }

  package func run(library: String, request: ReplicaRequest) throws(AttachError) -> ReplicaFile {
    var request = request
    request.pid = program.pid
    request.threads = threads
    request.maps = maps.text
    request.executable = program.executable
    request.arguments = program.arguments
    request.started = program.started
    request.taken = taken
    request.paused = paused
    request.held = held
    request.isComplete = uncopied.isComplete
    let files = TargetFiles(of: program.anchor)
    if files.isElsewhere {
      let names = Set(maps.imageStarts.map(\.path)).subtracting([program.executable]).sorted()
      request.files = ([program.executable] + names).map { ($0, files.inside($0)) }
    }
    try host.prepare(patching: program.patched)
    return try host.snapshot(library: library, request)
  }

  /// Ends the copy, and has the program forget it; may be called again.
  package func end() {
    guard !isEnded else { return }
    isEnded = true
    host.thread.kill()
    let reaper = Reaper(program)
    let isGone = reaper.reap(numberInProgram, &paused)
    // Of tools that were killed together with their guardians.
    for copy in Leftovers.of(program.pid) where copy.hasEnded { _ = reaper.reap(copy.number, &paused) }
    isGone ? guardian.dismiss() : guardian.takeOver()
  }
}

extension TracedProcess {
  func states() throws(AttachError) -> [ReplicaThread] {
    var states: [ReplicaThread] = []
    for thread in threads where thread.isAlive {
      let registers = try thread.standingRegisters()
      states.append(
        ReplicaThread(
          tid: thread.tid, isFirst: thread.tid == pid, isInSystemCall: registers.orig_rax != .max,
          registers: registers, extendedState: thread.extendedState()))
    }
    return states
  }
}

/// The birth of the copy.
private final class Fork {
  private let stopped: TracedProcess
  private let program: TargetProgram
  private var copy: TracedThread?
  private(set) var numberInProgram: pid_t = 0

  private let guardian: Guardian

  init(_ stopped: TracedProcess, _ program: TargetProgram, _ guardian: Guardian) {
    self.stopped = stopped
    self.program = program
    self.guardian = guardian
  }

  func make() throws(AttachError) -> ReplicaHost {
    let maker = try Maker.choose(stopped.threads, in: program)
    let call = SurvivableCall(library: program.library, memory: program.memory)
    let state = try call.prepare(maker)
    var result: Int64 = 0
    do throws(AttachError) {
      try maker.setOptions(Ptrace.systemCallGood | Ptrace.traceClone)
      result = try call.run(
        SystemCall.clone, [0, state.childStack] + SurvivableCall.copying.dropFirst(2), on: maker, state,
        by: TracedThread.deadline(30)
      ) { message throws(AttachError) in
        self.copy = TracedThread(tid: pid_t(truncatingIfNeeded: message))
      }
      try adopt()
    } catch {
      try? call.finish(maker, state)
      throw error
    }
    try? maker.setOptions(Ptrace.systemCallGood)
    try call.finish(maker, state)
    numberInProgram = pid_t(truncatingIfNeeded: result)
    guard result > 0, let copy else { throw Self.noCopy(Int32(truncatingIfNeeded: -result), program.pid) }
    return try ReplicaHost(thread: copy, library: program.library)
  }

  /// From here on the copy ends with the tool, holds no file of the program, and says what it is.
  private func adopt() throws(AttachError) {
    guard let copy else { return }
    guard copy.wait(until: TracedThread.deadline(5)) != nil, copy.isAlive else {
      throw .again("the copy of process \(program.pid) ended at once: somebody killed it")
    }
    try copy.setOptions(Ptrace.systemCallGood | Ptrace.exitKill)
    try copy.setSignalMask(Self.allButCrashes)
    let instruction = program.library.systemCall
    let closed = try copy.systemCall(SystemCall.closeRange, 0, UInt64(UInt32.max), 0, at: instruction)
    if closed < 0 { try closeAll(copy, instruction) }
    // Above the word where it would return to.
    let name = try copy.registers().rsp + 8
    try TargetMemory(of: copy.tid).write(Array("\(Leftovers.name)\0".utf8), at: name)
    // PR_SET_NAME
    _ = try copy.systemCall(SystemCall.prctl, 15, name, at: instruction)
  }

  /// For kernels before 5.9.
  private func closeAll(_ copy: TracedThread, _ instruction: UInt64) throws(AttachError) {
    for file in ProcFile.files(of: copy.tid) {
      _ = try copy.systemCall(3, UInt64(file), at: instruction)
    }
  }

  private static let allButCrashes: UInt64 =
    ~TracedThread.crashes.reduce(0) { $0 | 1 << UInt64($1 - 1) }

  private static func noCopy(_ code: Int32, _ pid: pid_t) -> AttachError {
    switch code {
    case EAGAIN:
      .failure(
        "process \(pid) cannot be copied: its limit of processes is reached (ulimit -u, or pids.max of its cgroup)")
    case ENOMEM:
      .failure(
        "process \(pid) cannot be copied: the system does not promise so much memory (vm.overcommit_memory), or has none left"
      )
    default: .failure("process \(pid) cannot be copied: \(SystemError.text(code))")
    }
  }

  func undo() {
    copy?.kill()
  }
}

/// The thread of the program that makes a call for us.
enum Maker {
  /// - Throws: `AttachError` (again) if no thread has room for it on its stack.
  static func choose(_ threads: [TracedThread], in program: TargetProgram) throws(AttachError) -> TracedThread {
    let maps = MemoryMap(process: program.anchor) ?? .unknown
    var best: (thread: TracedThread, rank: Int)?
    for thread in threads where thread.isAlive {
      guard let registers = try? thread.standingRegisters(), SurvivableCall.fits(registers, in: maps) else { continue }
      let rank = rank(registers)
      if rank < best?.rank ?? .max { best = (thread, rank) }
      if rank == 0 { break }
    }
    guard let best else {
      throw .again("no thread of process \(program.pid) has room on its stack to be used; try again")
    }
    return best.thread
  }

  /// A thread that waits without a time limit goes on best by itself, should the tool be killed.
  private static func rank(_ registers: Registers) -> Int {
    guard registers.orig_rax != .max else { return 2 }
    // poll, nanosleep and others with a limit would begin anew.
    return Int64(bitPattern: registers.rax) == -516 ? 1 : 0
  }
}
