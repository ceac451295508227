import UndeadSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// LLVM's `llvm-symbolizer`, which knows files, lines and inlined calls.
package struct SymbolizerTool {
  package let path: String
  /// Seconds after which it counts as hung if it says nothing: not the whole time, which depends on how much it is asked.
  let patience: Int
  private static let defaultPatience = 60

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

    var symbols: [Symbol]?
    var variables: [Variable]?

    private enum CodingKeys: String, CodingKey {
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

  /// Looks up all requests, in one run if nothing goes wrong.
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
    let output = requests.isEmpty ? [] : run(["--output-style=JSON"], input: input).output
    let answers = output.split(separator: UInt8(ascii: "\n")).prefix(requests.count).map { line in
      (try? JSONDecoder().decode(Answer.self, from: Data(line)))?.variables?.map { $0.name ?? "" } ?? []
    }
    return answers + Array(repeating: [], count: requests.count - answers.count)
  }

  private func run(on requests: ArraySlice<Request>) -> (locations: [[Location]], hung: Bool) {
    // Not `--skip-line-zero`: the one of Swift 6.3 crashes on it.
    let input = requests.map { "\"\($0.file)\" 0x\(String($0.address, radix: 16))\n" }.joined()
    let (output, hung) = run(["--output-style=JSON", "--inlines"], input: input)
    let decoder = JSONDecoder()
    var locations: [[Location]] = []
    for line in output.split(separator: UInt8(ascii: "\n")).prefix(requests.count) {
      guard let answer = try? decoder.decode(Answer.self, from: Data(line)) else { break }
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
    /// Runs the tool with `input` and returns what it writes; empty if it cannot run.
    private func run(_ options: [String], input: String) -> (output: [UInt8], hung: Bool) {
      guard let requests = Self.temporaryFile(holding: input) else { return ([], false) }
      defer { close(requests) }
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else { return ([], false) }
      defer { close(ends[0]) }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      var tool = Spawn(path, [path] + options)
      tool.files = [STDIN_FILENO: .same(as: requests), STDOUT_FILENO: .same(as: ends[1]), STDERR_FILENO: .null]
      // It must not ask servers for debug information, nor be instrumented itself.
      let hidden = ["DEBUGINFOD_URLS", "LD_PRELOAD", "UNDEAD_SESSION", "LLVM_SYMBOLIZER_OPTS"]
      tool.environment = ProcessInfo.processInfo.environment.filter { !hidden.contains($0.key) }
        .map { Array("\($0.key)=\($0.value)".utf8) }
      let pid = try? tool.start()
      close(ends[1])
      guard let pid else { return ([], false) }
      let (output, hung) = Self.readAll(ends[0], patience: patience)
      if hung { kill(pid, SIGKILL) }
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
      return (output, hung)
    }

    /// An unnamed file for standard input, so that a program that does not read all of it cannot block us.
    ///
    /// - Parameter directories: the first one that takes it counts; a container may not let us write to all of them.
    package static func temporaryFile(
      holding text: String,
      in directories: [String] = [ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp", "/tmp", "/dev/shm"]
    ) -> Int32? {
      for directory in directories {
        var path = Array("\(directory)/undead-input-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { continue }
        unlink(path)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if put(text, to: descriptor), lseek(descriptor, 0, SEEK_SET) == 0 { return descriptor }
        close(descriptor)
      }
      return nil
    }

    private static func put(_ text: String, to descriptor: Int32) -> Bool {
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if count == 0 || errno != EINTR {
          return false
        }
      }
      return true
    }

    /// - Returns: what was written, and whether nothing more came for `patience` seconds.
    private static func readAll(_ descriptor: Int32, patience: Int) -> (output: [UInt8], hung: Bool) {
      var output: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, Int32(clamping: patience * 1000)) != 0 else { return (output, true) }
        let count = read(descriptor, &chunk, chunk.count)
        if count > 0 {
          output.append(contentsOf: chunk[0..<count])
        } else if count == 0 || errno != EINTR {
          return (output, false)
        }
      }
    }
  #else
    private func run(_ options: [String], input: String) -> (output: [UInt8], hung: Bool) { ([], false) }
  #endif
}
