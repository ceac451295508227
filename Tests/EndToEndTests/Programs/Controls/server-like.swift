// A service: accept loop on a thread, connections as tasks, a janitor on a timer, work on queues; stopped in mid-flight.
// EXPECT silent
// FLAGS -parse-as-library
import Foundation

final class Connection: @unchecked Sendable {
  let number: Int
  weak var server: Server?
  var buffer = [UInt8](repeating: 0, count: 256)
  var task: Task<Void, Never>?
  init(_ number: Int, _ server: Server) {
    self.number = number
    self.server = server
  }
  func serve() async {
    for round in 0..<100 {
      buffer[round] = 1
      try? await Task.sleep(for: .milliseconds(Int.random(in: 1...5)))
      await server?.log(Entry(text: "connection \(number) round \(round)"))
    }
    await server?.remove(self)
  }
}
struct Entry {
  var text: String
  var date = Date()
}
actor Server {
  var connections: [Int: Connection] = [:]
  var entries: [Entry] = []
  func accept(_ number: Int) {
    let connection = Connection(number, self)
    connections[number] = connection
    connection.task = Task { [weak connection] in await connection?.serve() }
  }
  func log(_ entry: Entry) {
    entries.append(entry)
    if entries.count > 100 { entries.removeFirst(50) }
  }
  func remove(_ connection: Connection) { connections[connection.number] = nil }
}
@main struct Main {
  static func main() async throws {
    let server = Server()
    let janitor = DispatchSource.makeTimerSource(queue: .global())
    janitor.setEventHandler { [weak server] in
      Task { [weak server] in await server?.log(Entry(text: "janitor")) }
    }
    janitor.schedule(deadline: .now(), repeating: .milliseconds(3))
    janitor.resume()
    for number in 0..<60 {
      await server.accept(number)
      try await Task.sleep(for: .milliseconds(3))
    }
    exit(0)
  }
}
