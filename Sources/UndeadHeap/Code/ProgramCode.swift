import UndeadReport

/// The code of the program's own modules, each opened when it is first asked for.
final class ProgramCode {
  private let modules: [Snapshot.Module]
  private let symbolizer: Symbolizer?
  private var opened: [Int: ELFCode?] = [:]
  /// How many more closures are looked into: a hostile program may have any number, each with much code.
  private var left = 2000

  /// - Parameter symbolizer: knows where the program's files are; nil to open none.
  init(_ heap: LoadedHeap, _ symbolizer: Symbolizer?) {
    modules = heap.file.snapshot.modules
    self.symbolizer = symbolizer
  }

  /// The code around a function of the program, and its address as linked; nil if it is asynchronous, or its file is not known.
  func code(at function: UInt64) -> (code: ELFCode, linked: UInt64)? {
    left -= 1
    guard left >= 0, let symbolizer,
      let number = modules.firstIndex(where: { $0.low <= function && function < $0.high }),
      !modules[number].isSystem
    else { return nil }
    let code = opened[number] ?? ELFCode(modules[number], files: symbolizer.files)
    opened[number] = code
    let linked = function &- modules[number].bias
    return code.flatMap { $0.isCode(linked) ? ($0, linked) : nil }
  }
}
