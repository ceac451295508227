import Foundation
import Testing
import UndeadTestSupport

/// A program of the corpus in one configuration.
struct Program: Sendable, CustomTestStringConvertible {
  enum Configuration: String, Sendable, CaseIterable {
    case debug
    case release

    var flags: [String] { self == .debug ? ["-g", "-Onone"] : ["-g", "-O"] }
  }

  /// The main source: a file of its own, or `main.swift` in a directory.
  let source: URL
  let configuration: Configuration
  /// The one of its cases that is run, nil for a program that has none.
  var variant: String?

  var testDescription: String { "\(variant ?? name) (\(configuration.rawValue))" }
  var name: String {
    let isDirectory = source.lastPathComponent == "main.swift"
    return (isDirectory ? source.deletingLastPathComponent() : source).deletingPathExtension().lastPathComponent
  }

  /// The programs under a folder of `Programs` that are to run: all, or those whose path contains `UNDEAD_CORPUS`. Without ``Thorough``
  /// each of them is compiled in one way only.
  static func selected(in folder: String) -> [Program] {
    let filter = ProcessInfo.processInfo.environment["UNDEAD_CORPUS"]
    return all(in: folder).filter { program in
      (filter.map { program.source.path.contains($0) || program.variant?.contains($0) == true } ?? true)
        && (Thorough.isOn || program.isEnough)
    }
  }

  /// Whether this way to compile the program is enough: its name decides, so that some programs of each kind are compiled in either. Both
  /// are needed where they must lead to different reports.
  private var isEnough: Bool {
    let text = (try? String(contentsOf: source, encoding: .utf8)) ?? ""
    let isRelease = name.utf8.reduce(0, ^).isMultiple(of: 2)
    return isRelease == (configuration == .release) || text.contains(/\/\/ EXPECT .* in=(debug|release)/)
  }

  /// Every program under a folder of `Programs`, in both configurations, in a fixed order.
  static func all(in folder: String) -> [Program] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Programs/\(folder)")
    let manager = FileManager.default
    let entries = (try? manager.contentsOfDirectory(at: root, includingPropertiesForKeys: nil)) ?? []
    return entries.compactMap { entry -> URL? in
      if entry.pathExtension == "swift" { return entry }
      let main = entry.appendingPathComponent("main.swift")
      return manager.fileExists(atPath: main.path) ? main : nil
    }
    .sorted { $0.path < $1.path }
    .flatMap { url -> [Program] in
      let cases = (try? String(contentsOf: url, encoding: .utf8)).map(Expectation.cases(of:)) ?? []
      return (cases.isEmpty ? [nil] : cases.map(Optional.some)).flatMap { variant in
        Configuration.allCases.map { Program(source: url, configuration: $0, variant: variant) }
      }
    }
  }
}

/// A program that was compiled.
struct BuiltProgram: Sendable {
  let executable: URL
  let configuration: Program.Configuration
  let expectation: Expectation
  let judge: Judge
}

/// Tests that want one program share its build: another would take the place of the file that somebody runs.
private actor Builds {
  static let shared = Builds()

  private var tasks: [String: Task<Void, any Error>] = [:]

  func once(_ name: String, _ build: @escaping @Sendable () async throws -> Void) async throws {
    let task = tasks[name] ?? Task { try await build() }
    tasks[name] = task
    try await task.value
  }
}

extension Program {
  /// Compiles the program, or finds it in the cache under the hash of its sources and flags.
  func build() async throws -> BuiltProgram {
    let text = try String(contentsOf: source, encoding: .utf8)
    let expectation = try Expectation(source: text, configuration: configuration.rawValue, case: variant)
    let folder = source.deletingLastPathComponent()
    let plugin = expectation.plugin.map { folder.appendingPathComponent($0) }
    let library = expectation.library.first.map { folder.appendingPathComponent($0) }
    let header = expectation.header.map { folder.appendingPathComponent($0) }
    let sources = [source] + [plugin, library, header].compactMap(\.self)
    let flags = configuration.flags + expectation.flags + (header.map { ["-import-objc-header", $0.path] } ?? [])
    let digest = try Self.digest(of: sources, and: flags + expectation.library + [expectation.module, Self.compiler])
    let directory = BuildProducts.directory.appendingPathComponent("undead-corpus/\(name)-\(digest)")
    let executable = directory.appendingPathComponent(name)
    try await Builds.shared.once(directory.path) { [flags] in
      if FileManager.default.isExecutableFile(atPath: executable.path) { return }
      var flags = flags
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      if let plugin { _ = try await compileLibrary(plugin, in: directory) }
      if let library {
        let name = try await compileLibrary(library, in: directory, flags: Array(expectation.library.dropFirst()))
        flags += ["-I\(directory.path)", "-L\(directory.path)", "-l\(name)"]
        flags += ["-Xlinker", "-rpath", "-Xlinker", directory.path]
      }
      // Nothing imports the program: its module is made by no process of its own, and its code is the same.
      flags += ["-no-emit-module-separately", "-module-name", expectation.module]
      try await compile(source, to: executable, flags: flags)
    }
    let judge = Judge(
      expectation: expectation, markers: try Self.markers(in: sources), mainFile: source.lastPathComponent)
    return BuiltProgram(
      executable: executable, configuration: configuration, expectation: expectation, judge: judge)
  }

  /// Compiles a dynamic library, and its module beside it; gives back its name.
  private func compileLibrary(_ source: URL, in directory: URL, flags: [String] = []) async throws -> String {
    let name = source.deletingPathExtension().lastPathComponent
    let module = directory.appendingPathComponent("\(name).swiftmodule").path
    let words = ["-emit-library", "-emit-module", "-emit-module-path", module, "-module-name", name]
    let product = directory.appendingPathComponent("lib\(name).so")
    try await compile(source, to: product, flags: configuration.flags + words + flags)
    return name
  }

  private func compile(_ source: URL, to product: URL, flags: [String]) async throws {
    let unfinished = product.path + ".\(UUID().uuidString)"
    let words = [Self.compiler] + flags + [source.path, "-o", unfinished]
    let outcome = try await runShell(words.map(quoted).joined(separator: " "), deadline: .seconds(300))
    guard outcome.ending == .exit(0) else {
      throw ChildError(description: "cannot compile \(source.path): \(outcome.errors)\(outcome.output)")
    }
    guard rename(unfinished, product.path) == 0 else {
      throw ChildError(description: "cannot rename \(unfinished): \(String(cString: strerror(errno)))")
    }
  }

  private static let compiler = ProcessInfo.processInfo.environment["SWIFT_EXEC"] ?? "swiftc"

  private static func digest(of sources: [URL], and words: [String]) throws -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for data in try sources.map({ try Data(contentsOf: $0) }) + words.map({ Data($0.utf8) }) {
      for byte in data { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    return String(hash, radix: 16)
  }

  private static func markers(in sources: [URL]) throws -> [String: Set<Int>] {
    var markers: [String: Set<Int>] = [:]
    for source in sources {
      let lines = try String(contentsOf: source, encoding: .utf8).split(
        separator: "\n", omittingEmptySubsequences: false)
      for (number, line) in lines.enumerated() {
        guard let mark = line.range(of: "// @") else { continue }
        markers["\(source.lastPathComponent):\(line[mark.upperBound...])", default: []].insert(number + 1)
      }
    }
    return markers
  }
}

/// The word as `/bin/sh` reads it back.
func quoted(_ word: String) -> String { "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'" }
