// Swift: tasks, actors, streams, Dispatch, generics, closures, existentials, key paths, regular expressions.
import Dispatch
import Foundation

actor Counter {
  var names: [String] = []
  func add(_ name: String) -> Int {
    names.append(name + " in a string that is not small")
    return names.count
  }
}

protocol Visitor {
  associatedtype Item
  mutating func visit(_ item: Item)
}

struct Collector<Item: Hashable>: Visitor {
  var seen: [Item: [Item]] = [:]
  mutating func visit(_ item: Item) { seen[item, default: []].append(item) }
}

@inline(never)
func visitAll<V: Visitor>(_ items: [V.Item], _ visitor: inout V) {
  for item in items { visitor.visit(item) }
}

@inline(never)
func makeClosures(_ count: Int) -> [(Int) -> [Int]] {
  (0..<count).map { factor in { value in (0..<value).map { $0 * factor } } }
}

func asynchronous() async -> Int {
  let counter = Counter()
  let stream = AsyncStream<String> { continuation in
    for index in 0..<50 { continuation.yield("element number \(index) of the stream") }
    continuation.finish()
  }
  var total = 0
  for await name in stream { total += await counter.add(name) }
  return await withTaskGroup(of: Int.self) { group in
    for index in 0..<20 {
      group.addTask {
        await Task.yield()
        return await counter.add("task \(index)").hashValue & 1
      }
    }
    var sum = total
    for await value in group { sum += value }
    return sum
  }
}

@main
struct Program {
  static func main() async throws {
    var integers = Collector<Int>()
    visitAll((0..<200).map { $0 % 17 }, &integers)
    var strings = Collector<String>()
    visitAll((0..<200).map { "a string that is not small \($0 % 13)" }, &strings)
    let closures = makeClosures(20).flatMap { $0(10) }
    var total = await asynchronous()
    let queue = DispatchQueue(label: "test", attributes: .concurrent)
    let group = DispatchGroup()
    for index in 0..<50 {
      queue.async(group: group) { _ = (0..<index).map { String($0) + " padding for the heap" }.sorted() }
    }
    group.wait()
    let text = (0..<100).map { "key\($0)=value\($0 * 3);" }.joined()
    let expression = try NSRegularExpression(pattern: "key([0-9]+)=value([0-9]+)")
    total += expression.numberOfMatches(in: text, range: NSRange(location: 0, length: text.utf16.count))
    let json = try JSONSerialization.data(withJSONObject: ["numbers": closures, "text": text])
    let object = try JSONSerialization.jsonObject(with: json)
    let formatter = DateFormatter()
    formatter.dateStyle = .full
    total += formatter.string(from: Date(timeIntervalSince1970: 0)).count
    print(total, integers.seen.count, strings.seen.count, type(of: object))
  }
}
