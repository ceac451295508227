import Glibc
import UndeadAttach
import UndeadReport

/// Recording that is put into a program which was not started under the tool, and taken out of use again.
struct LiveRecorder {
  let pid: pid_t
  var sample: SampleSetting?
  var zombies: LiveRecording.Zombies?

  func begin() throws(ToolError) {
    let places = try put()
    if let zombies { return answer(zombies, places) }
    Message.answer(
      "undead: process \(pid) is recorded from now on (\(places) pointers to functions of malloc were changed; no thread, "
        + "file or signal handler was added)")
    Message.answer(
      "undead: look at it with 'undead leaks \(pid)', 'undead heap \(pid)' or 'undead watch \(pid)'; end it with "
        + "'undead record \(pid) --stop'")
  }

  private func answer(_ zombies: LiveRecording.Zombies, _ places: Int) {
    let named = zombies.types.isEmpty ? "" : ", and all of \(TextLine(zombies.types).plain)"
    Message.answer(
      "undead: of what process \(pid) allocates from now on, one object in \(zombies.rate) is watched for uses after its "
        + "death\(named) (\(places) pointers to functions of the C library were changed, and a handler of SIGSEGV and SIGBUS "
        + "was put in front of the program's)")
    if sample != nil { Message.answer("undead: a sample of its allocations is recorded, too") }
    Message.answer(
      "undead: 'undead leaks \(pid)' shows what was found; end it with 'undead record \(pid) --stop'")
  }

  /// Begins to record; the end must come whatever happens to the tool but SIGKILL.
  func beginForAWhile() throws(ToolError) {
    Interruptions.hold()
    try put()
  }

  func end() throws(ToolError) {
    do throws(AttachError) {
      let ending = try LiveRecording.end(pid)
      if ending.keepsHooks {
        return Message.answer(
          "undead: process \(pid) is neither recorded nor watched any more; its allocator is called through the library still, "
            + "which takes back the objects that were watched")
      }
      Message.answer("undead: process \(pid) is not recorded any more; the library stays in it without use")
      if !ending.gaveMemoryBack {
        let threads = Self.threads(ending.threadsInHooks)
        Message.answer("undead: the memory of its tables stays, too: \(threads) never left the recorder")
      }
    } catch {
      throw ToolError(error)
    }
  }

  private static func threads(_ threads: [pid_t]) -> String {
    (threads.count == 1 ? "thread " : "threads ") + threads.map(String.init).joined(separator: ", ")
  }

  /// At the end of the tool's work: a failure is reported, but changes nothing.
  func endQuietly() {
    guard ProcessFacts.isRunning(pid) else { return }
    do throws(AttachError) {
      _ = try LiveRecording.end(pid, onlyZombies: zombies != nil)
    } catch {
      Message.say("process \(pid) may be recorded still: \(error.message); end it with 'undead record \(pid) --stop'")
    }
  }

  @discardableResult
  private func put() throws(ToolError) -> Int {
    let library = try PreloadLibrary.ofThisTool().path
    var options = LiveRecording.Options()
    options.sampleBytes = sample?.bytes ?? 0
    options.zombies = zombies
    options.recordsAllocations = zombies == nil || sample != nil
    do throws(AttachError) {
      return try LiveRecording.begin(pid, library: library, options: options)
    } catch {
      throw ToolError(error)
    }
  }
}
