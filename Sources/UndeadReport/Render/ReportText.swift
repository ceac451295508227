/// Words of reports for renderers in other modules, so that everything is called the same everywhere.
package enum ReportText {
  /// The function as the programmer knows it.
  package static func function(_ frame: Frame) -> String { StackText.function(frame) }

  /// The function of a closure and its place; "closure" where none is known.
  package static func closure(_ frame: Frame?, _ options: TextOptions) -> String {
    StackText.closure(frame, options).plain
  }

  /// The file as it is shown: relative to the directory of the options, if it lies in it.
  package static func shortened(_ file: String, _ options: TextOptions) -> String {
    StackText.shortened(file, options)
  }

  /// The frames that tell where something happened.
  package static func telling(_ frames: [Frame]) -> Range<Int> { Backtrace(frames: frames).telling }

  /// Notes, those of one kind as one.
  package static func folded(notes: [String]) -> [String] { NoteFolding.folded(notes) }

  /// The first frame that the programmer wrote, else the innermost one.
  package static func site(_ backtrace: Backtrace) -> Frame? { backtrace.site }

  /// The state of the run loops, a line each.
  package static func runLoops(_ inspection: JSONValue) -> [String] {
    RunLoopText.lines(inspection).dropFirst().filter { !$0.isEmpty }.map(\.plain)
  }

  /// The part of a path after the last slash.
  package static func fileName(_ path: String) -> String { SymbolText.fileName(path) }

  /// 16 hex digits that stand for a text: the same everywhere, but not for hostile input.
  package static func hash(_ text: String) -> String { StableHash(text).hexadecimal }
}

extension Chain {
  /// A retain path as text; nil for an empty one.
  package init?(retainPath path: [PathStep]) {
    guard !path.isEmpty else { return nil }
    self.init(path: path)
    // An array of closures is none: only what is known to lead through one is shown so.
    for number in links.indices where links[number].closure == nil && links[number].captures == nil {
      links[number].holdsClosure = false
    }
  }
}
