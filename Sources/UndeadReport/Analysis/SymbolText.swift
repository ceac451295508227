/// What the text of a demangled symbol says about a function.
package enum SymbolText {
  /// The part of a path after the last slash.
  package static func fileName(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }

  private static let thunks = [
    "partial apply forwarder for ", "partial apply for ", "merged ", "dispatch thunk of ", "vtable thunk for ",
    "specialized ",
  ]

  /// The symbol without what the compiler put before the function that the programmer wrote.
  package static func withoutThunks(_ symbol: String) -> String {
    var text = Substring(symbol)
    var changed = true
    while changed {
      changed = false
      for thunk in thunks where text.hasPrefix(thunk) {
        text = text.dropFirst(thunk.count)
        changed = true
      }
      if let rest = afterSuspension(text) ?? afterSpecialization(text) {
        text = rest
        changed = true
      }
    }
    return String(text)
  }

  /// "(3) await resume partial function for X" -> "X".
  private static func afterSuspension(_ text: Substring) -> Substring? {
    guard text.hasPrefix("("), let range = text.firstRange(of: "partial function for "),
      text[..<range.lowerBound].utf8.count < 32
    else { return nil }
    return text[range.upperBound...]
  }

  /// "generic specialization <...> of X" -> "X".
  private static func afterSpecialization(_ text: Substring) -> Substring? {
    let kinds = [
      "generic specialization <", "function signature specialization <", "generic not re-abstracted specialization <",
      "generic partial specialization <",
    ]
    guard let kind = kinds.first(where: text.hasPrefix) else { return nil }
    var depth = 1
    var rest = text.dropFirst(kind.count)
    var last: Character = " "
    while depth > 0, let character = rest.popFirst() {
      if character == "<" { depth += 1 }
      if character == ">", last != "-" { depth -= 1 }
      last = character
    }
    return rest.hasPrefix(" of ") ? rest.dropFirst(4) : nil
  }

  /// Libraries of the toolchain and the system, by the start of their file names.
  private static let systemLibraries = [
    "libswift", "lib_Foundation", "lib_Internal", "lib_Volumes", "libFoundation", "libdispatch.", "libBlocksRuntime",
    "libXCTest.", "libTesting.", "libc.so", "libc-", "ld-linux", "libpthread", "libm.so", "libstdc++", "libgcc_s",
    "libUndeadPreload", "linux-vdso",
  ]
  /// Starts of the names of toolchain code that is linked into a program.
  private static let toolchainFunctions = [
    "swift_", "_swift_", "swift::", "Swift.", "(extension in Swift)", "Foundation.", "FoundationEssentials.",
    "(extension in Foundation", "_dispatch_", "dispatch_", "_CF", "__CF", "Dispatch.",
    "__libc_start", "_start",
  ]

  /// True for code of the toolchain or the system that the module list does not tell: linked into the program,
  /// specialised for it by the compiler, or made by a macro (under names that change with the text around it).
  static func isToolchain(_ frame: Frame) -> Bool {
    if frame.file?.contains("@__swiftmacro_") ?? false || frame.symbol.contains("4TestfMp_") { return true }
    if systemLibraries.contains(where: frame.module.hasPrefix) { return true }
    var function = withoutThunks(frame.symbol)[...]
    if function.hasPrefix("static ") { function = function.dropFirst("static ".count) }
    return toolchainFunctions.contains(where: function.hasPrefix) || OwnLibraries.define(function)
  }

  /// True for the functions of the runtime that every allocation goes through.
  static func isRuntimeEntry(_ symbol: String) -> Bool {
    let starts = ["swift_", "_swift_", "swift::", "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"]
    return starts.contains(where: symbol.hasPrefix) || symbol.hasPrefix("operator new")
  }

  /// True for an allocating initialiser: the place that made the object is its caller.
  static func isAllocatingInitializer(_ symbol: String) -> Bool {
    symbol.contains("__allocating_init(")
  }

  /// The type whose member a closure sits in: "closure #1 () -> () in App.Owner.start() -> ()" -> "App.Owner".
  static func enclosingType(ofClosure symbol: String) -> String? {
    let text = withoutThunks(symbol)
    guard text.contains("closure #"), let range = text.ranges(of: " in ").last else { return nil }
    var name = text[range.upperBound...].prefix { $0 != "(" }
    while let open = name.firstIndex(of: "<"), let close = name.lastIndex(of: ">"), open < close {
      name = name[..<open] + name[name.index(after: close)...]
    }
    for suffix in [".getter", ".setter", ".modify", ".read", ".didset", ".willset", ".init"] {
      if let cut = name.firstRange(of: suffix) { name = name[..<cut.lowerBound] }
    }
    let parts = name.split(separator: " ").last?.split(separator: ".") ?? []
    guard parts.count >= 2 else { return nil }
    let isInitializer = text[range.upperBound...].contains(".init(") || text.contains("__allocating_init(")
    return (isInitializer ? parts.filter { $0 != "__allocating_init" } : parts.dropLast()).joined(separator: ".")
  }
}

extension Backtrace {
  /// The first frame of the program: the first that the user wrote, else the first of a dependency.
  package var firstOwnFrame: Frame? {
    start?.frame ?? frames.first { !$0.system && !SymbolText.isAllocatingInitializer($0.symbol) }
      ?? frames.first { !$0.system }
  }
}

extension SymbolText {
  /// The function without its argument and result types, for a sentence: "App.Loader.load()".
  package static func short(_ symbol: String) -> String {
    let text = withoutThunks(symbol)
    guard let arrow = text.firstRange(of: " -> "), !text.contains(" in ") else { return text }
    return String(text[..<arrow.lowerBound]).replacing(" async", with: "").replacing(" throws", with: "")
  }
}
