// Values and objects of Foundation in properties: indexes, sets, measurements, ranges, calendars, undo, caches.
// EXPECT silent
import Foundation

final class Everything {
  var indexes = IndexSet(integersIn: 3...900)
  var path = IndexPath(indexes: [1, 2, 3, 4, 5, 6])
  var characters = CharacterSet.letters.union(.decimalDigits)
  var components = DateComponents(year: 2024, month: 3)
  var interval = DateInterval(start: Date(), duration: 50)
  var decimal = Decimal(string: "3.14159")
  var locale = Locale(identifier: "fr_FR")
  var zone = TimeZone(identifier: "Europe/Berlin")
  var notification = Notification(name: Notification.Name("n"), object: NSObject(), userInfo: ["a": 1])
  var person = PersonNameComponents()
  var urls = URLComponents(string: "https://example.org/a?b=c")
  var uuid = UUID()
  var attributed = NSMutableAttributedString(string: "text with attributes that is long")
  var ordered = NSMutableOrderedSet(array: [1, 2, 3])
  var counted = NSCountedSet(array: [1, 1, 2])
  var data = NSMutableData(length: 5000)
  var string = NSMutableString(string: "a mutable string that is long enough")
  var value = NSNumber(value: 1 << 60)
  var predicate = #Predicate<Int> { $0 > 3 }
  var scanner = Scanner(string: "12 apples")
  var error = NSError(domain: "domain", code: 3, userInfo: [NSLocalizedDescriptionKey: "text"])
  var lock = NSRecursiveLock()
  var formatter = ByteCountFormatter()
  var comparator: [any Sendable] = [NSObject.self is AnyObject.Type]
}
var everything: [Everything] = []
@inline(never) func fill() {
  for _ in 0..<10 {
    let one = Everything()
    one.person.givenName = "Anna with a very long given name"
    one.attributed.addAttribute(
      NSAttributedString.Key("key"), value: NSNumber(value: 3), range: NSRange(location: 2, length: 5))
    _ = one.scanner.scanInt()
    _ = one.formatter.string(fromByteCount: 12_345_678)
    _ = try? one.predicate.evaluate(5)
    everything.append(one)
  }
}
fill()
print(everything.count)
