// A server whose sessions are never removed, beside what comes and goes, and buffers of which only slices are kept.
// EXPECT silent
import Foundation

struct Header { var name: Substring }

final class Session {
  let name: String
  let buffer: [UInt8]
  init(_ number: Int) {
    name = "a name that is too long to be inline, \(number)"
    buffer = [UInt8](repeating: 1, count: 1000)
  }
}

final class Request {
  let header: Header
  init(_ number: Int) {
    // The whole text lives as long as the slice.
    let text = String(repeating: "GET /page/\(number) HTTP/1.1 and so on. ", count: 4000)
    header = Header(name: text.dropFirst(4).prefix(20))
  }
}

final class Cache { var sessions: [String: Session] = [:] }
final class Log { var times: [Int] = [] }
final class Server {
  let cache = Cache()
  let log = Log()
  var requests: [Request] = []
}

let server = Server()

@inline(never) func logIn(_ numbers: Range<Int>) {
  for number in numbers { server.cache.sessions["user \(number)"] = Session(number) }
}
@inline(never) func serve(_ round: Int) {
  server.requests = (0..<10).map { Request($0 + round * 10) }
  server.log.times = [Int](repeating: round, count: 1000 + round * 100_000)
}

let directory = CommandLine.arguments[1]
func tell(_ name: String) {
  try! Data("\(getpid())".utf8).write(to: URL(fileURLWithPath: "\(directory)/\(name)"), options: .atomic)
}
func waitFor(_ name: String) { while !FileManager.default.fileExists(atPath: "\(directory)/\(name)") { usleep(1000) } }

logIn(0..<100)
serve(0)
tell("ready")
waitFor("go")
logIn(100..<3100)
serve(1)
tell("done")
waitFor("stop")
