import UndeadSystem

/// A replica that is made of pieces, where none can be forked from the program: of a core file, or of memory that was
/// read from outside.
///
/// Belongs to the thread that made it (``TracerThread``). It ends with the tool, whatever ends that.
package final class ResurrectedReplica {
  private let source: ReplicaSource
  private let threads: [ReplicaThread]
  private let process: EmptyProcess
  private let host: ReplicaHost
  private let patched: [TargetImage]
  private var isEnded = false

  /// - Parameter name: of what it is made of, for people.
  /// - Throws: `AttachError`; no process is left.
  package init(of source: ReplicaSource, name: String) throws(AttachError) {
    self.source = source
    let process = try Resurrection(source: source).process()
    self.process = process
    do throws(AttachError) {
      let memory = process.memory
      let library = try CLibrary(in: source.maps, memory: memory, process: name)
      let images = source.maps.imageStarts.compactMap { TargetImage(path: $0.path, start: $0.start, memory: memory) }
      try Obstacle.check(images, of: name)
      try Self.quiet(images, memory)
      threads = try UnfinishedCalls(process: process, library: library).finish(source.threads)
      patched = images.filter { $0.symbol("malloc") != nil || $0.symbol("pthread_mutex_lock") != nil }
      host = try ReplicaHost(thread: process.thread, library: library)
    } catch {
      process.end()
      throw error
    }
  }

  deinit { end() }

  /// The program may have ended while the loader was at work: it would refuse to begin anything new.
  private static func quiet(_ images: [TargetImage], _ memory: TargetMemory) throws(AttachError) {
    // `struct r_debug`: version, list, address of a function, state; 0 is RT_CONSISTENT.
    guard let loader = images.first(where: { $0.soname.hasPrefix("ld-linux") }),
      let debug = loader.address(of: "_r_debug"),
      memory.load(UInt32.self, at: debug + 24).map({ $0 == 1 || $0 == 2 }) == true
    else { return }
    try memory.write([0, 0, 0, 0], at: debug + 24)
  }

  package func run(library: String, request: ReplicaRequest) throws(AttachError) -> ReplicaFile {
    var request = request
    request.pid = source.pid
    request.threads = threads
    request.maps = source.maps.text
    request.executable = source.executable
    request.arguments = source.arguments
    request.files = source.files
    request.taken = source.taken
    try host.prepare(patching: patched)
    return try host.snapshot(library: library, request)
  }

  /// Ends the process; may be called again.
  package func end() {
    guard !isEnded else { return }
    isEnded = true
    process.end()
  }
}
