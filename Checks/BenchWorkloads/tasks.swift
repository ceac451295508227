// What a server does: tasks that start tasks, await each other through several functions, and allocate all the while.
final class Request: Sendable {
  let path: String
  let fields: [String: String]

  init(path: String, fields: [String: String]) {
    self.path = path
    self.fields = fields
  }
}

actor Store {
  private var visits: [String: Int] = [:]

  func visit(_ request: Request) -> Int {
    let known = visits[request.path, default: 0] + 1
    visits[request.path] = known
    return known
  }
}

func parse(_ number: Int) async -> Request {
  let fields = ["accept": "text/plain, number \(number)", "host": "machine number \(number % 7)"]
  return Request(path: "/path/to/the/item/\(number % 64)", fields: fields)
}

func answer(_ request: Request, store: Store) async -> [UInt8] {
  let visits = await store.visit(request)
  let lines = request.fields.map { "\($0.key): \($0.value)" }
  return Array((lines.joined(separator: "\r\n") + "\(visits)").utf8)
}

func serve(_ number: Int, store: Store) async -> Int {
  let request = await parse(number)
  return await answer(request, store: store).count
}

let rounds = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 2500
let store = Store()
var bytes = 0
for round in 0..<rounds {
  bytes += await withTaskGroup(of: Int.self) { group in
    for number in 0..<100 { group.addTask { await serve(round + number, store: store) } }
    return await group.reduce(0, +)
  }
}
print(bytes)
