import Foundation
import UndeadTestSupport

/// One line of counts of the program in `Programs/Scan`.
struct ScanCounts {
  private var numbers: [String: Int] = [:]
  private(set) var message = ""

  init?(_ line: Substring) {
    guard let end = line.range(of: " message ") else { return nil }
    let words = line[..<end.lowerBound].split(separator: " ")
    for index in stride(from: 0, to: words.count - 1, by: 2) { numbers[String(words[index])] = Int(words[index + 1]) }
    message = String(line[end.upperBound...])
  }

  subscript(_ name: String) -> Int { numbers[name] ?? -1 }
}

/// A program in `Programs` that scans itself with the preloaded library.
enum ScanProgram {
  struct Run {
    var counts: [ScanCounts]
    var text: String
    var status: Int32
  }

  enum Build: String, CaseIterable {
    case debug = "-Onone"
    case release = "-O"
  }

  static func run(
    _ build: Build, _ arguments: [String], stop: String = "auto", environment more: [String: String] = [:]
  ) throws -> Run {
    let settings = ["LD_PRELOAD": try BuildProducts.preloadLibrary(), "UNDEAD_STOP": stop, "UNDEAD": "1"]
    let outcome = try Recorder.run(
      try executable(build), arguments, environment: settings.merging(more) { _, new in new })
    let counts = outcome.text.split(separator: "\n").compactMap(ScanCounts.init)
    return Run(counts: counts, text: outcome.text, status: outcome.status)
  }

  private static let debug = Result { try compile(.debug) }
  private static let release = Result { try compile(.release) }

  private static func executable(_ build: Build) throws -> String {
    try (build == .debug ? debug : release).get()
  }

  private static func compile(_ build: Build) throws -> String {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Programs").path
    let includes = InstrumentSources.interfaceOptions.map { "'\($0)'" }
    let imported = includes.map { "-Xcc \($0)" }.joined(separator: " ")
    let path = try TemporaryDirectory.untilExit().path
    try shell("clang -shared -fPIC '\(sources)/thread_value.c' -o '\(path)/libvalue.so'")
    let options = "'-DTHREAD_VALUE_LIBRARY=\"\(path)/libvalue.so\"' \(includes.joined(separator: " "))"
    try shell("cd '\(path)' && clang -O1 -g \(options) -c '\(sources)/Scan/'*.c")
    let bridge = "-import-objc-header '\(sources)/Scan/program.h' \(imported)"
    let swift = "swiftc \(build.rawValue) -wmo -g \(bridge) '\(sources)/Scan/'*.swift"
    try shell("cd '\(path)' && \(swift) *.o -o scan")
    return "\(path)/scan"
  }

  static func shell(_ command: String) throws {
    try Recorder.run("/bin/sh", ["-c", command]).expectSuccess()
  }
}
