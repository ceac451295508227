import Foundation
import Testing

@testable import UndeadAttach

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

  @Test func symbolsAreThoseOfTheLoader() throws {
    let memory = try TargetMemory(of: getpid())
    let maps = MemoryMap(text: try #require(ProcFile.read("/proc/self/maps")))
    let library = try CLibrary(in: maps, memory: memory, process: "this process")
    for name in ["getppid", "dlopen", "pthread_mutex_lock"] {
      let known = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), name))
      #expect(library.image.address(of: name) == UInt64(UInt(bitPattern: known)), "\(name)")
    }
    #expect(library.image.address(of: "no such function") == nil)
    #expect(memory.read(at: library.systemCall, count: 3) == [0x0F, 0x05, 0xC3])
    #expect(memory.read(at: 0, count: 8) == nil && memory.load(UInt64.self, at: .max) == nil)
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

  @Test func aRequestIsLaidOutAsTheLibraryReadsIt() {
    var request = ReplicaRequest()
    request.pid = 77
    request.wantsHeap = true
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
