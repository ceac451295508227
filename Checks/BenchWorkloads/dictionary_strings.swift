// Builds, changes and throws away dictionaries of strings and arrays.
let rounds = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 14
var checksum = 0

func countWords(seed: Int) -> [String: [Int]] {
  var words: [String: [Int]] = [:]
  for index in 0..<20_000 {
    let key = "a key beyond the small string form \((index &* 7919 &+ seed) % 5000)"
    words[key, default: []].append(index)
  }
  return words
}

for round in 0..<rounds {
  var words = countWords(seed: round)
  for (key, positions) in words where positions.count % 2 == 0 {
    words[key + " changed"] = positions.map { $0 + 1 }
    words[key] = nil
  }
  checksum += words.values.reduce(0) { $0 + $1.count }
}
print(checksum)
