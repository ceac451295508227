import UndeadSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// LLVM's `llvm-symbolizer`, which knows files, lines and inlined calls. For one thread at a time.
///
/// It is started by the first question and ends with the last copy of this value.
package struct SymbolizerTool {
  package let path: String
  /// Seconds after which it counts as hung if it says nothing: not the whole time, which depends on how much it is asked.
  let patience: Int
  private static let defaultPatience = 60

  #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
    private final class Running {
      var process: SymbolizerProcess?
    }
    private let running = Running()
  #endif

  /// An address to look up in a file.
  struct Request: Hashable {
    var file: String
    /// As linked, not as loaded.
    var address: UInt64
  }

  /// One line of the tool's JSON.
  private struct Answer: Decodable {
    struct Symbol: Decodable {
      var function: String?
      var file: String?
      var line: Int?
      var startLine: Int?
      var startFile: String?

      private enum CodingKeys: String, CodingKey {
        case function = "FunctionName"
        case file = "FileName"
        case line = "Line"
        case startLine = "StartLine"
        case startFile = "StartFileName"
      }
    }

    struct Variable: Decodable {
      var name: String?

      private enum CodingKeys: String, CodingKey {
        case name = "Name"
      }
    }

    var address: String?
    var symbols: [Symbol]?
    var variables: [Variable]?

    private enum CodingKeys: String, CodingKey {
      case address = "Address"
      case symbols = "Symbol"
      case variables = "Frame"
    }
  }

  /// A function at an address, innermost inlined first.
  struct Location: Equatable {
    /// Mangled; "" if it is not known.
    var function: String
    var file: String?
    var line: Int?
    /// Where the function begins.
    var startLine: Int?
    var startFile: String?
    /// True if debug information knows the function, and gives the code no line.
    var isOfNoLine = false
    /// True if it is the line of other code near the address.
    var isNear = false
  }

  #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
    // MARK: Finding it

    /// Finds the tool: the one that `UNDEAD_SYMBOLIZER` names, the one beside `swift`, in `PATH`, or of a system's LLVM.
    ///
    /// - Parameters:
    ///   - environment: gives the value of a variable.
    /// - Returns: nil if there is none.
    package static func find(environment: (String) -> String?) -> SymbolizerTool? {
      let patience = environment("UNDEAD_SYMBOLIZER_TIMEOUT").flatMap(Int.init).map { min(max(1, $0), 86_400) }
      func tool(_ path: String) -> SymbolizerTool? {
        guard access(path, X_OK) == 0 else { return nil }
        return SymbolizerTool(path: path, patience: patience ?? defaultPatience)
      }
      if let chosen = environment("UNDEAD_SYMBOLIZER") { return tool(chosen) }
      let directories = (environment("PATH") ?? "").split(separator: ":").map(String.init)
      let name = "llvm-symbolizer"
      var candidates: [String] = []
      if let home = directories.first(where: { access("\($0)/swift", X_OK) == 0 }),
        let swift = realpath("\(home)/swift", nil)
      {
        let folder = String(cString: swift).split(separator: "/").dropLast().joined(separator: "/")
        candidates.append("/\(folder)/\(name)")
        free(swift)
      }
      candidates += directories.map { "\($0)/\(name)" }
      // Debian and its relatives keep the versions apart; the newest first.
      candidates += stride(from: 40, through: 9, by: -1).map { "/usr/lib/llvm-\($0)/bin/\(name)" }
      return candidates.lazy.compactMap(tool).first
    }
  #else
    /// Finds no tool: it is only run on Linux.
    package static func find(environment: (String) -> String?) -> SymbolizerTool? { nil }
  #endif

  // MARK: Running it

  /// What it knows of requests.
  struct Answers {
    /// In the order of the requests; nil for those on which it failed.
    var locations: [[Location]?] = []
    /// True if it was ended because it said nothing: nobody should wait for it again.
    var hung = false
  }

  /// Looks up all requests.
  func answers(to requests: [Request]) -> Answers {
    var answers = Answers()
    // It happens to crash on odd debug information: what follows the request that it died of is asked again.
    for _ in 0..<8 where answers.locations.count < requests.count && !answers.hung {
      let (locations, hung) = run(on: requests[answers.locations.count...])
      answers.locations += locations
      answers.hung = hung
      if answers.locations.count < requests.count { answers.locations.append(nil) }
    }
    answers.locations += Array(repeating: nil, count: requests.count - answers.locations.count)
    return answers
  }

  /// Names of the parameters and variables of the functions at addresses; none where it fails.
  func variables(at requests: [Request]) -> [[String]] {
    let input = requests.map { "FRAME \"\($0.file)\" 0x\(String($0.address, radix: 16))\n" }.joined()
    let answers = lines(for: input, count: requests.count).lines.map { line in
      (try? JSONDecoder().decode(Answer.self, from: Data(line)))?.variables?.map { $0.name ?? "" } ?? []
    }
    return answers + Array(repeating: [], count: requests.count - answers.count)
  }

  private func run(on requests: ArraySlice<Request>) -> (locations: [[Location]], hung: Bool) {
    // Not `--skip-line-zero`: the one of Swift 6.3 crashes on it.
    let input = requests.map { "\"\($0.file)\" 0x\(String($0.address, radix: 16))\n" }.joined()
    let (lines, hung) = lines(for: input, count: requests.count)
    let decoder = JSONDecoder()
    var locations: [[Location]] = []
    for (request, line) in zip(requests, lines) {
      guard let answer = try? decoder.decode(Answer.self, from: Data(line)) else { break }
      if let address = answer.address, address != "0x\(String(request.address, radix: 16))" {
        // It answers something else than it was asked.
        forget()
        break
      }
      locations.append((answer.symbols ?? []).map(Self.location))
    }
    return (locations, hung)
  }

  private static func location(_ symbol: Answer.Symbol) -> Location {
    var location = Location(function: symbol.function ?? "", file: nil, line: nil)
    let line = symbol.line.flatMap { $0 > 0 ? $0 : nil }
    location.isOfNoLine = line == nil && !location.function.isEmpty && symbol.startFile?.hasPrefix("/") ?? false
    // "<compiler-generated>", "<stdin>" and the like are no files. A bare name without a line is that of the symbol table's
    // last object file, for lack of debug information: mostly "crtstuff.c".
    if let file = symbol.file, !file.isEmpty, file != "??", !(file.hasSuffix(">") && file.contains("<")),
      line != nil || file.contains("/")
    {
      location.file = file
      location.line = line
    }
    let isInSource = location.line != nil || location.isOfNoLine
    if isInSource, let start = symbol.startLine, start > 0 {
      location.startLine = start
      location.startFile = symbol.startFile
    }
    return location
  }

  #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
    /// A line for each request, fewer if the tool could not answer all.
    private func lines(for requests: String, count: Int) -> (lines: [ArraySlice<UInt8>], hung: Bool) {
      guard count > 0 else { return ([], false) }
      if running.process?.isInStep == false { running.process = nil }
      if let process = running.process {
        let answers = ask(process, requests, count)
        // One that has ended since the last question is no reason to give up an answer.
        if !answers.lines.isEmpty || answers.hung { return answers }
      }
      return SymbolizerProcess(path: path).map { ask($0, requests, count) } ?? ([], false)
    }

    private func ask(
      _ process: SymbolizerProcess, _ requests: String, _ count: Int
    ) -> (lines: [ArraySlice<UInt8>], hung: Bool) {
      let answers = process.answers(to: requests, count: count, patience: patience)
      running.process = answers.lines.count == count ? process : nil
      return answers
    }

    private func forget() { running.process = nil }
  #else
    private func forget() {}
    private func lines(for requests: String, count: Int) -> (lines: [ArraySlice<UInt8>], hung: Bool) { ([], false) }
  #endif
}
