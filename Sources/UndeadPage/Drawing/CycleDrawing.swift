/// Draws a cycle as SVG: down one column and up the other.
///
/// Texts have a fixed width for each character, so the places of everything follow from the texts alone.
struct CycleDrawing {
  private struct Point {
    var x: Double
    var y: Double
  }

  private struct Place {
    var x: Double
    var y: Double
    var width: Double
    var middle: Point { Point(x: x + width / 2, y: y + CycleDrawing.height / 2) }
    var top: Point { Point(x: middle.x, y: y) }
    var bottom: Point { Point(x: middle.x, y: y + CycleDrawing.height) }
    var left: Point { Point(x: x, y: middle.y) }
    var right: Point { Point(x: x + width, y: middle.y) }
  }

  private static let height = 46.0
  private static let rowHeight = 104.0
  private static let margin = 16.0
  private static let titleWidth = 8.0
  private static let smallWidth = 6.8
  private static let textLimit = 34
  private static let labelLimit = 30

  private let graph: CycleGraph
  private var places: [Place] = []
  private var width = 0.0
  private var totalHeight = 0.0
  private var leftCount: Int { (graph.boxes.count + 1) / 2 }
  private var rightCount: Int { graph.boxes.count - leftCount }

  init(_ graph: CycleGraph) {
    self.graph = graph
    arrange()
  }

  // MARK: Places

  private static func boxWidth(_ box: CycleGraph.Box) -> Double {
    let title = Double(Names.cut(box.title, to: textLimit).count) * titleWidth
    let detail = Double(Names.cut(box.detail, to: textLimit).count) * smallWidth
    return max(title, detail, 60) + 28
  }

  private static func labelWidth(_ arrow: CycleGraph.Arrow) -> Double {
    let label = Double(Names.cut(arrow.label, to: labelLimit).count) * smallWidth
    return (arrow.isCulprit ? max(label, culpritWidth) : label) + 24
  }

  private static let culpritWidth = 126.0

  private mutating func arrange() {
    let boxes = graph.boxes
    guard boxes.count > 1 else { return arrangeOne() }
    let left = boxes.prefix(leftCount).map(Self.boxWidth).max() ?? 0
    let right = boxes.suffix(rightCount).map(Self.boxWidth).max() ?? 0
    // Labels of the arrows that go down or up stand inside of the ring, those across in the gap between the columns.
    let across =
      [graph.arrows[leftCount - 1], graph.arrows[boxes.count - 1]].map(Self.labelWidth).max() ?? 0
    let inside = graph.arrows.map(Self.labelWidth).max() ?? 0
    let gap = max(across + 32, 2 * inside - left / 2 - right / 2 + 24, 90)
    for number in boxes.indices {
      let isLeft = number < leftCount
      let own = Self.boxWidth(boxes[number])
      let column = isLeft ? left : right
      let start = isLeft ? Self.margin : Self.margin + left + gap
      let row = isLeft ? Double(number) : Double(boxes.count - 1 - number) + offset
      places.append(
        Place(x: start + (column - own) / 2, y: topSpace + row * Self.rowHeight, width: own))
    }
    width = Self.margin * 2 + left + gap + right
    totalHeight = topSpace * 2 + Double(leftCount - 1) * Self.rowHeight + Self.height
  }

  /// The right column of an odd number of boxes is one shorter, and stands half a row lower.
  private var offset: Double { rightCount < leftCount ? 0.5 : 0 }

  private var topSpace: Double { graph.boxes.count == 2 ? 46 : Self.margin + 14 }

  private mutating func arrangeOne() {
    guard let box = graph.boxes.first, let arrow = graph.arrows.first else { return }
    let own = Self.boxWidth(box)
    places = [Place(x: Self.margin, y: topSpace, width: own)]
    width = Self.margin * 2 + own + 64 + Self.labelWidth(arrow)
    totalHeight = topSpace * 2 + Self.height
  }

  // MARK: Writing

  /// Adds the drawing; `id` distinguishes its parts from those of other drawings of the page.
  func write(to html: inout HTML, id: String) {
    guard !places.isEmpty else { return }
    html.element(
      "svg",
      [
        "class": "cycle", "role": "img", "aria-label": graph.description,
        "width": Self.number(width),
        "height": Self.number(totalHeight),
        "viewBox": "0 0 \(Self.number(width)) \(Self.number(totalHeight))",
      ]
    ) { html in
      html.element("defs") { html in
        marker(&html, id: "\(id)-a", class: "head")
        marker(&html, id: "\(id)-c", class: "head culprit")
      }
      for number in places.indices { arrow(number, id: id, &html) }
      for number in places.indices { box(number, &html) }
    }
  }

  private func marker(_ html: inout HTML, id: String, class style: String) {
    html.element(
      "marker",
      [
        "id": id, "viewBox": "0 0 10 10", "refX": "9", "refY": "5", "markerWidth": "7",
        "markerHeight": "7",
        "orient": "auto-start-reverse",
      ]
    ) { html in
      html.element("path", ["class": style, "d": "M0 1 10 5 0 9z"])
    }
  }

