/// A row of a stack as renderers show it.
package enum StackRow: Sendable, Equatable {
  /// A function.
  case frame(Frame)
  /// Frames that say nothing to the programmer, and whose they are: "the Swift runtime".
  case folded([Frame], of: String)
  /// So many frames that are left out at the end.
  case more(Int)
}

extension Backtrace {
  /// The stack without what every allocation goes through and what started the thread; of what libraries and the
  /// runtime did between two functions of the program, only the function that the program called.
  ///
  /// - Parameters:
  ///   - depth: most frames.
  ///   - folds: false for every frame.
  package func rows(depth: Int, folds: Bool = true) -> [StackRow] {
    guard folds else { return Self.limited(frames.map { .frame($0) }, depth) }
    let shown = frames[telling]
    let isForeign = foreign
    guard shown.contains(where: { !isForeign($0) }) else { return Self.limited(shown.map { .frame($0) }, depth) }
    return Self.limited(Self.folded(shown, isForeign), depth)
  }

  /// The frames that tell where something happened: without what every allocation goes through at the inner end, and
  /// without what started the thread.
  package var telling: Range<Int> {
    let first = frames.firstIndex { !$0.isOnlyOfAllocation } ?? 0
    let isForeign = foreign
    let last = frames.lastIndex { !isForeign($0) } ?? frames.lastIndex { !$0.system } ?? frames.count - 1
    return first..<Swift.max(first, last + 1)
  }

  /// Tells what the user did not write. Where no function of theirs is on the stack, those of dependencies count as theirs.
  private var foreign: (Frame) -> Bool {
    frames.contains(where: \.isOfUser) ? { !$0.isOfUser } : { $0.isForeign }
  }

  private static func folded(_ frames: ArraySlice<Frame>, _ isForeign: (Frame) -> Bool) -> [StackRow] {
    var rows: [StackRow] = []
    var run: [Frame] = []
    var last: Frame?
    func endRun() {
      // What the program called says what the rest was for.
      let called = run.last.flatMap { $0.isGenerated || $0.isInRuntime ? nil : $0 }
      let inner = run.dropLast(called == nil ? 0 : 1)
      if inner.count > 1 {
        rows.append(.folded(Array(inner), of: owners(inner)))
      } else {
        rows += inner.map { .frame($0) }
      }
      if let called { rows.append(.frame(called)) }
      run = []
    }
    for frame in frames {
      if isForeign(frame) {
        run.append(frame)
      } else if run.isEmpty, let last, frame.isForwarder(to: last) {
        continue
      } else {
        endRun()
        rows.append(.frame(frame))
      }
      last = frame
    }
    endRun()
    return rows
  }

  private static func limited(_ rows: [StackRow], _ depth: Int) -> [StackRow] {
    guard rows.count > max(depth, 0) else { return rows }
    let hidden = rows[max(depth, 0)...].map { row in
      if case .folded(let frames, _) = row { frames.count } else { 1 }
    }
    return Array(rows.prefix(max(depth, 0))) + [.more(hidden.reduce(0, +))]
  }

  /// Whose frames these are, in the order in which they come.
  private static func owners(_ frames: ArraySlice<Frame>) -> String {
    var names: [String] = []
    for frame in frames where !frame.isGenerated && !names.contains(frame.libraryName) {
      names.append(frame.libraryName)
    }
    return switch names.count {
    case 0: "the Swift runtime"
    case 1, 2: names.joined(separator: " and ")
    default: "libraries"
    }
  }
}

extension Frame {
  /// True for what the compiler, a macro or SwiftPM made, not the programmer: thunks, runners of tests.
  package var isGenerated: Bool {
    let name = FunctionName.withoutThunks(symbol)
    return SymbolText.isThunk(name) || file?.contains(".derived/") ?? false || name.contains("__allTests__")
      || (line == nil && (name.hasPrefix("protocol witness for ") || name.hasSuffix(".$main()")))
      || (line == nil && FunctionName.isHelper(name))
  }

  /// True for what functions of the runtime call, all in C++.
  fileprivate var isInRuntime: Bool { system && (symbol.contains("swift::") || symbol.hasPrefix("_swift_")) }

  /// True for what is not a function that the programmer wrote.
  fileprivate var isForeign: Bool { system || isGenerated }

  /// True for what every allocation goes through.
  fileprivate var isOnlyOfAllocation: Bool {
    SymbolText.isRuntimeEntry(symbol) || SymbolText.isAllocatingInitializer(symbol)
      || OwnLibraries.define(symbol)
  }

  /// True for what the compiler puts before a closure and names like it.
  fileprivate func isForwarder(to other: Frame) -> Bool {
    // And of a deinit, one part that frees the object and one that was written.
    offset != other.offset && (symbol.contains("closure #") || symbol.hasSuffix(".deinit")) && line == other.line
      && file == other.file && FunctionName.withoutThunks(symbol) == FunctionName.withoutThunks(other.symbol)
  }

  /// The library that a frame of the toolchain belongs to, as programmers call it.
  fileprivate var libraryName: String {
    let names = [
      ("libXCTest", "XCTest"), ("libTesting", "Swift Testing"), ("libFoundation", "Foundation"),
      ("lib_Foundation", "Foundation"), ("libdispatch", "Dispatch"), ("libswiftDispatch", "Dispatch"),
      ("libc.so", "libc"), ("ld-linux", "libc"), ("libswift", "the Swift runtime"),
    ]
    if let package { return package }
    if let known = names.first(where: { module.hasPrefix($0.0) }) { return known.1 }
    return system && !module.hasPrefix("lib") ? "the Swift runtime" : module
  }
}

extension SymbolText {
  /// True for what the compiler puts between two functions, by its name without what `withoutThunks` takes off.
  static func isThunk(_ name: String) -> Bool {
    ["reabstraction thunk", "function signature specialization <", "thunk for ", "implicit closure #"]
      .contains(where: name.hasPrefix)
  }
}
