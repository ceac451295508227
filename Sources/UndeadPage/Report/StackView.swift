import UndeadReport
import UndeadSystem

/// Frames, stacks and paths as parts of a page.
enum StackView {
  /// The function and its place.
  static func site(_ frame: Frame, _ options: ReportTextOptions, _ html: inout HTML) {
    html.element("code", ["class": "function"], text: StackText.function(frame))
    html.text(" ")
    place(frame, options, &html)
  }

  /// "file:line", or the module where no line is known.
  static func place(_ frame: Frame, _ options: ReportTextOptions, short: Bool = false, _ html: inout HTML) {
    guard let file = frame.file, frame.line != nil || !frame.system else {
      if !frame.module.isEmpty { html.element("span", ["class": "module"], text: frame.module) }
      return
    }
    let path = short ? SymbolText.fileName(file) : StackText.shortened(file, options)
    let text = frame.line.map { "\(path):\($0)" } ?? path
    html.element("span", ["class": "place", "title": text == file ? nil : file], text: text)
  }

  /// The frames that say something, as a list.
  static func telling(_ frames: [Frame], _ options: ReportTextOptions, _ html: inout HTML) {
    html.element("ol", ["class": "frames", "start": "0"]) { html in
      for frame in frames[Backtrace(frames: frames).telling] {
        html.element("li", ["class": frame.system ? "system" : nil]) { site(frame, options, &$0) }
      }
    }
  }

  /// A stack that can be unfolded; what every allocation goes through, and what started the thread, is folded once more.
  static func stack(
    _ backtrace: Backtrace, title: String, _ options: ReportTextOptions, isOpen: Bool = false,
    _ html: inout HTML
  ) {
    guard options.stacks, !backtrace.frames.isEmpty else { return }
    let frames = backtrace.frames
    let telling = backtrace.telling
    html.element("details", ["class": "stack", "open": isOpen ? "" : nil]) { html in
      html.element("summary") { html in
        html.text(title)
        html.element("small", text: Quantity.of(frames.count, "frame"))
      }
      folded(frames[..<telling.lowerBound], "inside of the allocation", options, &html)
      list(backtrace.rows(depth: .max), options, &html)
      folded(frames[telling.upperBound...], "that started the thread", options, &html)
    }
    html.line()
  }

  private static func folded(
    _ frames: ArraySlice<Frame>, _ what: String, _ options: ReportTextOptions, _ html: inout HTML
  ) {
    guard !frames.isEmpty else { return }
    html.element("details", ["class": "noise"]) { html in
      html.element("summary", text: "\(Quantity.of(frames.count, "frame")) \(what)")
      list(frames, start: nil, options, &html)
    }
  }

  private static func list(_ rows: [StackRow], _ options: ReportTextOptions, _ html: inout HTML) {
    html.element("ol", ["class": "frames", "start": "0"]) { html in
      for row in rows {
        switch row {
        case .frame(let frame): item(frame, options, &html)
        case .folded(let frames, let owner):
          html.element("li", ["class": "folded"]) { html in
            folded(frames[...], "of \(owner)", options, &html)
          }
        case .more: break
        }
      }
    }
  }

  private static func list(
    _ frames: ArraySlice<Frame>, start: Int?, _ options: ReportTextOptions, _ html: inout HTML
  ) {
    html.element("ol", ["class": "frames", "start": start.map(String.init)]) { html in
      for frame in frames { item(frame, options, &html) }
    }
  }

  private static func item(_ frame: Frame, _ options: ReportTextOptions, _ html: inout HTML) {
    html.element("li", ["class": frame.system ? "system" : nil]) { html in
      site(frame, options, &html)
      if frame.inlined { html.element("small", text: "inlined") }
    }
  }

  // MARK: References

  /// References one after the other: a row for each object, with the field that leads to the next one.
  static func chain(_ chain: Chain, _ options: ReportTextOptions, _ html: inout HTML) {
    html.element("ol", ["class": "path"]) { html in
      if let root = chain.root { self.root(root, &html) }
      let isLoop = chain.root?.kind == "runLoop"
      for (number, link) in chain.links.enumerated() {
        step(link, isNamed: number > 0 || chain.start != nil || !isLoop, options, &html)
      }
      if chain.omitted > 0 {
        html.element("li", text: "\(Quantity.of(chain.omitted, "more reference"))")
      }
      if let end = chain.links.last?.to ?? chain.start {
        html.element("li", ["class": "end"]) { html in
          html.element("span", ["class": "type"], text: end)
          if chain.isClosed { html.text(" \u{21BA}") }
        }
      }
    }
    html.line()
  }

  private static func root(_ root: Chain.Root, _ html: inout HTML) {
    html.element("li", ["class": "root"]) { html in
      if root.kind != "runLoop" {
        html.element("span", ["class": "badge"], text: root.kindText)
        html.text(" ")
      }
      html.element("span", ["class": "name"], text: root.text)
      if !root.owners.isEmpty {
        html.element("small", text: String(root.owners.drop { ",: ".contains($0) }))
      }
    }
  }

  private static func step(
    _ link: Chain.Link, isNamed: Bool, _ options: ReportTextOptions, _ html: inout HTML
  ) {
    html.element("li") { html in
      if isNamed {
        html.element("span", ["class": "type"], text: link.from)
        html.text(" ")
      }
      html.element(
        "span",
        [
          "class": link.isCulprit && !link.holdsClosure ? "field culprit" : "field",
          "title": link.fieldType,
        ],
        text: link.fieldText)
      guard link.holdsClosure else { return }
      html.element("span", ["class": "closure"]) { html in
        if let frame = link.closure, StackText.closure(frame, options).plain != "closure" {
          site(frame, options, &html)
        } else {
          html.text("closure")
        }
        html.text(" ")
        html.element(
          "span", ["class": link.isCulprit ? "field culprit" : "field"], text: Names.captures(link))
      }
    }
  }
}
