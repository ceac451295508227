import Foundation
import Testing
import UndeadSystem

@testable import UndeadAttach

/// What the handler of a signal shows while it runs: an address of its own stack, and where the code stood. It goes on when
/// the second pipe ends.
nonisolated(unsafe) private var handler: (stack: UInt64, interrupted: UInt64) = (0, 0)
nonisolated(unsafe) private var handlerReturnsTo: UInt64 = 0
nonisolated(unsafe) private var handlerRuns: [Int32] = [0, 0]
nonisolated(unsafe) private var handlerMayEnd: [Int32] = [0, 0]

/// What is read of a process: this one.
@Suite struct TargetTests {
  @Test func mappingsAreThoseOfTheText() throws {
    let text = """
      55d0c0000000-55d0c0001000 r--p 00000000 fe:00 131                        /app/my server
      55d0c0001000-55d0c0003000 r-xp 00001000 fe:00 131                        /app/my server
      7f0000000000-7f0000002000 rw-s 00000000 00:01 7                          /dev/zero (deleted)
      7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]
      not a line
      7ffd00030000-7ffd00020000 rw-p 00000000 00:00 0
      """
    let map = MemoryMap(text: Array(text.utf8))
    #expect(map.regions.count == 4)
    #expect(map.imageStarts.map(\.path) == ["/app/my server"])
    #expect(map.imageStarts.first?.start == 0x55d0_c000_0000)
    let code = try #require(map.region(containing: 0x55d0_c000_2fff))
    #expect(code.isExecutable && !code.isWritable && code.offset == 0x1000 && code.inode == 131)
    #expect(map.region(containing: 0x55d0_c000_3000) == nil && map.region(containing: 0) == nil)
    #expect(map.regions[2].isShared && map.regions[2].path == "/dev/zero (deleted)")
  }

