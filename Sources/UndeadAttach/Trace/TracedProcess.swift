import CUndeadTrace
import UndeadSystem

/// A process all of whose threads stand still.
///
/// Belongs to the thread that made it (``TracerThread``). Signals that come meanwhile wait in the system.
package final class TracedProcess {
  package let pid: pid_t
  package private(set) var threads: [TracedThread] = []
  package let memory: TargetMemory
  private var isStopped = true
  private var known: Set<pid_t> = []
  /// Seconds for which threads may be met in code where none is to stand.
  private static let patience = 0.03

  /// Stops a process.
  ///
  /// - Parameters:
  ///   - limit: in seconds; a thread that waits for a disk may take long.
  ///   - library: no thread is to stand in its malloc, also not with a signal handler on top: what it changes there would be
  ///     half done.
  ///   - memory: of the process.
  /// - Throws: `AttachError` that says why it cannot be; the process goes on then.
  package init(
    stopping pid: pid_t, limit: Double = 1, outsideMallocOf library: CLibrary? = nil, memory: TargetMemory
  ) throws(AttachError) {
    self.pid = pid
    self.memory = memory
    let deadline = TracedThread.deadline(limit)
    do throws(AttachError) {
      try seizeAll(by: deadline)
      if let library { try leaveMalloc(of: library, by: deadline) }
    } catch {
      resume()
      throw error
    }
  }

  deinit { resume() }

  private func seizeAll(by deadline: UInt64) throws(AttachError) {
    while true {
      // A thread may make another one until it stands.
      let new = ProcFile.numbers(in: "/proc/\(pid)/task").filter { !known.contains($0) }
      if new.isEmpty { break }
      var seized: [TracedThread] = []
      for tid in new {
        known.insert(tid)
        if let thread = try seize(tid) { seized.append(thread) }
      }
      threads += seized
      for thread in seized {
        guard thread.standStill(by: deadline) else { throw stuck(thread) }
        Interruption.repair(thread)
      }
    }
    threads.removeAll { !$0.isAlive }
    guard !threads.isEmpty else { throw .misuse("process \(pid) ended") }
  }

  /// Lets those threads go on that stand in malloc, until each was met elsewhere.
  private func leaveMalloc(of library: CLibrary, by deadline: UInt64) throws(AttachError) {
    guard let code = library.allocator else { return }
    let end = TracedThread.deadline(Self.patience)
    while true {
      let inside = threads.filter { thread in
        thread.interruptedPlaces(library, memory).contains { code.contains($0) }
      }
      if inside.isEmpty { return }
      guard SystemClock.now() < end else {
        throw .again("process \(pid) cannot be looked at now: it is in the middle of malloc or free; try again")
      }
      for thread in inside { thread.goOn() }
      usleep(20)
      for thread in inside {
        guard thread.standStillAgain(by: deadline) else { throw stuck(thread) }
        Interruption.repair(thread)
      }
      // They may have made others.
      try seizeAll(by: deadline)
    }
  }

  private func seize(_ tid: pid_t) throws(AttachError) -> TracedThread? {
    do throws(PtraceError) {
      return try TracedThread.seize(tid)
    } catch {
      let state = ProcFile.state(of: tid)
      if error.code == ESRCH || state == nil || state == "Z" || state == "X" { return nil }
      throw AttachError.refused(error.code, pid: pid, tid: tid)
    }
  }

  private func stuck(_ thread: TracedThread) -> AttachError {
    let state = ProcFile.state(of: thread.tid)
    let name = thread.tid == pid ? "its first thread" : "its thread \(thread.tid)"
    if state == "D" {
      let place = ProcFile.text("/proc/\(thread.tid)/wchan").map { $0.isEmpty || $0 == "0" ? "" : " (\($0))" } ?? ""
      return .again(
        "process \(pid) cannot be stopped now: \(name) is in an uninterruptible wait of the system\(place), for a disk, a "
          + "network file system or a child that has not executed its program yet; try again later")
    }
    return .again("process \(pid) cannot be stopped now: \(name) does not stand still; try again later")
  }

  /// Lets all threads go on; may be called again.
  package func resume() {
    guard isStopped else { return }
    isStopped = false
    for thread in threads {
      Interruption.settle(thread)
      thread.detach()
    }
  }
}
