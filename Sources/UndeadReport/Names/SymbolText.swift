/// What the text of a demangled symbol says about a function.
package enum SymbolText {
  /// The part of a path after the last slash.
  package static func fileName(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }

  /// Libraries of the toolchain and the system, by the start of their file names.
  private static let systemLibraries = [
    "libswift", "lib_Foundation", "lib_Internal", "lib_Volumes", "libFoundation", "libdispatch.", "libBlocksRuntime",
    "libXCTest.", "libTesting.", "libc.so", "libc-", "ld-linux", "libpthread", "libm.so", "libstdc++", "libgcc_s",
    "libUndeadPreload", "linux-vdso",
  ]
  /// Starts of the names of toolchain code that is linked into a program.
  private static let toolchainFunctions = [
    "swift_", "_swift_", "swift::", "(extension in Swift)", "(extension in Foundation", "_dispatch_", "dispatch_",
    "_CF", "__CF", "__libc_start", "_start",
  ]

  /// True for code of the toolchain or the system that the module list does not show: linked into the program,
  /// specialised for it by the compiler, or made by a macro (under names that change with the text around it).
  static func isToolchain(_ frame: Frame) -> Bool {
    if frame.file?.contains("@__swiftmacro_") ?? false || frame.symbol.contains("4TestfMp_") { return true }
    if systemLibraries.contains(where: frame.module.hasPrefix) { return true }
    var function = FunctionName.withoutThunks(frame.symbol)[...]
    if function.hasPrefix("static ") { function = function.dropFirst("static ".count) }
    return ToolchainModules.define(function) || toolchainFunctions.contains(where: function.hasPrefix)
      || OwnLibraries.define(frame.symbol)
  }

  /// True for the functions of the runtime that every allocation goes through.
  static func isRuntimeEntry(_ symbol: String) -> Bool {
    let starts = ["swift_", "_swift_", "swift::", "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"]
    return starts.contains(where: symbol.hasPrefix) || symbol.hasPrefix("operator new")
  }

  /// True for main's code, if that is asynchronous, and what the compiler splits off it: "async_MainTY4_".
  static func isAsyncMain(_ symbol: String) -> Bool { symbol.hasPrefix("async_Main") }

  /// True for an allocating initialiser: the place that made the object is its caller.
  static func isAllocatingInitializer(_ symbol: String) -> Bool {
    symbol.contains("__allocating_init(")
  }

  /// The function that a closure is written in: "closure #1 in App.Owner.start()" -> "App.Owner.start()".
  static func outer(_ symbol: String) -> String {
    var rest = short(symbol)[...]
    while let inner = rest.firstRange(of: " in ") { rest = rest[inner.upperBound...] }
    return String(rest)
  }

  /// True for "implicit closure #4 in implicit closure #3 in App.Form.start()", which the compiler makes of `self.method`.
  static func isMethodReference(_ symbol: String) -> Bool {
    let inner = "implicit closure #"
    let outer = " in implicit closure #"
    guard symbol.hasPrefix(inner), let between = symbol.firstRange(of: outer),
      let first = Int(symbol[..<between.lowerBound].dropFirst(inner.count))
    else { return false }
    return Int(symbol[between.upperBound...].prefix(while: \.isNumber)) == first - 1
  }

  /// The name of a function in a function: "step(_:) in App.Owner.run()" -> "step(_:)"; nil for closures and others.
  static func localFunction(_ symbol: String) -> String? {
    guard let name = FunctionName(symbol).inner.first, !name.contains("closure #"), !name.contains(" ") else {
      return nil
    }
    return name
  }

  /// The type whose member a closure sits in: "closure #1 () -> () in App.Owner.start() -> ()" -> "App.Owner".
  static func enclosingType(ofClosure symbol: String) -> String? {
    let name = FunctionName(symbol)
    guard name.inner.contains(where: { $0.contains("closure #") }), !name.owner.isEmpty else { return nil }
    return name.owner.joined(separator: ".")
  }
}

extension Backtrace {
  /// The first frame of the program: the first that the user wrote, else the first of a dependency.
  package var firstOwnFrame: Frame? {
    start?.frame ?? frames.first { !$0.system && !SymbolText.isAllocatingInitializer($0.symbol) }
      ?? frames.first { !$0.system }
  }

  /// The frame to show for the whole stack: the user's, else the first of a dependency, else that of a library which is not the
  /// allocator.
  package var site: Frame? {
    firstOwnFrame ?? frames.first { !SymbolText.isRuntimeEntry($0.symbol) } ?? frames.first
  }
}

extension SymbolText {
  /// The function without its argument and result types, for a sentence: "App.Loader.load()".
  package static func short(_ symbol: String) -> String {
    if isAsyncMain(symbol) { return "main" }
    let text = FunctionName.withoutThunks(symbol)
    guard let arrow = text.firstRange(of: " -> "), !text.contains(" in ") else { return text }
    return String(text[..<arrow.lowerBound]).replacing(" async", with: "").replacing(" throws", with: "")
  }
}
