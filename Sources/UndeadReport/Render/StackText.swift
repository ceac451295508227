import UndeadSystem

/// Frames and stacks as text.
package enum StackText {
  /// The function as the programmer knows it.
  package static func function(_ frame: Frame) -> String {
    SymbolText.isAsyncMain(frame.symbol) ? "main" : FunctionName.withoutThunks(frame.symbol)
  }

  /// The same without long generic arguments, as texts have it.
  static func shortFunction(_ frame: Frame) -> String { TypeName.elided(function(frame)) }

  /// The function of a closure and its place. What the compiler puts around a closure of another type is none.
  package static func closure(_ frame: Frame?, _ options: ReportTextOptions) -> TextLine {
    guard let frame, !frame.symbol.hasPrefix("reabstraction thunk") else { return "closure" }
    if SymbolText.isMethodReference(frame.symbol) {
      return "a method of `self`, named in \(SymbolText.outer(frame.symbol))\(place(frame, options))"
    }
    return "\(shortFunction(frame))\(place(frame, options))"
  }

  /// " at file:line", or " (module)" where no line is known.
  package static func place(_ frame: Frame, _ options: ReportTextOptions) -> TextLine {
    // A library without line numbers shows a file that says nothing.
    guard let file = frame.file, frame.line != nil || !frame.system else {
      return frame.module.isEmpty ? "" : " (\(frame.module))"
    }
    return " at \(frame.isNear ? "about " : "")\(location(file, frame.line, options))"
  }

  /// "file:line".
  static func location(_ file: String, _ line: Int?, _ options: ReportTextOptions) -> TextLine {
    let path = shortened(file, options)
    let text: TextLine = line.map { "\(path):\($0)" } ?? "\(path)"
    return TextStyle.place.apply(text)
  }

  /// The file as it is shown: relative to the directory of the options, if it lies in it.
  package static func shortened(_ file: String, _ options: ReportTextOptions) -> String {
    let directory = options.directory.hasSuffix("/") ? options.directory : options.directory + "/"
    return directory.count > 1 && file.hasPrefix(directory) ? String(file.dropFirst(directory.count)) : file
  }

  /// The function of a dependency, without the types of its arguments, and whose it is.
  package static func called(_ frame: Frame, withPackage: Bool = true) -> String {
    let name = SymbolText.short(frame.symbol).replacing(".__allocating_init(", with: ".init(")
    return name + (frame.package.flatMap { withPackage ? " (\($0))" : nil } ?? "")
  }

  /// What happened somewhere: its site, and its stack unless that is this one frame.
  static func lines(_ backtrace: Backtrace, role: String, _ options: ReportTextOptions) -> [TextLine] {
    guard let frame = backtrace.site else { return [] }
    let site: TextLine = "  \(role) \(function(frame))\(place(frame, options))"
    let stack = options.stacks ? lines(backtrace, options) : []
    return [site] + (stack.count > 1 ? stack : [])
  }

  /// The lines of a stack, no more frames than asked for.
  package static func lines(_ backtrace: Backtrace, _ options: ReportTextOptions) -> [TextLine] {
    var number = 0
    return backtrace.rows(depth: options.depth, folds: !options.allFrames).map { row -> TextLine in
      switch row {
      case .frame(let frame):
        let start = ("#\(number)" as TextLine).padded(3)
        let text: TextLine = "\(start) \(shortFunction(frame))\(frame.inlined ? " [inlined]" : "")"
        let style: TextStyle? = frame.system || frame.package != nil ? .faint : nil
        number += 1
        return "    \(style?.apply(text) ?? text)\(place(frame, options))"
      case .folded(let frames, let owner):
        return "    \(TextStyle.faint.apply("... \(Quantity.of(frames.count, "frame")) of \(owner)"))"
      case .more(let count): return "    ... \(Quantity.of(count, "more frame"))"
      }
    }
  }

  /// Rows of at most `width` characters, broken at blanks.
  package static func wrapped(_ text: String, width: Int) -> [String] {
    var rows: [String] = []
    var row = ""
    for word in words(text) {
      if !row.isEmpty, row.count + 1 + word.count > width {
        rows.append(row)
        row = ""
      }
      row += (row.isEmpty ? "" : " ") + word
    }
    if !row.isEmpty { rows.append(row) }
    return rows
  }

  /// Words between blanks; what stands in backquotes stays together.
  private static func words(_ text: String) -> [String] {
    var words: [String] = []
    var isQuoted = false
    for part in text.split(separator: " ") {
      if isQuoted, let last = words.popLast() { words.append(last + " " + part) } else { words.append(String(part)) }
      if !part.filter({ $0 == "`" }).count.isMultiple(of: 2) { isQuoted.toggle() }
    }
    return words
  }
}
