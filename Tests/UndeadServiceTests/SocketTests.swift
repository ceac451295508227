import Foundation
import Testing

@testable import UndeadService

/// The socket server, spoken to as clients do, good and bad ones.
@Suite(.timeLimit(.minutes(20))) struct SocketTests {
  private final class Place {
    let folder = "/tmp/undead-\(UInt32.random(in: .min ... .max))"
    var path: String { "\(folder)/s" }
    init() { mkdir(folder, 0o700) }
    deinit { try? FileManager.default.removeItem(atPath: folder) }
  }

  private func server(_ path: String, _ limits: SocketLimits = SocketLimits()) throws -> UndeadDebugService.SocketServer
  {
    let server = try UndeadDebugService.SocketServer(
      path: path, service: UndeadDebugService(configuration: .init(labels: [:])), limits: limits)
    server.start()
    return server
  }

  private func connect(_ path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let result = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0)
    return descriptor
  }

  private func send(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// All that the server says until it closes.
  private func readAll(_ descriptor: Int32) -> String {
    var all: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &chunk, chunk.count, 0)
      guard count > 0 else { break }
      all += chunk[..<count]
    }
    close(descriptor)
    return String(decoding: all, as: UTF8.self)
  }

  private func ask(_ text: String, _ path: String) throws -> String {
    let descriptor = try connect(path)
    send(text, to: descriptor)
    return readAll(descriptor)
  }

  @Test func answers() throws {
    let place = Place()
    let server = try server(place.path)
    defer { server.stop() }
    var status = stat()
    #expect(lstat(place.path, &status) == 0 && status.st_mode == S_IFSOCK | 0o600)
    let answer = try ask("GET /debug/pprof/ HTTP/1.1\r\nHost: x\r\n\r\n", place.path)
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"))
    #expect(answer.hasSuffix("</html>\n"))
    let head = try ask("HEAD /debug/pprof/ HTTP/1.1\r\n\r\n", place.path)
    #expect(head.hasSuffix("\r\n\r\n") && !head.contains("<html"))
    // A client that says that nothing more comes still wants its answer.
    let descriptor = try connect(place.path)
    send("GET /x HTTP/1.1\r\n\r\n", to: descriptor)
    shutdown(descriptor, Int32(SHUT_WR))
    #expect(readAll(descriptor).hasPrefix("HTTP/1.1 404 Not Found\r\n"))
  }

  @Test func oneRequestAConnection() throws {
    let place = Place()
    let server = try server(place.path)
    defer { server.stop() }
    let request = "GET /debug/undead/ HTTP/1.1\r\n\r\n"
    let answer = try ask(String(repeating: request, count: 3), place.path)
    #expect(answer.components(separatedBy: "HTTP/1.1 200").count == 2)
    #expect(answer.contains("Connection: close"))
  }

  @Test func badClients() throws {
    let place = Place()
    let server = try server(place.path, SocketLimits(connections: 16, writeMilliseconds: 200))
    defer { server.stop() }
    #expect(try ask("rubbish\r\n\r\n", place.path).hasPrefix("HTTP/1.1 400"))
    #expect(try ask(String(repeating: "a", count: 20_000), place.path).hasPrefix("HTTP/1.1 431"))
    close(try connect(place.path))
    // Never reads the answer: the server gives up.
    let idle = try connect(place.path)
    defer { close(idle) }
    send("GET /debug/undead/ HTTP/1.1\r\n\r\n", to: idle)
    #expect(try ask("GET /debug/undead/ HTTP/1.1\r\n\r\n", place.path).hasPrefix("HTTP/1.1 200"))
  }

  @Test(arguments: ["GET / HTTP/1.1\r\n", ""])
  func clientsThatDoNotGoOnAreToldSo(beginning: String) throws {
    let place = Place()
    let server = try server(place.path, SocketLimits(readMilliseconds: 100))
    defer { server.stop() }
    #expect(try ask(beginning, place.path).hasPrefix("HTTP/1.1 408"))
  }

  @Test func slowClientsKeepNobodyElseOut() throws {
    let place = Place()
    let server = try server(place.path)
    defer { server.stop() }
    let slow = try (0..<10).map { _ in try connect(place.path) }
    defer { for descriptor in slow { close(descriptor) } }
    for descriptor in slow { send("GET /", to: descriptor) }
    #expect(try ask("GET /debug/undead/ HTTP/1.1\r\n\r\n", place.path).hasPrefix("HTTP/1.1 200"))
  }

  @Test func socketsOfDeadProcessesAreReplaced() throws {
    let place = Place()
    let first = try server(place.path)
    #expect {
      _ = try server(place.path)
    } throws: {
      "\($0)".contains("another process listens")
    }
    // As a process leaves it that was killed: the name stays, nobody listens.
    let old = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    close(old)
    first.stop()
    #expect(access(place.path, F_OK) != 0)
    try leaveStaleSocket(place.path)
    let second = try server(place.path)
    defer { second.stop() }
    #expect(try ask("GET /debug/undead/ HTTP/1.1\r\n\r\n", place.path).hasPrefix("HTTP/1.1 200"))
  }

  /// Everybody can lock a folder such as /tmp.
  @Test func aLockedFolderIsNotWaitedForWithoutEnd() throws {
    let place = Place()
    let folder = open((place.path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(folder) }
    #expect(flock(folder, LOCK_EX) == 0)
    #expect {
      _ = try server(place.path)
    } throws: {
      "\($0)".contains("has locked the directory")
    }
    flock(folder, LOCK_UN)
    try server(place.path).stop()
  }

  /// The folder on the path becomes another one while the server runs.
  @Test func stoppingRemovesNothingBehindAnotherFolder() throws {
    let place = Place()
    let folder = (place.path as NSString).deletingLastPathComponent + "/moved-\(getpid())"
    #expect(mkdir(folder, 0o700) == 0)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let server = try server("\(folder)/s")
    let kept = "\(folder)-kept"
    #expect(rename(folder, kept) == 0 && mkdir(folder, 0o700) == 0 && link("\(kept)/s", "\(folder)/s") == 0)
    server.stop()
    #expect(access("\(kept)/s", F_OK) != 0 && access("\(folder)/s", F_OK) == 0)
    try FileManager.default.removeItem(atPath: kept)
  }

  private func leaveStaleSocket(_ path: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let result = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0)
    close(descriptor)
  }

  @Test func whatIsNoSocketIsLeftAlone() throws {
    let place = Place()
    try Data("mine".utf8).write(to: URL(filePath: place.path))
    #expect {
      _ = try server(place.path)
    } throws: {
      "\($0)".contains("is no socket")
    }
    #expect(try String(contentsOfFile: place.path, encoding: .utf8) == "mine")
    unlink(place.path)
    symlink("\(place.folder)/elsewhere", place.path)
    #expect(throws: UndeadServiceError.self) { _ = try server(place.path) }
    #expect(throws: UndeadServiceError.self) { _ = try server("\(place.folder)/none/s") }
    #expect(throws: UndeadServiceError.self) { _ = try server("/tmp/" + String(repeating: "a", count: 120)) }
    #expect(throws: UndeadServiceError.self) { _ = try server("") }
  }

  @Test func stoppingTakesOnlyItsOwnSocketAway() throws {
    let place = Place()
    let server = try server(place.path)
    unlink(place.path)
    try Data("mine".utf8).write(to: URL(filePath: place.path))
    server.stop()
    server.stop()
    #expect(try String(contentsOfFile: place.path, encoding: .utf8) == "mine")
  }

  @Test func thePathMayHaveTheNumberOfTheProcess() throws {
    let place = Place()
    let server = try server("\(place.folder)/{PID}.sock")
    defer { server.stop() }
    #expect(server.path == "\(place.folder)/\(getpid()).sock")
    #expect(access(server.path, F_OK) == 0)
  }

  @Test func onlyThisUserAndRootMayAsk() {
    #expect(ListeningSocket.mayAsk(user: 0))
    #expect(ListeningSocket.mayAsk(user: geteuid()))
    #expect(!ListeningSocket.mayAsk(user: geteuid() &+ 1))
    #expect(!ListeningSocket.mayAsk(user: .max))
  }
}
