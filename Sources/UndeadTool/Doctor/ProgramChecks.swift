import UndeadReport

/// What the files of a program say about how it can be checked.
enum ProgramChecks {
  static func all(of name: String) throws(ToolError) -> [Diagnosis] {
    let program = try ProgramLookup.find(name, path: System.environment("PATH"))
    let preflight = try Preflight(program: program, preloaded: System.environment("LD_PRELOAD") ?? "")
    if let obstacle = preflight.obstacle {
      return [.fail("program", obstacle, "'undead run' runs it unchecked, and says so")]
    }
    guard let file = try? ELFFile(path: preflight.executable) else {
      return [.ok("program", "'\(program)' is a script of the shell, which can be checked with what it starts")]
    }
    var findings: [Diagnosis] = []
    if preflight.executable != program {
      findings.append(.ok("program", "'\(program)' is a script for '\(preflight.executable)', which can be checked"))
    } else {
      findings.append(.ok("program", "'\(program)' can be checked"))
    }
    return findings + [swift(file), debugInformation(file)] + [allocator(file)].compactMap(\.self)
  }

  private static func swift(_ file: ELFFile) -> Diagnosis {
    let names: Set = ["swift_retain", "undead_scan"]
    let defined = file.defined(among: names)
    let linked = file.neededLibraries.contains { $0.hasPrefix("libswiftCore") }
    if defined.contains("undead_scan") {
      return .ok("swift", "it links Undead itself, and answers the tool with that copy")
    }
    if linked { return .ok("swift", "it uses the Swift runtime of a shared library") }
    if defined.contains("swift_retain") { return .ok("swift", "the Swift runtime is linked into it") }
    if file.sectionNames.contains(where: { $0.hasPrefix("swift5_") }) {
      return .fail(
        "swift", "the Swift runtime is linked into it, and its symbols were stripped",
        "keep the symbols (strip -g), or use the runtime of a shared library")
    }
    return .warn(
      "swift", "it is not linked with the Swift runtime",
      "nothing is checked in it unless it loads Swift code; its child processes are looked at, too")
  }

  private static func debugInformation(_ file: ELFFile) -> Diagnosis {
    let sections = file.sectionNames
    if sections.contains(where: { [".debug_info", ".zdebug_info"].contains($0) }) {
      return .ok("debug information", "it has some: reports have files and lines")
    }
    if sections.contains(".symtab") {
      return .warn(
        "debug information", "there is none: reports have functions, but no files and lines",
        "build with -g ('swift build -c release -Xswiftc -g')")
    }
    return .warn(
      "debug information", "the program is stripped: reports have only the names of exported functions",
      "do not strip it, or check it before it is stripped (-Xlinker -s, strip)")
  }

  private static func allocator(_ file: ELFFile) -> Diagnosis? {
    let allocator = file.neededLibraries.first { name in
      ["libjemalloc", "libmimalloc", "libtcmalloc", "libtbbmalloc"].contains(where: name.hasPrefix)
    }
    return allocator.map { .ok("allocator", "\($0), which can be checked like glibc's (Documentation/allocators.md)") }
  }
}
