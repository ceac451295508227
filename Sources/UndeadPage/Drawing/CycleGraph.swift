import UndeadReport

/// What is drawn of a cycle: boxes in a ring, and the reference that leads from each to the next one.
struct CycleGraph: Equatable {
  enum Kind: String { case object, closure, folded }

  struct Box: Equatable {
    var kind = Kind.object
    var title: String
    /// A second, quieter line: the module of a type, the place of a closure.
    var detail = ""
    /// The whole of it, where the lines are cut.
    var full: String
  }

  /// The reference from a box to the next one.
  struct Arrow: Equatable {
    var label: String
    var isCulprit = false
    var full: String
  }

  private(set) var boxes: [Box] = []
  /// As many as boxes.
  private(set) var arrows: [Arrow] = []

  /// Boxes of a longer cycle are left out in its middle.
  private static let limit = 8

  /// - Parameter cycle: references of which the last one leads back to the first object.
  init(_ cycle: Chain, options: ReportTextOptions = ReportTextOptions()) {
    let shown = Self.limit / 2
    let links = cycle.links
    for (number, link) in links.enumerated() {
      if links.count > Self.limit, number >= shown, number < links.count - shown {
        if number == shown { fold(cycle.omitted.plus(links.count - 2 * shown)) }
        continue
      }
      add(link, options)
    }
  }

  private mutating func fold(_ count: Int) {
    let text = "\(count) more references"
    boxes.append(Box(kind: .folded, title: text, full: text))
    arrows.append(Arrow(label: "", full: ""))
  }

  private mutating func add(_ link: Chain.Link, _ options: ReportTextOptions) {
    boxes.append(Self.box(ofType: link.from))
    let field = link.fieldText
    let full = field + (link.fieldType.map { ": \($0)" } ?? "")
    guard link.holdsClosure else {
      arrows.append(Arrow(label: field, isCulprit: link.isCulprit, full: full))
      return
    }
    arrows.append(Arrow(label: field, full: full))
    boxes.append(Self.box(ofClosure: link.closure, options))
    // A closure must be kept by somebody: what is wrong is what it captures.
    let captures = Names.captures(link)
    arrows.append(Arrow(label: captures, isCulprit: link.isCulprit, full: captures))
  }

  static func box(ofType type: String) -> Box {
    let (module, name) = Names.split(type)
    return Box(title: name, detail: module, full: type)
  }

  private static func box(ofClosure frame: Frame?, _ options: ReportTextOptions) -> Box {
    let text = StackText.closure(frame, options).plain
    guard let frame, text != "closure" else {
      return Box(kind: .closure, title: "closure", full: "closure")
    }
    let place =
      frame.file.map { SymbolText.fileName($0) + (frame.line.map { ":\($0)" } ?? "") }
      ?? frame.module
    return Box(kind: .closure, title: StackText.function(frame), detail: place, full: text)
  }

  /// The cycle in one line, for those who do not see the drawing.
  var description: String {
    var text = "retain cycle: "
    for (box, arrow) in zip(boxes, arrows) {
      text += box.full + " " + (arrow.full.isEmpty ? "" : "\(arrow.full) ") + "\u{2192} "
    }
    return text + (boxes.first?.full ?? "")
  }
}
