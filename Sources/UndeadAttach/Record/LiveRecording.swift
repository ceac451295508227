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
