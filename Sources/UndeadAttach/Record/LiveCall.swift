import CUndeadTrace
import UndeadSystem

/// A call of a function of the library in a living program, by one of its threads; the others go on.
///
/// Should the tool be killed in the middle, the thread ends the call and finds its way back alone (``SurvivableCall``).
struct LiveCall {
  enum Function {
    /// In a library that is in the program.
    case address(UInt64)
    /// In one that is opened for it: its bytes, and the name of the function.
    case opening([UInt8], String)
  }

  let pid: pid_t
  let memory: TargetMemory
  let library: CLibrary
  let maps: MemoryMap
  /// In seconds.
  var limit = 20.0

  /// The name under which the library is known in the program's mappings.
  static let fileName = "undead-record"

  private enum Call {
    static let map = 9
    static let protect = 10
    static let unmap = 11
  }

  private static let readWrite: UInt64 = 3
  private static let readExecute: UInt64 = 5
  private static let privateAnonymous: UInt64 = 0x22
  private static let stackBytes: UInt64 = 512 << 10
  private static let page: UInt64 = 4096
  /// How long a thread waits for the tool when the call has ended.
  private static let patience: UInt64 = 3_000_000_000

  /// Calls it with the address of a copy of `request`, and reads that afterwards.
  ///
  /// - Throws: `AttachError`; the program is as it was, or has the library, which does nothing.
  func run(_ function: Function, request: inout [UInt8]) throws(AttachError) -> Int32 {
    let resting = RestingThread(pid: pid, library: library, memory: memory, maps: maps)
    let thread = try resting.find(limit: 5)
    defer { Self.letGo(thread) }
    let call = SurvivableCall(library: library, memory: memory)
    let state = try call.prepare(thread)
    var region = try region(for: function, request: request)
    do throws(AttachError) {
      try make(&region, call, thread, state)
      try write(region, function, request, state)
    } catch {
      if region.start != 0 { _ = try? unmap(region, call, thread, state) }
      try? call.finish(thread, state)
      throw error
    }
    try start(region, thread, state)
    let outcome = try wait(for: region, on: thread, state)
    if let bytes = memory.read(at: region.request, count: request.count) { request = bytes }
    try bringBack(region, call, thread, state)
    return try outcome.result()
  }

  static func letGo(_ thread: TracedThread) {
    Interruption.repair(thread)
    Interruption.settle(thread)
    thread.detach()
  }

  // MARK: Memory

  /// Pages in the program: code, the call with its texts and the request, the library's bytes, a stack.
  private struct Region {
    var start: UInt64 = 0
    let code: [UInt8]
    let codeBytes, dataBytes, libraryBytes: UInt64
    var bytes: UInt64 { codeBytes + dataBytes + libraryBytes + LiveCall.stackBytes }
    var call: UInt64 { start + codeBytes }
    var texts: UInt64 { call + 2048 }
    var request: UInt64 { call + LiveCall.page }
    var library: UInt64 { start + codeBytes + dataBytes }
    var codeRange: Range<UInt64> { start..<start + codeBytes }
  }

  private func region(for function: Function, request: [UInt8]) throws(AttachError) -> Region {
    var size = 0
    guard let code = undead_live_code(&size), size > 0 else {
      throw .misuse("recording cannot be put into programs for this processor")
    }
    precondition(MemoryLayout<undead_live_call>.size <= 2048)
    var bytes: UInt64 = 0
    if case .opening(let library, _) = function { bytes = UInt64(library.count) }
    return Region(
      code: Array(UnsafeBufferPointer(start: code, count: size)), codeBytes: Self.rounded(UInt64(size)),
      dataBytes: Self.page + Self.rounded(UInt64(request.count)), libraryBytes: Self.rounded(bytes))
  }

  private static func rounded(_ bytes: UInt64) -> UInt64 { (bytes + page - 1) & ~(page - 1) }

  private func make(
    _ region: inout Region, _ call: SurvivableCall, _ thread: TracedThread, _ state: SurvivableCall.State
  ) throws(AttachError) {
    let deadline = TracedThread.deadline(limit)
    let start = try call.run(
      Call.map, [0, region.bytes, Self.readWrite, Self.privateAnonymous, .max, 0], on: thread, state, by: deadline)
    guard start > 0 else {
      throw .failure("process \(pid) has no memory for the call: \(SystemError.text(Int32(-start)))")
    }
    region.start = UInt64(start)
    let code = try call.run(
      Call.protect, [region.start, region.codeBytes, Self.readExecute], on: thread, state, by: deadline)
    guard code == 0 else {
      throw .misuse("process \(pid) may not have new code in memory: \(SystemError.text(Int32(-code)))")
    }
  }

  private func unmap(
    _ region: Region, _ call: SurvivableCall, _ thread: TracedThread, _ state: SurvivableCall.State
  ) throws(AttachError) {
    _ = try call.run(Call.unmap, [region.start, region.bytes], on: thread, state, by: TracedThread.deadline(5))
  }

