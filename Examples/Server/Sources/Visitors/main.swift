import Glibc

/// One connection to the server, which is kept open for all requests.
struct Connection {
  private let descriptor: Int32

  init?(port: UInt16) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else {
      close(descriptor)
      return nil
    }
  }

  /// Asks for a page and waits for all of the answer, whose body ends with a new line.
  func get(_ path: String) -> Bool {
    let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return false }
    var answer = [UInt8]()
    var piece = [UInt8](repeating: 0, count: 4096)
    while !Self.isWhole(answer) {
      let count = recv(descriptor, &piece, piece.count, 0)
      guard count > 0 else { return false }
      answer += piece[..<count]
    }
    return answer.starts(with: Array("HTTP/1.1 200".utf8))
  }

  private static func isWhole(_ answer: [UInt8]) -> Bool {
    let end = Array("\r\n\r\n".utf8)
    guard answer.last == UInt8(ascii: "\n") else { return false }
    return answer.indices.contains { answer[$0...].starts(with: end) && $0 + end.count < answer.count }
  }
}

guard CommandLine.arguments.count >= 3, let port = UInt16(CommandLine.arguments[1]) else {
  print("usage: Visitors PORT VISITS [PATH]\n       Visitors PORT --latencies FILE SECONDS PATH")
  exit(64)
}
guard let connection = Connection(port: port) else { exit(1) }
if let visits = Int(CommandLine.arguments[2]) {
  let path = CommandLine.arguments.count > 3 ? CommandLine.arguments[3] : "/visit/visitor"
  for visit in 0..<visits where !connection.get("\(path)\(visit % 100)") {
    print("visit \(visit) was not answered")
    exit(1)
  }
} else if CommandLine.arguments.count == 6, let seconds = Double(CommandLine.arguments[4]) {
  let path = CommandLine.arguments[5]
  guard LatencyLog.record(connection, path: path, seconds: seconds, file: CommandLine.arguments[3]) else { exit(1) }
} else {
  exit(64)
}