  @Test func pagesAreThoseThatACopyDoesNotGet() throws {
    let memory = try #require(mmap(nil, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    defer { munmap(memory, 1 << 20) }
    let start = UInt64(UInt(bitPattern: memory))
    try #require(memory != MAP_FAILED && madvise(memory + 4096, 8192, MADV_DONTFORK) == 0)
    try #require(madvise(memory + 65536, 8192, MADV_WIPEONFORK) == 0)
    memset(memory + 65536, 1, 4096)
    let (hidden, wiped) = (start + 4096..<start + 12288, start + 65536..<start + 73728)
    let uncopied = MemoryMap.uncopied(process: getpid())
    #expect(uncopied.contains(hidden) && uncopied.contains(wiped))
    let pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)
    defer { close(pagemap) }
    let map = try #require(MemoryMap.own)
    #expect(map.region(containing: hidden.lowerBound)?.touchedPages(pagemap) == [])
    #expect(map.region(containing: wiped.lowerBound)?.touchedPages(pagemap) == [start + 65536..<start + 69632])
  }

  /// A debugger or a symboliser in the process may have the file there, too.
  @Test func aFileThatIsMappedToBeReadIsNoImage() {
    let text = """
      7f00c0000000-7f00c0200000 r--p 00000000 fe:00 131 /lib/libc.so.6
      7f00d0000000-7f00d0001000 r--p 00000000 fe:00 131 /lib/libc.so.6
      7f00d0001000-7f00d0100000 r-xp 00001000 fe:00 131 /lib/libc.so.6
      7f00e0000000-7f00e0200000 r--p 00000000 fe:00 131 /lib/libc.so.6
      7f00f0000000-7f00f0200000 r--p 00000000 fe:00 132 /lib/data.so

      """
    let starts = MemoryMap(text: Array(text.utf8)).imageStarts
    #expect(starts.map(\.path) == ["/lib/libc.so.6"] && starts.first?.start == 0x7f00_d000_0000)
  }

  @Test func mappingsAreThoseOfTheProcess() throws {
    let code = UInt64(UInt(bitPattern: dlsym(UnsafeMutableRawPointer(bitPattern: 0), "getppid")))
    let map = try #require(MemoryMap.own)
    #expect(map.region(containing: code)?.isExecutable == true)
    #expect(MemoryMap(process: getpid())?.region(containing: code) == map.region(containing: code))
    #expect(MemoryMap(process: .max)?.regions == nil && errno == ENOENT)
    #expect(MemoryMap.unknown.regions.isEmpty)
  }

  @Test func symbolsAreThoseOfTheLoader() throws {
    let (library, memory) = try Self.ownLibrary()
    for name in ["getppid", "dlopen", "pthread_mutex_lock"] {
      let known = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), name))
      #expect(library.image.address(of: name) == UInt64(UInt(bitPattern: known)), "\(name)")
    }
    #expect(library.image.address(of: "no such function") == nil)
    #expect(memory.read(at: library.systemCall, count: 3) == [0x0F, 0x05, 0xC3])
    #expect(memory.read(at: 0, count: 8) == nil && memory.load(UInt64.self, at: .max) == nil)
  }

  @Test func theCodeOfMallocStandsTogether() throws {
    let (library, _) = try Self.ownLibrary()
    let code = try #require(library.allocator)
    for name in ["malloc", "free", "calloc", "realloc", "posix_memalign"] {
      #expect(code.contains(try #require(library.image.address(of: name))), "\(name)")
    }
    #expect(!code.contains(try #require(library.image.address(of: "nanosleep"))))
  }

  /// A signal that a thread sends to itself interrupts the function that sends it. Words of handlers that returned before
  /// remain where nothing was written since.
  @Test func whatASignalHandlerInterruptedIsFound() throws {
    let (library, memory) = try Self.ownLibrary()
    #expect(pipe(&handlerRuns) == 0 && pipe(&handlerMayEnd) == 0)
    handler = (0, 0)
    handlerReturnsTo = library.signalReturn
    let old = Self.handle(SIGURG)
    var thread = pthread_t()
    let created = pthread_create(
      &thread, nil,
      { _ in
        // Threads inherit that signals are blocked, such as from those of the queues that run the tests.
        var signals = sigset_t()
        sigaddset(&signals, SIGURG)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        TargetTests.leaveBehind(handlerReturnsTo)
        pthread_kill(pthread_self(), SIGURG)
        // If there was no handler, the test fails rather than waits.
        var byte: UInt8 = 0
        write(handlerRuns[1], &byte, 1)
        return nil
      }, nil)
    try #require(created == 0)
    var byte: UInt8 = 0
    #expect(read(handlerRuns[0], &byte, 1) == 1)
    #expect(handler.stack != 0 && library.image.code.contains { $0.contains(handler.interrupted) })
    #expect(
      SignalFrames.interrupted(above: handler.stack, library: library, memory: memory) == [handler.interrupted])
    close(handlerMayEnd[1])
    pthread_join(thread, nil)
    var restored = old
    sigaction(SIGURG, &restored, nil)
    for end in handlerRuns + [handlerMayEnd[0]] { close(end) }
  }

  /// Fills the stack below the caller with a word.
  @inline(never) private static func leaveBehind(_ word: UInt64) {
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 2048) { words in
      words.update(repeating: word)
      keepAll(words)
    }
  }

  @inline(never) @_optimize(none) private static func keepAll(_ words: UnsafeMutableBufferPointer<UInt64>) {}

  /// Has the handler of a signal note itself; returns what was done before.
  private static func handle(_ signal: Int32) -> sigaction {
    var action = sigaction()
    var old = sigaction()
    action.sa_flags = SA_SIGINFO
    action.__sigaction_handler.sa_sigaction = { _, _, context in
      var byte: UInt8 = 0
      let registers = context!.assumingMemoryBound(to: ucontext_t.self).pointee.uc_mcontext.gregs
      withUnsafeMutablePointer(to: &byte) { byte in
        handler = (UInt64(UInt(bitPattern: byte)), UInt64(bitPattern: registers.16))
        write(handlerRuns[1], byte, 1)
        while read(handlerMayEnd[0], byte, 1) < 0, errno == EINTR {}
      }
    }
    sigaction(signal, &action, &old)
    return old
  }

  private static func ownLibrary() throws -> (CLibrary, TargetMemory) {
    let memory = try TargetMemory(of: getpid())
    let maps = try #require(MemoryMap.own)
    return (try CLibrary(in: maps, memory: memory, process: "this process"), memory)
  }

  @Test func processesThatCannotBeLookedAt() {
    for (pid, text) in [(0, "no such process"), (-1, "no such process"), (pid_t.max, "no such process")]
      as [(pid_t, String)]
    {
      do throws(AttachError) {
        _ = try TargetProgram(pid: pid)
        Issue.record("\(pid) was looked at")
      } catch {
        #expect(error.kind == .misuse && error.message.contains(text))
      }
    }
  }

  @Test func wordsThatTheKernelHolds() {
    let poll = "pos:\t0\nflags:\t02\ntfd:        7 events:       19 data: 7f0012345678  pos:0 ino:1 sdev:2\n"
    #expect(HeldByKernel.numbers(behind: " data:", in: Array(poll.utf8)) == [0x7f00_1234_5678])
    let timers = "ID: 1\nsignal: 14/00007ffd00001000\nnotify: signal/pid.2634\nClockID: 0\n"
    #expect(HeldByKernel.numbers(behind: "/", in: Array(timers.utf8)) == [0x7ffd_0000_1000])
    #expect(HeldByKernel.numbers(behind: "/", in: []) == [])
  }

  @Test func wordsThatWaitToBeRead() throws {
    var (pipe, pair): ([Int32], [Int32]) = ([0, 0], [0, 0])
    try #require(Glibc.pipe(&pipe) == 0 && socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    defer { for file in pipe + pair { close(file) } }
    let maps = try #require(MemoryMap.own)
    func found() -> Set<UInt64>? {
      var held = HeldByKernel(for: getpid())
      held.read([])
      return held.words(in: maps).map(Set.init)
    }
    var bytes: [UInt32] = [1, 0x1234_5678, 0x7f00, 2]
    write(pipe[1], &bytes, 16)
    bytes[1] = 0x8765_4321
    write(pair[0], &bytes, 16)
    let both = try #require(found())
    #expect(both.isSuperset(of: [0x7f00_1234_5678, 0x7f00_8765_4321]))
    // They are still there, and looked at no longer when they are read.
    #expect(read(pipe[0], &bytes, 16) == 16 && bytes[1] == 0x1234_5678)
    #expect(read(pair[1], &bytes, 16) == 16 && bytes[1] == 0x8765_4321)
    #expect(try #require(found()).isDisjoint(with: both))
  }

  @Test func aRequestIsLaidOutAsTheLibraryReadsIt() {
    var request = ReplicaRequest()
    request.pid = 77
    request.look = .heap
    request.maps = Array("maps".utf8)
    request.threads = [
      ReplicaThread(
        tid: 5, isFirst: true, isInSystemCall: true, registers: Registers(), extendedState: [1, 2, 3])
    ]
    let base: UInt64 = 0x10_0000
    let bytes = request.encoded(at: base, file: 9, stack: 1..<2)
    func word(_ offset: Int) -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) } }
    #expect(word(0) & 0xFFFF_FFFF == 1 && word(8) == 5 | 9 << 32 && word(16) == 77 | 1 << 32)
    let threads = Int(word(24) - base)
    #expect(word(threads) == 5 | 3 << 32)
    let state = Int(word(threads + 8 + 27 * 8) - base)
    #expect(Array(bytes[state..<state + 3]) == [1, 2, 3] && word(threads + 8 + 28 * 8) == 3)
    #expect(Array(bytes[Int(word(32) - base)..<Int(word(32) - base) + 5]) == Array("maps\0".utf8))
  }
}
