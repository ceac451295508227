import Glibc
import Testing

@testable import UndeadSystem

@Suite struct OpenDescriptorTests {
  private func names(_ tables: [String: String], _ inodes: Set<UInt64>) -> SocketNames {
    SocketNames(inodes: inodes) { tables[$0].map { Array($0.utf8) } }
  }

  @Test func theEndsOfConnections() {
    let head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    let found = names(
      [
        "tcp": head + """
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0000 100 0
             1: 0100007F:1F90 0200000A:1234 08 00000000:00000000 00:00000000 00000000     0        0 12 1 0000 100 0
          """,
        "tcp6": head
          + "   0: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:0050 01 0:0 00:0 0 0 0 13 1 0\n",
        "unix":
          "Num RefCount Protocol Flags Type St Inode Path\n"
          + "0000: 00000002 00000000 00010000 0001 01 14 /run/a path\n0000: 00000003 00000000 00000000 0001 03 15\n",
      ], [11, 12, 13, 14, 15, 16])
    #expect(found[11] == "TCP 127.0.0.1:8080, listening")
    #expect(found[12] == "TCP 127.0.0.1:8080 \u{2192} 10.0.0.2:4660, closed by the peer")
    #expect(found[13] == "TCP [::1]:8080 \u{2192} [::1]:80")
    #expect(found[14] == "local /run/a path, listening" && found[15] == "local" && found[16] == nil)
  }

  /// Anyone who shares the network can put lines there.
  @Test func linesThatAreNoneAreLeftOut() {
    let lines = [
      "", " ", ":", "0: 0100007F:1F90", "0: 0100007F 0100007F:1 01 0 0 0 0 0 7",
      "0: XX00007F:1F90 00000000:0000 01 a b c d e 7 x",
      "0: 0100007F:1F901 00000000:0000 01 a b c d e 7 x", "0: \u{E9}\u{E9}00007:1F90 00000000:0000 01 a b c d e 7 x",
      "0: 0100007F:1F90 00000000:0000 01 a b c d e -7 x", "0: 0100007F:1F90 00000000:0000 FFF a b c d e 7 x",
    ]
    for line in lines {
      let found = names(["tcp": "head\n\(line)\n", "unix": "head\n\(line)\n"], [7])
      #expect(found[7] == nil, "\(line)")
    }
  }

  @Test func thoseOfThisProcess() throws {
    var (sockets, pipes): ([Int32], [Int32]) = ([0, 0], [0, 0])
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0 && pipe(&pipes) == 0)
    let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
    let opened = sockets + pipes + [file]
    let found = OpenDescriptor.all(of: "self").filter { opened.contains($0.number) }
    for number in opened { close(number) }
    let kinds = Dictionary(uniqueKeysWithValues: found.map { ($0.number, $0.kind) })
    #expect(kinds[sockets[0]] == .socket && kinds[pipes[1]] == .pipe && kinds[file] == .file)
    #expect(found.first { $0.number == sockets[0] }?.target == "local")
    #expect(OpenDescriptor.all(of: "none").isEmpty)
    #expect(ProcessResources(of: "self").threads.contains { $0.id == UInt32(getpid()) })
  }
}
