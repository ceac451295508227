import UndeadReport
import UndeadSystem

/// The library that is loaded into the program, and the environment that brings it there.
struct PreloadLibrary: Equatable {
  static let fileName = "libUndeadPreload.so"

  let path: String

  static func ofThisTool() throws(ToolError) -> PreloadLibrary {
    try find(tool: SymbolicLink.target("/proc/self/exe") ?? "")
  }

  /// Finds the library beside the tool (a build) or in the `lib` directory next to the tool's (an installation).
  ///
  /// - Parameters:
  ///   - tool: path of the running tool, links resolved.
  static func find(tool: String) throws(ToolError) -> PreloadLibrary {
    let directory = tool.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let candidates = ["\(directory)/\(fileName)", "\(directory)/../lib/undead/\(fileName)"]
    for candidate in candidates where access(candidate, R_OK) == 0 { return PreloadLibrary(path: candidate) }
    throw .failure(
      "cannot find \(fileName), which belongs to this tool (\(tool)); looked for it at \(candidates[0]) and "
        + "\(candidates[1]); build it with 'swift build -c release --product UndeadPreload', or install the tool "
        + "with scripts/install")
  }

  /// The environment for the program: `environment`, with this library after the user's own preloaded ones, but before an
  /// allocator among them: the first one is called first.
  ///
  /// - Parameters:
  ///   - settings: variables that replace those of the same name.
  func environment(from environment: [[UInt8]], settings: [String: String]) -> [[UInt8]] {
    let separators = [UInt8(ascii: ":"), UInt8(ascii: " ")]
    let preloaded = environment.first { Self.name(of: $0) == "LD_PRELOAD" }?.dropFirst("LD_PRELOAD=".utf8.count) ?? []
    // A tool under the tool: the inner one's library is the one that counts.
    let others = preloaded.split(whereSeparator: separators.contains).filter {
      !$0.reversed().starts(with: "/\(Self.fileName)".utf8.reversed())
    }
    let place = others.firstIndex { Self.isAllocator(String(decoding: $0, as: UTF8.self)) } ?? others.count
    let all = others[..<place] + [Array(path.utf8)[...]] + others[place...]
    let list = Array(all.joined(separator: [UInt8(ascii: ":")]))
    let kept = environment.filter { entry in
      let name = Self.name(of: entry)
      // A run inside of a test run is meant for whatever it runs.
      return name != "LD_PRELOAD" && name != "UNDEAD_ONLY" && name != "UNDEAD_FILTERS" && settings[name] == nil
    }
    return kept + [Array("LD_PRELOAD=".utf8) + list]
      + settings.sorted { $0.key < $1.key }.map { Array("\($0.key)=\($0.value)".utf8) }
  }

  /// Where the loader looks for a name without a slash is not known here; all allocators have the word in theirs.
  private static func isAllocator(_ library: String) -> Bool {
    guard library.contains("/"), let file = try? ELFFile(path: library) else { return library.contains("alloc") }
    return file.defined(among: ["malloc"]) == ["malloc"]
  }

  private static func name(of entry: [UInt8]) -> String {
    String(decoding: entry.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
  }

  /// The same library under a name that `LD_PRELOAD` can express: it has no way to quote blanks and colons.
  func usable(linkedFrom directory: String) throws(ToolError) -> PreloadLibrary {
    guard path.contains(where: { $0 == " " || $0 == ":" }) else { return self }
    let link = "\(directory)/\(Self.fileName)"
    guard !link.contains(where: { $0 == " " || $0 == ":" }), symlink(path, link) == 0 else {
      throw .failure(
        "the loader cannot load a library from '\(path)': the path has a blank or a colon; "
          + "move the tool to another directory, or set TMPDIR to one without them")
    }
    return PreloadLibrary(path: link)
  }
}
