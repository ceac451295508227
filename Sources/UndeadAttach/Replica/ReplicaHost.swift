import CUndeadTrace
import UndeadSystem

/// A process of ours with a program's memory in it, made ready to run code: an allocator of its own, no locks, a stack.
///
/// Its one thread is traced by this thread of the tool. A live copy and a core come here alike.
package final class ReplicaHost {
  package let thread: TracedThread
  package let memory: TargetMemory
  package let library: CLibrary
  package var pid: pid_t { thread.tid }

  private var blob: UInt64 = 0
  private var stack: Range<UInt64> = 0..<0
  private var scratch: UInt64 { stack.lowerBound }

  private static let stackBytes: UInt64 = 8 << 20
  private static let scratchBytes: UInt64 = 64 << 10
  private static let pageBytes: UInt64 = 4096

  package init(thread: TracedThread, library: CLibrary) throws(AttachError) {
    self.thread = thread
    self.library = library
    memory = try TargetMemory(of: thread.tid)
  }

  // MARK: System calls

  /// Makes a system call in the process.
  package func systemCall(
    _ number: Int, _ a: UInt64 = 0, _ b: UInt64 = 0, _ c: UInt64 = 0, _ d: UInt64 = 0, _ e: UInt64 = 0
  )
    throws(AttachError) -> Int64
  {
    try thread.systemCall(number, a, b, c, d, e, 0, at: library.systemCall)
  }

  /// Maps memory that belongs to nobody.
  package func map(_ bytes: UInt64, flags: Int32 = 0) throws(AttachError) -> UInt64? {
    let result = try thread.systemCall(
      SystemCall.mmap, 0, bytes, UInt64(PROT_READ | PROT_WRITE), UInt64(MAP_PRIVATE | MAP_ANONYMOUS | flags), .max, 0,
      at: library.systemCall)
    return result < 0 && result > -4096 ? nil : UInt64(bitPattern: result)
  }

  private func mapped(_ bytes: UInt64) throws(AttachError) -> UInt64 {
    guard let address = try map(bytes) else {
      throw .failure(
        "there is no room for \(bytes >> 10) KB in the copy of the program: a limit of its address space (ulimit -v) is reached"
      )
    }
    return address
  }

  // MARK: Making ready

  /// Puts the code and a stack in, and replaces the allocator and the locks of `images`.
  package func prepare(patching images: [TargetImage]) throws(AttachError) {
    blob = try mapped(2 * Self.pageBytes)
    var size = 0
    guard let code = undead_trace_blob(&size) else { throw .misuse("undead can look at processes on x86-64 only") }
    try memory.write(UnsafeRawBufferPointer(start: code, count: size), at: blob)
    try reserveHeap()
    let result = try systemCall(
      SystemCall.mprotect, blob, Self.pageBytes, UInt64(PROT_READ | PROT_EXEC))
    guard result == 0 else {
      throw .failure("no code can be put into the copy of the program: \(SystemError.text(Int32(-result)))")
    }
    let low = try mapped(Self.scratchBytes + Self.stackBytes)
    stack = low..<low + Self.scratchBytes + Self.stackBytes
    for image in images { try patch(image) }
    try resetFloatingPoint()
  }

  private func reserveHeap() throws(AttachError) {
    // The process may be under a limit of its address space.
    for size in [32 << 30, 4 << 30, 1 << 30, 256 << 20, 64 << 20] as [UInt64] {
      guard let start = try map(size, flags: MAP_NORESERVE) else { continue }
      let variables = blob + UInt64(undead_trace_blob_data())
      try memory.write(
        withUnsafeBytes(of: (start.littleEndian, (start + size).littleEndian), Array.init), at: variables)
      return
    }
    throw .failure(
      "there is no room for 64 MB in the copy of the program: a limit of its address space (ulimit -v) is reached")
  }

  /// What a function of the C library is replaced by.
  private static let replacements: [(name: String, entry: undead_trace_entry)] =
    [
      ("malloc", UNDEAD_TRACE_MALLOC), ("calloc", UNDEAD_TRACE_CALLOC), ("realloc", UNDEAD_TRACE_REALLOC),
      ("free", UNDEAD_TRACE_FREE), ("cfree", UNDEAD_TRACE_FREE), ("memalign", UNDEAD_TRACE_MEMALIGN),
      ("aligned_alloc", UNDEAD_TRACE_MEMALIGN), ("posix_memalign", UNDEAD_TRACE_POSIX_MEMALIGN),
    ]
    + [
      "pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_mutex_clocklock",
      "pthread_mutex_unlock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_tryrdlock",
      "pthread_rwlock_trywrlock", "pthread_rwlock_unlock", "pthread_spin_lock", "pthread_spin_trylock",
      "pthread_cond_signal", "pthread_cond_broadcast",
    ].map { ($0, UNDEAD_TRACE_ZERO) }

  private func patch(_ image: TargetImage) throws(AttachError) {
    for (name, entry) in Self.replacements {
      guard let symbol = image.symbol(name), symbol.isFunction,
        image.code.contains(where: { $0.contains(symbol.address) })
      else { continue }
      // xor %eax, %eax; ret
      var code: [UInt8] = [0x31, 0xC0, 0xC3]
      if entry != UNDEAD_TRACE_ZERO {
        // jmp *0(%rip), and the address; functions lie at multiples of 16.
        guard symbol.address % 16 == 0 || symbol.size >= 14 else { continue }
        code = [0xFF, 0x25, 0, 0, 0, 0]
        code.append(number: address(of: entry))
      }
      try memory.write(code, at: symbol.address)
    }
  }

  private func address(of entry: undead_trace_entry) -> UInt64 { blob + UInt64(undead_trace_blob_offset(entry)) }

  /// A thread that was stopped in the middle of a calculation leaves the processor in any state.
  private func resetFloatingPoint() throws(AttachError) {
    var state = thread.extendedState()
    guard state.count >= 576 else { return }
    // The header's set of components says that all of them are as after a reset; MXCSR and the x87 control word are read anyway.
    for index in 512..<520 { state[index] = 0 }
    state.replaceSubrange(0..<2, with: [0x7F, 0x03])
    state.replaceSubrange(24..<28, with: [0x80, 0x1F, 0, 0])
    try thread.setExtendedState(state)
  }

  // MARK: Calls

  /// Calls a function of the process.
  package func call(_ function: UInt64, _ a: UInt64 = 0, _ b: UInt64 = 0, _ c: UInt64 = 0, limit: Double = 10)
    throws(AttachError) -> UInt64
  {
    try thread.call(
      function, a, b, c, stack: stack.upperBound, trap: address(of: UNDEAD_TRACE_TRAP), memory: memory, limit: limit)
  }

  /// Puts text where the process can read it; the next one takes its place.
  package func text(_ text: String) throws(AttachError) -> UInt64 {
    try memory.write(Array(text.utf8) + [0], at: scratch)
    return scratch
  }

  /// Makes a file in memory, open in the process; gives back its number there.
  package func memoryFile(_ name: String) throws(AttachError) -> Int32 {
    let result = try systemCall(SystemCall.memfdCreate, try text(name), 0)
    guard result >= 0 else {
      throw .failure("the copy of the program can make no file in memory: \(SystemError.text(Int32(-result)))")
    }
    return Int32(result)
  }

  /// Opens a file of the process here.
  package func open(_ file: Int32) throws(AttachError) -> Int32 {
    let descriptor = Glibc.open("/proc/\(pid)/fd/\(file)", O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .failure("a file of the copy of the program cannot be opened: \(SystemError.text(errno))")
    }
    return descriptor
  }

  /// Loads a library of the tool's file system; gives back what `dlopen` did.
  package func load(_ path: String) throws(AttachError) -> UInt64 {
    let file = try memoryFile("undead")
    let copy = try open(file)
    defer { close(copy) }
    let source = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard source >= 0 else { throw .failure("cannot read '\(path)': \(SystemError.text(errno))") }
    defer { close(source) }
    var status = stat()
    fstat(source, &status)
    var offset: off_t = 0
    while offset < status.st_size {
      let count = sendfile(copy, source, &offset, Int(status.st_size - offset))
      if count <= 0 && errno != EINTR {
        throw .failure("cannot copy '\(path)' into the copy of the program: \(SystemError.text(errno))")
      }
    }
    guard let dlopen = library.image.address(of: "dlopen") else { throw .misuse("the C library has no dlopen") }
    let handle = try call(dlopen, try text("/proc/self/fd/\(file)"), UInt64(RTLD_NOW))
    if handle == 0 {
      throw .failure("the library cannot be loaded into the copy of the program: \(try loaderMessage())")
    }
    return handle
  }

  private func loaderMessage() throws(AttachError) -> String {
    guard let dlerror = library.image.address(of: "dlerror") else { return "no reason is known" }
    let text = try call(dlerror)
    return (text == 0 ? nil : memory.text(at: text, limit: 512)) ?? "no reason is known"
  }

  /// The address of a symbol of a loaded library.
  package func symbol(_ name: String, in handle: UInt64) throws(AttachError) -> UInt64 {
    guard let dlsym = library.image.address(of: "dlsym") else { throw .misuse("the C library has no dlsym") }
    let address = try call(dlsym, handle, try text(name))
    guard address != 0 else {
      throw .failure("the library in the copy of the program has no '\(name)': it is of another version than this tool")
    }
    return address
  }

  /// Loads the instrument, and has it write a snapshot file.
  package func snapshot(library path: String, _ request: ReplicaRequest) throws(AttachError) -> ReplicaFile {
    let main: UInt64
    if let recorded = recorded(request.maps) {
      main = recorded
    } else {
      main = try symbol("undead_replica_main", in: try load(path))
    }
    let number = try memoryFile("undead-snapshot")
    let descriptor = try open(number)
    let file = ReplicaFile(descriptor: descriptor)
    let size = request.encoded(at: 0, file: number, stack: stack).count
    let place = try mapped((UInt64(size) + Self.pageBytes - 1) & ~(Self.pageBytes - 1))
    try memory.write(request.encoded(at: place, file: number, stack: stack), at: place)
    let end = try call(main, place, limit: request.limit)
    let message =
      memory.text(at: place + UInt64(ReplicaRequest.messageOffset), limit: ReplicaRequest.messageBytes) ?? ""
    guard end & 0xFFFF_FFFF == 0 else { throw Self.refused(UInt32(truncatingIfNeeded: end), message) }
    file.message = message
    return file
  }

  /// That of the library which records in the program: the copy has what it recorded.
  private func recorded(_ maps: [UInt8]) -> UInt64? {
    LiveLibrary(in: MemoryMap(text: maps), memory: memory)?.image.address(of: "undead_replica_main")
  }

  private static func refused(_ code: UInt32, _ message: String) -> AttachError {
    let text = message.isEmpty ? "no reason is known (\(code))" : message
    switch code {
    case 1, 2: return .misuse(text)
    case 3: return .again(text)
    default: return .failure(text)
    }
  }
}

extension TargetImage.Symbol {
  /// Not one that the loader chooses from several when it binds it.
  var isFunction: Bool { type == 2 }
}