  private func write(
    _ region: Region, _ function: Function, _ request: [UInt8], _ state: SurvivableCall.State
  ) throws(AttachError) {
    var call = undead_live_call()
    call.request = region.request
    call.dlopen = try address(of: "dlopen")
    call.dlsym = try address(of: "dlsym")
    call.dlerror = try address(of: "dlerror")
    call.errno_location = try address(of: "__errno_location")
    call.region = region.start
    call.region_bytes = region.bytes
    call.system_call = library.systemCall
    call.frame = state.frame
    call.patience = Self.patience
    var texts: [UInt8] = []
    func text(_ text: String, room: Int = 0) -> UInt64 {
      defer { texts += Array(text.utf8) + [UInt8](repeating: 0, count: room + 1) }
      return region.texts + UInt64(texts.count)
    }
    switch function {
    case .address(let address): call.function = address
    case .opening(let bytes, let name):
      call.library = region.library
      call.library_bytes = UInt64(bytes.count)
      call.file_name = text(Self.fileName)
      call.path = text("/proc/self/fd/", room: 24)
      call.symbol = text(name)
      try memory.write(bytes, at: region.library)
    }
    try memory.write(withUnsafeBytes(of: call, Array.init), at: region.call)
    try memory.write(texts, at: region.texts)
    try memory.write(request, at: region.request)
    try memory.write(region.code, at: region.start)
  }

  private func address(of name: String) throws(AttachError) -> UInt64 {
    guard let address = library.image.address(of: name) else {
      throw .misuse("the C library of process \(pid) has no function \(name)")
    }
    return address
  }

  // MARK: Calling

  private func start(_ region: Region, _ thread: TracedThread, _ state: SurvivableCall.State) throws(AttachError) {
    var registers = state.registers
    registers.set(call: region.start, [region.call])
    registers.rsp = (region.start + region.bytes) & ~15 - 8
    registers.rbp = 0
    try thread.setRegisters(registers)
    do throws(PtraceError) {
      try Ptrace.request(Ptrace.continue, thread.tid)
    } catch {
      throw thread.gone(error.code)
    }
  }

  private struct Outcome {
    let pid: pid_t
    let call: undead_live_call
    let message: String

    func result() throws(AttachError) -> Int32 {
      let reason = SystemError.text(Int32(truncatingIfNeeded: call.result))
      switch call.failed_step {
      case UInt64(UNDEAD_LIVE_FILE.rawValue):
        throw .misuse("process \(pid) cannot make a file in memory for the library (memfd_create): \(reason)")
      case UInt64(UNDEAD_LIVE_WRITE.rawValue):
        throw .failure("the library cannot be written to the memory of process \(pid): \(reason)")
      case UInt64(UNDEAD_LIVE_OPEN.rawValue):
        throw .misuse("process \(pid) cannot open the library: \(message)")
      case UInt64(UNDEAD_LIVE_SYMBOL.rawValue):
        throw .failure("the library that was put into process \(pid) has not the right functions: \(message)")
      case UInt64(UNDEAD_LIVE_LATE.rawValue): throw .again("process \(pid) took too long")
      default: return Int32(truncatingIfNeeded: call.result)
      }
    }
  }

  private func wait(
    for region: Region, on thread: TracedThread, _ state: SurvivableCall.State
  ) throws(AttachError) -> Outcome {
    let deadline = TracedThread.deadline(limit)
    while true {
      guard let ended = memory.load(UInt64.self, at: region.call) else {
        throw .again(
          "process \(pid) ended or executed another program meanwhile, or the machine is so busy that its answer was not "
            + "read in time; try again")
      }
      if ended != 0 { return try outcome(region) }
      try look(at: thread, state)
      guard SystemClock.now() < deadline else { break }
      usleep(100)
    }
    // It waits for a lock of the loader. Whenever it gets that it goes back by itself, and nothing is recorded.
    let cancelled = UInt64(MemoryLayout<undead_live_call>.offset(of: \.cancelled)!)
    try memory.write(withUnsafeBytes(of: UInt64(1).littleEndian, Array.init), at: region.call + cancelled)
    thread.detach()
    throw .again(
      "the library could not be opened in process \(pid) within \(limit) s: thread \(thread.tid) waits for the loader; it goes on "
        + "by itself when it may, and nothing is recorded then")
  }

  /// A signal that stops the thread, all being blocked, is a fault of ours.
  private func look(at thread: TracedThread, _ state: SurvivableCall.State) throws(AttachError) {
    guard let stop = thread.wait(until: 0) else { return }
    guard thread.isAlive else { throw .failure("process \(pid) \(stop) while it was worked on") }
    if stop.holdsSignal {
      try thread.setSignalMask(state.mask)
      try thread.setRegisters(state.registers)
      throw .failure("the library failed in process \(pid) (signal \(stop.signal)); the thread was brought back")
    }
    _ = try? Ptrace.request(Ptrace.continue, thread.tid)
  }

  private func outcome(_ region: Region) throws(AttachError) -> Outcome {
    guard let bytes = memory.read(at: region.call, count: MemoryLayout<undead_live_call>.size) else {
      throw .failure("process \(pid) ended while it was worked on")
    }
    let call = bytes.withUnsafeBytes { $0.loadUnaligned(as: undead_live_call.self) }
    let offset = MemoryLayout<undead_live_call>.offset(of: \.message)!
    let message = bytes[offset...].prefix { $0 != 0 }
    return Outcome(pid: pid, call: call, message: String(decoding: message, as: UTF8.self))
  }

  /// Ends the thread's waiting, gives the pages back, and puts the thread where it was.
  private func bringBack(
    _ region: Region, _ call: SurvivableCall, _ thread: TracedThread, _ state: SurvivableCall.State
  ) throws(AttachError) {
    do throws(PtraceError) {
      try Ptrace.request(Ptrace.interrupt, thread.tid)
    } catch {
      throw thread.gone(error.code)
    }
    guard thread.standStill(by: TracedThread.deadline(limit)), thread.isAlive else {
      throw .failure("thread \(thread.tid) of process \(pid) does not stand still")
    }
    // It may have lost its patience, and be on its way.
    guard region.codeRange.contains(try thread.registers().rip) else { return }
    try unmap(region, call, thread, state)
    try call.finish(thread, state)
  }
}
