import Foundation

/// The JSON report as its contract describes it, read independently of the library that writes it.
struct ReportFile: Decodable {
  struct Process: Decodable {
    var path: String
    var arguments: [String]
    var pid: Int
    var exitStatus: Int?
    var signal: Int?
  }
  struct Summary: Decodable {
    var leaks: Int
    var leakedObjects: Int
    var leakedBytes: Int
    var suspects: Int
    var complete: Bool
    var notes: [String]
  }
  struct Frame: Decodable {
    var symbol: String
    var file: String?
    var line: Int?
    var module: String
  }
  struct Backtrace: Decodable {
    var frames: [Frame]
  }
  struct Object: Decodable {
    var type: String
    var address: String
    var size: Int
  }
  struct Edge: Decodable {
    var type: String
    var field: String?
    var closure: Frame?
  }
  struct Companion: Decodable {
    var type: String
    var count: Int
    var bytes: Int
  }
  struct Group: Decodable {
    var signature: String
    var kind: String
    var count: Int
    var totalBytes: Int
    var objects: [Object]
    var cycle: [Edge]?
    var retainPath: [Edge]?
    var alsoLeaked: [Companion]?
    var allocation: Backtrace
    var advice: String?

    /// The types of everything that the group names.
    var types: [String] {
      objects.map(\.type) + (cycle ?? []).map(\.type) + (alsoLeaked ?? []).map(\.type)
        + (retainPath ?? []).map(\.type)
    }

    /// The closures in the chain that keeps the group alive.
    var closures: [Frame] { (cycle ?? retainPath ?? []).compactMap(\.closure) }

    /// The group in one line.
    var line: String {
      let chain = (cycle ?? retainPath ?? []).map { "\($0.type).\($0.field ?? "-")" }.joined(separator: " -> ")
      let also = (alsoLeaked ?? []).map { "\($0.count) \($0.type)" }.joined(separator: ", ")
      return "\(kind) x\(count) [\(objects.map(\.type).prefix(3).joined(separator: ", "))] \(chain) also [\(also)]"
    }
  }

  struct Zombie: Decodable {
    var kind: String
    var type: String
    var message: String
    var address: String
    var thread: String
    var count: Int
    var member: String?
    var operation: String?
    var deallocationThread: String?
    var signature: String
    var allocation: Backtrace
    var deallocation: Backtrace
    var access: Backtrace
  }

  var schemaVersion: Int
  var process: Process
  var summary: Summary
  var leaks: [Group]
  var suspects: [Group]
  var knownLeaks: [Group]
  var zombies: [Zombie]

  /// Every group with the section that it is in, as expectations name it.
  var groups: [(section: String, group: Group)] {
    leaks.map { ("leak", $0) } + suspects.map { ("suspect", $0) } + knownLeaks.map { ("known", $0) }
  }

  /// What must be the same in every run: section, signature and count of each group.
  var fingerprint: [String] { groups.map { "\($0.section) \($0.group.signature) \($0.group.count)" }.sorted() }
}
