// Foundation: bytes and their bridges, caches, notifications, coders, operations.
import Foundation

private func data(_ round: Int) -> Int {
  var data = Data((0..<300 + round).map { UInt8($0 & 0xFF) })
  var sum = data.withUnsafeBytes { $0.reduce(0) { $0 + Int($1) } }
  data.append(contentsOf: data[100..<150])
  data.replaceSubrange(10..<20, with: [1, 2, 3])
  let slice = data[50..<120]
  sum += slice.reduce(0) { $0 + Int($1) } + data.base64EncodedString().utf8.count
  sum += Data(base64Encoded: data.base64EncodedString())!.count
  let bridged = data as NSData
  sum += bridged.length + (bridged.mutableCopy() as! NSMutableData).length + (bridged as Data).count
  for size in [1, 100, 5000] {
    let block = malloc(size)!
    memset(block, 1, size)
    sum += Int(Data(bytesNoCopy: block, count: size, deallocator: .free).last!)
    let mine = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    mine.initializeMemory(as: UInt8.self, repeating: 2, count: size)
    var noCopy = Data(bytesNoCopy: mine, count: size, deallocator: .custom { pointer, _ in pointer.deallocate() })
    noCopy.append(3)
    sum += Int(noCopy[size - 1]) + Int(noCopy.last!)
  }
  return sum + data.count
}

private final class Image: NSObject {
  let pixels: [UInt8]
  init(_ size: Int) { pixels = .init(repeating: 1, count: size) }
}
private func caches(_ round: Int) -> Int {
  let cache = NSCache<NSString, Image>()
  cache.countLimit = 5
  for i in 0..<20 + round { cache.setObject(Image(i), forKey: "image \(i)" as NSString) }
  cache.removeObject(forKey: "image 19")
  cache.removeAllObjects()
  let array = NSMutableArray()
  for i in 0..<20 { array.add(Image(i)) }
  array.removeObject(at: 3)
  let dictionary: NSDictionary = ["a": 1, "b": [1, 2], "c": "a text of more than fifteen bytes"]
  let set = NSMutableSet(array: ["x", "y", 3])
  return array.reduce(0) { $0 + ($1 as! Image).pixels.count } + dictionary.count + set.count
    + ((dictionary["b"] as? [Int])?.count ?? 0)
}

private func notifications(_ round: Int) -> Int {
  let center = NotificationCenter()
  nonisolated(unsafe) var sum = 0
  var tokens: [any NSObjectProtocol] = []
  for i in 0..<8 {
    tokens.append(
      center.addObserver(forName: Notification.Name("changed"), object: nil, queue: nil) { notification in
        sum += i + (notification.userInfo?["n"] as? Int ?? 0)
      })
  }
  center.post(name: Notification.Name("changed"), object: nil, userInfo: ["n": 2])
  for token in tokens.prefix(4) { center.removeObserver(token) }
  center.post(name: Notification.Name("changed"), object: Image(3))
  for token in tokens { center.removeObserver(token) }
  center.post(name: Notification.Name("changed"), object: nil)
  return sum + round
}

private struct Person: Codable, Hashable {
  var name: String
  var tags: [String: Int]
  var friends: [Person]
  var born: Date
}
private func coders(_ round: Int) -> Int {
  let child = Person(name: "Ada", tags: ["x": 1], friends: [], born: Date(timeIntervalSince1970: 0))
  let person = Person(
    name: "a name of more than fifteen bytes", tags: ["one": 1, "two": round], friends: [child, child],
    born: Date(timeIntervalSince1970: 1e9))
  let json = try! JSONEncoder().encode(person)
  let back = try! JSONDecoder().decode(Person.self, from: json)
  let list = try! PropertyListEncoder().encode(person)
  let again = try! PropertyListDecoder().decode(Person.self, from: list)
  let any = try! JSONSerialization.jsonObject(with: json) as! [String: Any]
  let wrong = (try? JSONDecoder().decode([Int].self, from: json)) == nil ? 1 : 0
  return json.count + (back == person ? 1 : 0) + (again == back ? 1 : 0) + any.count + wrong
}

private func texts(_ round: Int) -> Int {
  let text = "The quick brown fox \(round) jumps over the lazy dog, and again: ÄÖÜ é"
  var sum = text.components(separatedBy: " ").count + text.replacingOccurrences(of: "o", with: "00").count
  sum += (text as NSString).range(of: "lazy").location + (text as NSString).appending("!").utf16.count
  sum += String(format: "%@ %d %5.2f", text, round, 1.5).count
  let regex = try! NSRegularExpression(pattern: "[a-z]+")
  sum += regex.numberOfMatches(in: text, range: NSRange(text.startIndex..., in: text))
  sum += text.matches(of: #/o[a-z]/#).count
  let url = URL(string: "https://example.org/path/file.txt?x=\(round)#part")!
  sum += url.pathComponents.count + (URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.count ?? 0)
  sum += Date(timeIntervalSince1970: 1e9).ISO8601Format().count + UUID().uuidString.count
  sum += "\(Decimal(string: "12.5")! * 3)".count + (Measurement(value: 3, unit: UnitLength.meters).description).count
  return sum + NSAttributedString(string: text).length + AttributedString(text).characters.count
}

private final class Work: Operation, @unchecked Sendable {
  let number: Int
  var result = 0
  init(_ number: Int) { self.number = number }
  override func main() { result = (0..<number).reduce(0, +) }
}
private func operations(_ round: Int) -> Int {
  let queue = OperationQueue()
  queue.maxConcurrentOperationCount = 3
  let work = (0..<10).map { Work($0 + round) }
  for (first, next) in zip(work, work.dropFirst()) where first.number % 2 == 0 { next.addDependency(first) }
  queue.addOperations(work, waitUntilFinished: true)
  queue.addBarrierBlock {}
  queue.waitUntilAllOperationsAreFinished()
  nonisolated(unsafe) var ran = 0
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    let timer = Timer(timeInterval: 0, repeats: false) { _ in ran += 1 }
    RunLoop.current.add(timer, forMode: .default)
    RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.001))
    done.signal()
  }
  thread.start()
  done.wait()
  return work.reduce(0) { $0 + $1.result } + (ran >= 0 ? 1 : 0)
}

let foundation: [(name: String, run: (Int) -> Int)] = [
  ("data", data), ("caches", caches), ("notifications", notifications), ("coders", coders), ("texts", texts),
  ("operations", operations),
]
