import Foundation
import Testing

@testable import UndeadAttach

/// What the process may do that is made of a file.
@Suite struct ConfinementTests {
  @Test func itReachesNothingButMemoryAndFilesToRead() throws {
    let results = try TracerThread.run { () throws(AttachError) -> [Int64] in
      let process = try EmptyProcess(at: 0x1000_0000_0000, files: [])
      defer { process.end() }
      try Confinement.confine(process)
      let page = UInt64(try process.map(0, 4096, PROT_READ | PROT_WRITE, UInt64(MAP_PRIVATE | MAP_ANONYMOUS), .max, 0))
      try process.memory.write(Array("/dev/null\0".utf8), at: page)
      func call(_ number: Int, _ a: UInt64 = 0, _ b: UInt64 = 0, _ c: UInt64 = 0) throws(AttachError) -> Int64 {
        try process.thread.systemCall(number, a, b, c, at: process.instruction)
      }
      let directory = UInt64(bitPattern: Int64(AT_FDCWD))
      return [
        try call(2, page, UInt64(O_RDONLY)),
        try call(257, directory, page, UInt64(O_RDONLY)),
        try call(2, page, UInt64(O_WRONLY)),
        try call(257, directory, page, UInt64(O_RDWR)),
        try call(41, 2, 1),
        try call(59, page),
        try call(62, UInt64(getpid()), 0),
        try call(87, page),
        try call(56, 0x1000_0000),
        try call(0x4000_0000 + 39),
        try call(435),
        try call(39) - Int64(process.pid),
      ]
    }
    #expect(results[0] >= 0 && results[1] >= 0)
    let refused = -Int64(EPERM)
    for result in results[2..<10] { #expect(result == refused) }
    #expect(results[10] == -Int64(ENOSYS))
    #expect(results[11] == 0)
  }
}
