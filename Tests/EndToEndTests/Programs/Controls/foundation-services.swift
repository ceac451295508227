// Formatters, regular expressions, calendars, JSON, property lists, files, locale: all that ICU and Foundation keep.
// EXPECT silent
// FLAGS -enable-bare-slash-regex
import Foundation

struct Person: Codable {
  var name: String
  var tags: [String]
  var born: Date
  var home: URL?
  var more: [String: Double]
}
final class Tools {
  let date = DateFormatter()
  let number = NumberFormatter()
  let iso = ISO8601DateFormatter()
  let encoder = JSONEncoder()
  let decoder = JSONDecoder()
  let expression = try? NSRegularExpression(pattern: "([a-z]+)@([a-z]+)\\.org")
  let calendar = Calendar(identifier: .gregorian)
}
let tools = Tools()
var people: [Person] = []

@inline(never) func work() throws {
  tools.date.dateStyle = .long
  tools.date.locale = Locale(identifier: "de_DE")
  for index in 0..<10 {
    _ = tools.date.string(from: Date(timeIntervalSince1970: Double(index) * 86_400))
    _ = tools.number.string(from: NSNumber(value: index))
    _ = tools.iso.string(from: Date(timeIntervalSince1970: 0))
    let person = Person(
      name: "name \(index)", tags: ["a", "b"], born: Date(), home: URL(string: "http://a.org"), more: ["x": 1])
    let data = try tools.encoder.encode(person)
    people.append(try tools.decoder.decode(Person.self, from: data))
    let list = try PropertyListEncoder().encode(person)
    _ = try PropertyListDecoder().decode(Person.self, from: list)
    let text = "anna@example.org and bert@example.org"
    _ = tools.expression?.matches(in: text, range: NSRange(location: 0, length: text.utf16.count))
    _ = text.firstMatch(of: /(\w+)@(\w+)/)
    _ = text.components(separatedBy: " and ").map { $0.uppercased() }
    _ = text.range(of: "ANNA", options: .caseInsensitive)
    _ = tools.calendar.dateComponents([.year, .weekday], from: Date())
    _ = try JSONSerialization.jsonObject(with: Data("{\"a\":[1,2,{\"b\":null}]}".utf8))
    _ = text.replacingOccurrences(of: "example", with: "sample")
    _ = Date().formatted(date: .long, time: .shortened)
  }
  let directory = FileManager.default.temporaryDirectory
  let file = directory.appendingPathComponent("undead-\(getpid()).txt")
  try Data("text".utf8).write(to: file)
  _ = try String(contentsOf: file, encoding: .utf8)
  _ = try FileManager.default.attributesOfItem(atPath: file.path)
  try FileManager.default.removeItem(at: file)
  print(Locale.current.identifier.isEmpty, TimeZone.current.identifier.isEmpty, UUID().uuidString.count)
}
try work()
print(people.count)
