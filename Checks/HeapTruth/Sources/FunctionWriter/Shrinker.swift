import Foundation

/// Takes lines out of a program as long as a command says that it still fails: halves, quarters, ... single lines.
struct Shrinker {
  var file: String
  var command: [String]

  private func fails(_ lines: [Substring]) -> Bool {
    _ = FileManager.default.createFile(atPath: file, contents: Data((lines.joined(separator: "\n") + "\n").utf8))
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    // A program that does not compile any more ends the command with another status.
    return process.terminationReason == .exit && process.terminationStatus == 1
  }

  func run() {
    guard let content = try? String(contentsOfFile: file, encoding: .utf8) else { fail("cannot read '\(file)'") }
    var lines = content.split(separator: "\n")
    guard fails(lines) else { fail("the command does not end with 1 for '\(file)' as it is") }
    var size = lines.count / 2
    while size > 0 {
      var start = 0
      while start < lines.count {
        var fewer = lines
        fewer.removeSubrange(start..<min(start + size, lines.count))
        if fails(fewer) { lines = fewer } else { start += size }
      }
      size /= 2
    }
    _ = fails(lines)
  }
}
