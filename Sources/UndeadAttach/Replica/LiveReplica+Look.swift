import UndeadSystem

extension LiveReplica {
  /// How often a copy is made anew if the moment was a bad one: in the middle of malloc, of the loader, of a start of a thread.
  private static let attempts = 8

  /// Copies a program, has the copy write a snapshot, and takes everything away again.
  ///
  /// - Parameters:
  ///   - library: the path of the instrument.
  ///   - limit: in seconds, for the work in the copy.
  package static func look(
    at pid: pid_t, for look: Look, library: String, limit: Double
  ) throws(AttachError) -> ReplicaFile {
    var request = ReplicaRequest()
    request.look = look
    request.limit = limit
    var attempt = 1
    while true {
      do throws(AttachError) {
        // The end of its thread lets go of whatever an attempt could not stop.
        return try TracerThread.run { () throws(AttachError) in try once(pid, library, request) }
      } catch {
        guard error.kind == .again, attempt < attempts else { throw error }
        usleep(useconds_t(20_000 << min(attempt, 4)))
        attempt += 1
      }
    }
  }

  private static func once(
    _ pid: pid_t, _ library: String, _ request: ReplicaRequest
  ) throws(AttachError) -> ReplicaFile {
    let program = try TargetProgram(pid: pid)
    var request = request
    request.started = program.started
    let smaps = WholeFile.read("/proc/\(program.anchor)/smaps") ?? []
    // Its own pages are counted where it is: the copy has only those that it touched. Nobody asks for them beside tasks.
    if request.look == .heap { request.smaps = smaps }
    guard program.permitsSystemCalls else { return try read(program, library, request) }
    let isFiltered = ProcFile.status("Seccomp", of: program.anchor).map { $0 != "0" } ?? false
    do throws(AttachError) {
      request.mayHaveThreads = !isFiltered
      let replica = try LiveReplica(of: program, smaps: smaps)
      defer { replica.end() }
      return try replica.run(library: library, request: request)
    } catch {
      // The copy is under the same filters, and needs other calls than those that were asked for.
      guard isFiltered, error.kind != .misuse else { throw error }
      return try read(program, library, request)
    }
  }

  private static func read(
    _ program: TargetProgram, _ library: String, _ request: ReplicaRequest
  ) throws(AttachError) -> ReplicaFile {
    var request = request
    let made = try ReadReplica.make(of: program)
    defer { made.replica.end() }
    request.mayHaveThreads = false
    request.paused = made.paused
    request.held = made.held
    return try made.replica.run(library: library, request: request)
  }
}
