import Glibc

extension LiveReplica {
  /// How often a copy is made anew if the moment was a bad one: in the middle of malloc, of the loader, of a start of a thread.
  private static let attempts = 4

  /// Copies a program, has the copy write a snapshot, and takes everything away again.
  ///
  /// - Parameters:
  ///   - library: the path of the instrument.
  ///   - limit: in seconds, for the work in the copy.
  public static func look(
    at pid: pid_t, library: String, wantsHeap: Bool, limit: Double
  ) throws(AttachError) -> ReplicaFile {
    try TracerThread.run { () throws(AttachError) in
      var attempt = 1
      while true {
        do throws(AttachError) {
          return try once(pid, library, wantsHeap, limit)
        } catch {
          guard error.kind == .again, attempt < attempts else { throw error }
          usleep(useconds_t(20_000 << attempt))
          attempt += 1
        }
      }
    }
  }

  private static func once(
    _ pid: pid_t, _ library: String, _ wantsHeap: Bool, _ limit: Double
  ) throws(AttachError) -> ReplicaFile {
    let replica = try LiveReplica(of: try TargetProgram(pid: pid))
    defer { replica.end() }
    var request = ReplicaRequest()
    request.wantsHeap = wantsHeap
    request.limit = limit
    // Its own pages are counted where it is: the copy has only those that it touched.
    if wantsHeap { request.smaps = ProcFile.read("/proc/\(pid)/smaps") ?? [] }
    return try replica.run(library: library, request: request)
  }
}
