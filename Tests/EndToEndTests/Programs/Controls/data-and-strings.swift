// Data in all its representations, strings native and bridged, slices that point into the middle of buffers.
// EXPECT silent
import Foundation

final class Message {
  let data: Data
  let text: String
  let bridged: NSString
  let slice: Substring
  let part: ArraySlice<Int>
  init(_ number: Int) {
    data = Data((0..<number).map { UInt8(truncatingIfNeeded: $0) })
    text = String(repeating: "text \(number) ", count: 10)
    bridged = NSString(string: text)
    slice = text.dropFirst(number % 20)
    part = Array(0..<(100 + number))[50...]
  }
}
var messages: [Message] = []
var datas: [Data] = []
var substrings: [Substring] = []
var attributed: [AttributedString] = []
var urls: [URL] = []
var numbers: [NSNumber] = []
var largeSlice = Data()

@inline(never) func fill() {
  for number in 0..<60 { messages.append(Message(number)) }
  for size in [0, 3, 14, 15, 100, 5000, 100_000] {
    let data = Data(count: size)
    datas.append(data)
    datas.append(data.dropFirst(size / 2))
    datas.append(data.subdata(in: 0..<(size / 3)))
  }
  var big = Data(count: 1 << 20)
  big[5] = 4
  largeSlice = big[1000..<5000]
  for index in 0..<20 {
    substrings.append("the quick brown fox jumps over \(index) lazy dogs".dropFirst(4))
    attributed.append(AttributedString("attributed \(index)"))
    urls.append(URL(string: "https://example.org/a/long/path/\(index)?query=value")!)
    numbers.append(NSNumber(value: Double(index) * 1.5))
  }
}
fill()
print(messages.count, datas.count, largeSlice.count, substrings.count, attributed.count, urls.count, numbers.count)
