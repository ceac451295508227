import Foundation

/// The package `Checks/OutsidePackage`: what its tests must report, and what they reported.
///
/// A test that leaks has a marker, `// leaks: WORDS` or `// leaks xN: WORDS`, at the line that must be blamed: N failures
/// there (1 without a number), each with all of the words. No other line may have a failure.
struct OutsidePackage {
  struct Marker: Hashable {
    /// "File.swift:12".
    var place: String
    var count: Int
    var words: [String]
  }

  struct Failure: Hashable {
    var place: String
    var test: String
    var text: String
  }

  let directory: URL
  let markers: [Marker]

  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  static let directory = root.appendingPathComponent("Checks/OutsidePackage")
  /// Where it is built: beside the examples, which have the same modules of Undead.
  static let products = root.appendingPathComponent("Examples/.build/debug")
  /// Options of `swift build` and `swift test`.
  static let options =
    "--package-path \(quoted(directory.path)) --scratch-path \(quoted(root.appendingPathComponent("Examples/.build").path))"

  /// Builds its programs and tests: once, for the first who asks.
  static let build = Task {
    let outcome = try await runShell("swift build --build-tests \(options)", deadline: .seconds(900))
    guard outcome.ending == .exit(0) else { throw ChildError(description: outcome.output + outcome.errors) }
  }

  init(_ directory: URL = Self.directory) throws {
    self.directory = directory
    let tests = directory.appendingPathComponent("Tests").path
    let files = (FileManager.default.subpaths(atPath: tests) ?? []).filter { $0.hasSuffix(".swift") }.sorted()
    markers = try files.flatMap { try Self.markers(inFile: tests + "/" + $0) }
  }

  private static func markers(inFile path: String) throws -> [Marker] {
    let name = URL(fileURLWithPath: path).lastPathComponent
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false)
    return lines.enumerated().compactMap { number, line in
      guard let match = line.firstMatch(of: /\/\/ leaks( x(\d+))?: (.+)$/) else { return nil }
      let words = match.3.split(separator: " ").map(String.init)
      return Marker(place: "\(name):\(number + 1)", count: match.2.flatMap { Int($0) } ?? 1, words: words)
    }
  }

  /// The failures in the output of `swift test`: XCTest's and Swift Testing's, each with the lines that follow it.
  static func failures(in output: String) -> [Failure] {
    var failures: [Failure] = []
    var isInFailure = false
    for line in output.split(separator: "\n", omittingEmptySubsequences: false) {
      if let match = line.firstMatch(of: /([^\/ ]+\.swift:\d+)(:\d+)?: error: (\S+)( :)? (.*)/) {
        failures.append(Failure(place: String(match.1), test: String(match.3), text: String(match.5)))
        isInFailure = true
      } else if let match = line.firstMatch(of: /^✘ Test (.+?) recorded an issue.* at ([^\/ ]+\.swift:\d+):\d+: (.*)/) {
        failures.append(Failure(place: String(match.2), test: String(match.1), text: String(match.3)))
        isInFailure = true
      } else if line.starts(with: /[◇✔✘⚠━⎙]|Test (Case|Suite)|\[\d|\S+\.swift:\d+:/) {
        isInFailure = false
      } else if isInFailure {
        failures[failures.count - 1].text += "\n" + line
      }
    }
    return failures
  }

  /// What is wrong with the failures of a run, one sentence each.
  func complaints(about failures: [Failure]) -> [String] {
    var complaints: [String] = []
    // An error that a test throws is a failure of its own.
    let failures = failures.filter { !$0.text.hasPrefix("Caught error") }
    for marker in markers {
      let here = failures.filter { $0.place == marker.place }
      if here.count != marker.count {
        complaints.append("\(marker.place): \(here.count) failures, not \(marker.count)")
      }
      for failure in here {
        for word in marker.words where !failure.text.contains(word) {
          complaints.append("\(marker.place): no '\(word)' in: \(failure.text)")
        }
      }
    }
    let places = Set(markers.map(\.place))
    for failure in failures where !places.contains(failure.place) || failure.test.hasPrefix("Clean") {
      complaints.append("\(failure.place): \(failure.test) must not fail: \(failure.text)")
    }
    return complaints
  }
}
