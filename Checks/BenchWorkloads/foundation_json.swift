// Encodes and decodes structs with Foundation's JSON coders.
import Foundation

struct Person: Codable {
  var name: String
  var age: Int
  var tags: [String]
  var address: Address
  var scores: [String: Double]
}

struct Address: Codable {
  var street: String
  var city: String
  var location: [Double]
}

let rounds = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 150
let people = (0..<200).map { index in
  Person(
    name: "A person with a name of some length \(index)", age: index, tags: ["one", "a tag that is longer than 15"],
    address: Address(street: "Long street name, number \(index)", city: "Springfield", location: [1.5, Double(index)]),
    scores: ["first": 1.25, "second of the scores": Double(index)])
}

var bytes = 0
var decodedCount = 0
for _ in 0..<rounds {
  let data = try JSONEncoder().encode(people)
  bytes += data.count
  decodedCount += try JSONDecoder().decode([Person].self, from: data).count
}
print(bytes, decodedCount)