  private func box(_ number: Int, _ html: inout HTML) {
    let box = graph.boxes[number]
    let place = places[number]
    html.element("g", ["class": "box \(box.kind.rawValue)"]) { html in
      html.element("title", text: box.full)
      html.element(
        "rect",
        [
          "x": Self.number(place.x), "y": Self.number(place.y), "width": Self.number(place.width),
          "height": Self.number(Self.height), "rx": box.kind == .object ? "8" : "23",
        ])
      let hasDetail = !box.detail.isEmpty
      text(
        &html, "name", Names.cut(box.title, to: Self.textLimit), place.middle.x,
        place.middle.y + (hasDetail ? -3 : 5))
      if hasDetail {
        text(
          &html, "detail", Names.cut(box.detail, to: Self.textLimit), place.middle.x,
          place.middle.y + 14)
      }
    }
  }

  private func text(
    _ html: inout HTML, _ style: String, _ text: String, _ x: Double, _ y: Double,
    anchor: String? = nil
  ) {
    html.element(
      "text", ["class": style, "x": Self.number(x), "y": Self.number(y), "text-anchor": anchor],
      { $0.text(text) })
  }

  private func arrow(_ number: Int, id: String, _ html: inout HTML) {
    let arrow = graph.arrows[number]
    let route = route(number)
    html.element("g", ["class": arrow.isCulprit ? "arrow culprit" : "arrow"]) { html in
      html.element("title", text: arrow.full)
      html.element(
        "path", ["d": route.path, "marker-end": "url(#\(id)-\(arrow.isCulprit ? "c" : "a"))"])
      let label = Names.cut(arrow.label, to: Self.labelLimit)
      if arrow.isCulprit {
        text(
          &html, "mark", "should not be strong", route.label.x,
          route.label.y + (route.isAbove ? -13 : 14),
          anchor: route.anchor)
      }
      text(&html, "label", label, route.label.x, route.label.y, anchor: route.anchor)
    }
  }

  private struct Route {
    var path: String
    var label: Point
    var anchor: String?
    /// True if the arrow runs below its label.
    var isAbove = false
  }

  private func route(_ number: Int) -> Route {
    let count = places.count
    let from = places[number]
    let to = places[(number + 1) % count]
    switch (count, number) {
    case (1, _): return loop(from)
    case (2, _): return arc(from, to, above: number == 0)
    case (_, ..<(leftCount - 1)): return straight(from.bottom, to.top, isLeft: true)
    case (_, leftCount - 1): return across(from, to, down: true)
    case (_, count - 1): return across(from, to, down: false)
    default: return straight(from.top, to.bottom, isLeft: false)
    }
  }

  private func loop(_ place: Place) -> Route {
    let start = Point(x: place.x + place.width, y: place.y + 10)
    let end = Point(x: start.x + 2, y: place.y + Self.height - 10)
    let reach = start.x + 60
    return Route(
      path: "M\(Self.pair(start)) C\(Self.number(reach)) \(Self.number(start.y - 14)) "
        + "\(Self.number(reach)) \(Self.number(end.y + 14)) \(Self.pair(end))",
      label: Point(x: start.x + 54, y: place.middle.y), anchor: "start")
  }

  /// Between two boxes: there above them, and back below.
  private func arc(_ from: Place, _ to: Place, above: Bool) -> Route {
    let y = above ? from.y + 8 : from.y + Self.height - 8
    let start = Point(x: above ? from.right.x : from.left.x, y: y)
    let end = Point(x: above ? to.left.x - 2 : to.right.x + 2, y: y)
    let bend = above ? y - 26 : y + 26
    let middle = Point(x: (start.x + end.x) / 2, y: above ? bend : bend + 8)
    let reach = (end.x - start.x) * 0.3
    return Route(
      path: "M\(Self.pair(start)) C\(Self.number(start.x + reach)) \(Self.number(bend)) "
        + "\(Self.number(end.x - reach)) \(Self.number(bend)) \(Self.pair(end))",
      label: middle, isAbove: above)
  }

  private func straight(_ from: Point, _ to: Point, isLeft: Bool) -> Route {
    let end = Point(x: to.x, y: to.y + (isLeft ? -2 : 2))
    let middle = Point(x: (from.x + to.x) / 2 + (isLeft ? 10 : -10), y: (from.y + to.y) / 2 + 2)
    return Route(
      path: "M\(Self.pair(from)) L\(Self.pair(end))", label: middle,
      anchor: isLeft ? "start" : "end")
  }

  /// From one column to the other, at the bottom or at the top.
  private func across(_ from: Place, _ to: Place, down: Bool) -> Route {
    let start = down ? from.right : offset == 0 ? from.left : from.top
    let end =
      down
      ? (offset == 0
        ? Point(x: to.left.x - 2, y: to.left.y) : Point(x: to.bottom.x, y: to.bottom.y + 2))
      : Point(x: to.right.x + 2, y: to.right.y)
    guard offset != 0 else {
      return Route(
        path: "M\(Self.pair(start)) L\(Self.pair(end))",
        label: Point(x: (start.x + end.x) / 2, y: start.y + (down ? 18 : -8)), isAbove: !down)
    }
    let corner = down ? Point(x: end.x, y: start.y) : Point(x: start.x, y: end.y)
    let y = down ? start.y + 16 : end.y - 8
    let x = down ? (start.x + to.left.x) / 2 + 10 : (end.x + from.left.x) / 2 + 10
    return Route(
      path: "M\(Self.pair(start)) Q\(Self.pair(corner)) \(Self.pair(end))",
      label: Point(x: x, y: y), isAbove: !down)
  }

  private static func pair(_ point: Point) -> String { "\(number(point.x)) \(number(point.y))" }

  /// A coordinate to a tenth, without a zero behind the point.
  private static func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0
      ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }
}
