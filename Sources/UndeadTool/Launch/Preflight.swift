import UndeadReport
import UndeadSystem

/// What the files of a program tell before it runs: whether the instrument can work inside it.
struct Preflight: Equatable {
  /// The file that the system runs: the program, or the interpreter of a script.
  let executable: String
  /// Why no check can be made, as a sentence that starts with the file; nil if nothing speaks against it.
  let obstacle: String?

  /// Looks at `program` (a path that exists and may be executed).
  ///
  /// - Parameters:
  ///   - preloaded: the user's own `LD_PRELOAD`, "" for none.
  init(program: String, preloaded: String) throws(ToolError) {
    executable = try Self.interpreterOfScript(program)
    obstacle = Self.obstacle(inPreloaded: preloaded) ?? Self.obstacle(in: executable)
  }

  // MARK: Scripts

  private static func interpreterOfScript(_ program: String) throws(ToolError) -> String {
    var current = program
    // The kernel follows this many as well.
    for _ in 0..<5 {
      guard let next = interpreterLine(of: current) else { return current }
      guard access(next, X_OK) == 0, !System.isDirectory(next) else {
        let reason = System.isDirectory(next) ? "is a directory" : SystemError.text()
        throw .misuse(
          "cannot run '\(current)': its first line asks for the interpreter '\(next)' (\(reason)); fix that line")
      }
      current = next
    }
    throw .misuse("cannot run '\(program)': too many scripts that are interpreters of each other")
  }

  private static func interpreterLine(of path: String) -> String? {
    guard let start = try? MappedFile(path: path).bytes(at: 0, count: 256), start.starts(with: [0x23, 0x21]) else {
      return nil
    }
    let line = start.dropFirst(2).prefix { $0 != 0x0A && $0 != 0 }
    let words = line.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    return words.first.map { String(decoding: $0, as: UTF8.self) }
  }

  // MARK: Obstacles

  /// Functions by which a runtime of another instrument shows itself.
  private static let sanitizers = [
    "__asan_init": "AddressSanitizer", "__tsan_init": "ThreadSanitizer", "__lsan_init": "LeakSanitizer",
    "__msan_init": "MemorySanitizer", "__hwasan_init": "HWAddressSanitizer",
  ]
  private static let sanitizerLibraries = [
    "libasan": "AddressSanitizer", "libtsan": "ThreadSanitizer", "liblsan": "LeakSanitizer",
    "libhwasan": "HWAddressSanitizer", "libclang_rt.": "a sanitizer",
  ]

  private static func obstacle(in path: String) -> String? {
    // Not ELF at all: the shell runs it, and the shell can be checked.
    guard let file = try? ELFFile(path: path) else { return nil }
    guard file.header.bits == 64, file.header.machine == ELFHeader.Machine.x86 else {
      return "'\(path)' is built for another processor than undead (\(describe(file)))"
    }
    if file.isStaticProgram {
      return "'\(path)' is a static executable, so nothing can be preloaded into it; "
        + "link it dynamically ('-static-stdlib' alone is fine) to have it checked"
    }
    if runsPrivileged(path) {
      return "'\(path)' gets other privileges when it starts (setuid or setgid), "
        + "so the loader ignores preloaded libraries; run a copy without them"
    }
    for library in file.neededLibraries {
      if let found = foreignInstrument(inLibrary: library) { return "'\(path)' \(found)" }
    }
    return obstacle(inSymbolsOf: file)
  }

  private static func obstacle(inSymbolsOf file: ELFFile) -> String? {
    // A program that links Undead defines malloc too; its own copy of the instrument answers the session.
    let ownMark = "undead_scan"
    let defined = file.defined(among: Set(sanitizers.keys).union(["malloc", ownMark]))
    for name in sanitizers.keys.sorted() where defined.contains(name) {
      return "'\(file.path)' \(builtWith(sanitizers[name]!))"
    }
    if defined.contains("malloc") && !defined.contains(ownMark) {
      return
        "'\(file.path)' has an allocator of its own linked in instead of the C library's malloc, so allocations cannot be "
        + "seen; link the allocator's shared library, or preload it, to have the program checked"
    }
    return nil
  }

  private static func obstacle(inPreloaded list: String) -> String? {
    for entry in list.split(whereSeparator: { $0 == ":" || $0 == " " }).map(String.init) {
      if let found = foreignInstrument(inLibrary: entry) { return "the program, by LD_PRELOAD, \(found)" }
    }
    return nil
  }

  private static func foreignInstrument(inLibrary library: String) -> String? {
    let name = library.split(separator: "/").last.map(String.init) ?? library
    for (start, sanitizer) in sanitizerLibraries.sorted(by: { $0.key < $1.key }) where name.hasPrefix(start) {
      return builtWith(sanitizer)
    }
    return nil
  }

  private static func builtWith(_ sanitizer: String) -> String {
    "is built with \(sanitizer), which has to see every allocation itself; build it without to have it checked"
  }

  // MARK: Facts

  private static func describe(_ file: ELFFile) -> String {
    "\(file.header.bits)-bit \(ELFHeader.Machine.name(of: file.header.machine))"
  }

  private static func runsPrivileged(_ path: String) -> Bool {
    guard let status = System.status(of: path) else { return false }
    if status.st_mode & S_ISUID != 0 && status.st_uid != getuid() { return true }
    return status.st_mode & S_ISGID != 0 && status.st_mode & S_IXGRP != 0 && status.st_gid != getgid()
  }
}
