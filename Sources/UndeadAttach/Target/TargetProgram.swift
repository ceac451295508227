import UndeadSystem

/// What is known of a running program before it is stopped.
package struct TargetProgram {
  package let pid: pid_t
  /// A thread that has not ended: the first one may have.
  package let anchor: pid_t
  package let memory: TargetMemory
  package let library: CLibrary
  /// The loaded files that have an allocator or locks of their own to be replaced in a copy.
  package let patched: [TargetImage]
  package let executable: String
  package let arguments: String
  /// Nanoseconds since 1970.
  package let started: UInt64

  package init(pid: pid_t) throws(AttachError) {
    self.pid = pid
    anchor = try Self.anchor(of: pid)
    let memory = try Self.memory(of: anchor, pid: pid)
    self.memory = memory
    executable = SymbolicLink.target("/proc/\(anchor)/exe") ?? ""
    arguments = Self.arguments(of: anchor)
    started = Self.started(pid)
    let maps = MemoryMap(process: anchor) ?? .unknown
    try Self.checkWordSize(maps, memory, pid, executable)
    library = try CLibrary(in: maps, memory: memory, process: "process \(pid) ('\(executable)')")
    let images = maps.imageStarts.compactMap { TargetImage(path: $0.path, start: $0.start, memory: memory) }
    try Obstacle.check(images, of: "process \(pid)")
    patched = images.filter { $0.symbol("malloc") != nil || $0.symbol("pthread_mutex_lock") != nil }
  }

  private static func anchor(of pid: pid_t) throws(AttachError) -> pid_t {
    guard pid > 0, let state = ProcFile.state(of: pid) else { throw .misuse("no such process: \(pid)") }
    if let leader = ProcFile.status("Tgid", of: pid).flatMap({ pid_t($0) }), leader != pid {
      throw .misuse("\(pid) is a thread of process \(leader); give the process id")
    }
    if let tracer = ProcFile.status("TracerPid", of: pid), tracer != "0" { throw .traced(pid, by: tracer) }
    let live = ProcFile.liveThreads(of: pid)
    guard !live.isEmpty else {
      throw .misuse("process \(pid) has ended (state \(state)); its parent has not asked for its exit status yet")
    }
    // Of a thread that just ends the memory is not to be seen any more. Numbers are used again: the oldest is not the lowest.
    let lasting = live.contains(pid) ? [pid] : live.sorted { ProcFile.startTicks($0) < ProcFile.startTicks($1) }
    guard ProcFile.status("Kthread", of: pid) != "1",
      let anchor = lasting.first(where: { ProcFile.status("VmSize", of: $0) != nil })
    else { throw .misuse("process \(pid) is a thread of the kernel, or just ends: it has no memory of its own") }
    return anchor
  }

  /// False if a shadow of the stack or a filter (seccomp), which may end the program, stands against calls that we have it make.
  var permitsSystemCalls: Bool {
    var filters: Set<String> = []
    let threads = ProcFile.liveThreads(of: pid)
    for tid in threads {
      if let features = ProcFile.status("x86_Thread_features", of: tid), features.contains("shstk") { return false }
      guard let mode = ProcFile.status("Seccomp", of: tid), mode != "0" else { continue }
      // Kernels before 5.9 do not count them, and another mode has no filters.
      guard mode == "2", let count = ProcFile.status("Seccomp_filters", of: tid) else { return false }
      filters.insert(count)
    }
    // All threads under the same ones, or none is.
    return filters.isEmpty || filters.count == 1 && threads.contains(where: filtersAllow)
  }

  /// Whether the filters of a thread, which stands still for a moment, let pass what a copy needs.
  private func filtersAllow(_ tid: pid_t) -> Bool {
    guard let thread = try? TracedThread.seize(tid) else { return false }
    defer { thread.detach() }
    guard thread.standStill(by: TracedThread.deadline(0.2)), thread.isAlive else { return false }
    Interruption.repair(thread)
    defer { Interruption.settle(thread) }
    let calls = [(SystemCall.clone, SurvivableCall.copying), (SystemCall.wait4, Reaper.waiting)].map {
      SystemCallFilter.Call(number: $0.0, arguments: $0.1, instruction: library.systemCall)
    }
    return SystemCallFilter.allows(calls, on: thread)
  }

  private static func memory(of tid: pid_t, pid: pid_t) throws(AttachError) -> TargetMemory {
    let descriptor = open("/proc/\(tid)/mem", O_RDONLY | O_CLOEXEC)
    let code = errno
    if descriptor < 0, code == EACCES || code == EPERM { throw .refused(EPERM, pid: pid, tid: tid) }
    if descriptor >= 0 { close(descriptor) }
    return try TargetMemory(of: tid)
  }

  private static func checkWordSize(
    _ maps: MemoryMap, _ memory: TargetMemory, _ pid: pid_t, _ executable: String
  ) throws(AttachError) {
    // The loader and the program are of one kind.
    for (_, start) in maps.imageStarts {
      guard let header = memory.read(at: start, count: 20), header.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else {
        continue
      }
      let machine = UInt16(header[18]) | UInt16(header[19]) << 8
      if header[4] == 2, machine == ELFHeader.Machine.x86 { return }
      throw .misuse(
        "process \(pid) ('\(executable)') is a program of \(header[4] == 1 ? "32 bits" : "another processor"); undead looks at x86-64"
      )
    }
  }

  private static func arguments(of tid: pid_t) -> String {
    var bytes = WholeFile.read("/proc/\(tid)/cmdline") ?? []
    while bytes.last == 0 { bytes.removeLast() }
    return String(decoding: bytes.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
  }

  private static func started(_ pid: pid_t) -> UInt64 {
    let ticks = ProcFile.startTicks(pid)
    guard ticks > 0 else { return 0 }
    let perSecond = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    return SystemClock.wallClock() &- SystemClock.sinceBoot() &+ ticks * (1_000_000_000 / perSecond)
  }
}

/// Programs whose memory is not understood.
enum Obstacle {
  /// Functions by which another instrument or allocator shows itself.
  private static let sanitizers = [
    "__asan_init": "AddressSanitizer", "__tsan_init": "ThreadSanitizer", "__lsan_init": "LeakSanitizer",
    "__msan_init": "MemorySanitizer", "__hwasan_init": "HWAddressSanitizer",
  ]
  private static let allocators = ["jemalloc", "tcmalloc", "mimalloc", "snmalloc", "hoard", "rpmalloc", "scudo"]

  static func check(_ images: [TargetImage], of program: String) throws(AttachError) {
    for image in images {
      for (mark, name) in sanitizers.sorted(by: { $0.key < $1.key }) where image.symbol(mark) != nil {
        throw .misuse("\(program) is built with \(name) ('\(image.path)'), whose memory undead does not know")
      }
      guard image.soname != "libc.so.6", image.symbol("malloc")?.isFunction == true, image.symbol("undead_scan") == nil,
        !image.soname.hasPrefix("ld-linux"), !image.path.hasPrefix("[")
      else { continue }
      // Of what is linked into a program only what libraries have, too, is in its symbols, and no allocator has this one.
      guard image.symbol("mlockall") == nil else {
        throw .misuse(
          "\(program) has Undead linked in ('\(image.path)'), whose records of all blocks only the program itself can read: "
            + "let it report (LeakDetector, UndeadService), or start it with 'undead run'")
      }
      let name = allocators.first { image.path.contains($0) } ?? "an allocator of its own"
      throw .misuse(
        "\(program) uses \(name) ('\(image.path)') in front of the C library's malloc, and undead knows where blocks begin "
          + "and end in that one alone; start it with 'undead run', or without that allocator")
    }
  }
}
