import Testing
import UndeadHostileSamples
import UndeadSystem

@testable import UndeadPage
@testable import UndeadReport

/// Cycles as pictures.
@Suite struct CycleDrawingTests {
  private struct Box {
    var x: Double
    var y: Double
    var width: Double
    var height: Double
  }

  private func graph(_ cycle: [Reference], culprit: Int? = nil, omitted: Int = 0) -> CycleGraph {
    CycleGraph(Chain(cycle: cycle, culprit: culprit, omitted: omitted))
  }

  private func draw(_ cycle: [Reference], culprit: Int? = nil) throws -> [StrictHTML.Element] {
    var html = HTML()
    CycleDrawing(graph(cycle, culprit: culprit)).write(to: &html, id: "x")
    return try StrictHTML(html.markup).elements
  }

  private func ring(_ count: Int, name: String = "Step") -> [Reference] {
    (0..<count).map { Reference(type: "App.\(name)\($0)", field: "next\($0)") }
  }

  private func boxes(_ elements: [StrictHTML.Element]) -> [Box] {
    elements.filter { $0.name == "rect" }.map { rect in
      func number(_ key: String) -> Double { Double(rect.attributes[key] ?? "") ?? .nan }
      return Box(x: number("x"), y: number("y"), width: number("width"), height: number("height"))
    }
  }

  @Test(arguments: 1...9)
  func boxesStandApartAndInsideOfThePicture(_ count: Int) throws {
    for name in ["S", "AVeryLongNameOfATypeThatNobodyWouldEverWantToTypeTwice"] {
      let elements = try draw(ring(count, name: name), culprit: count - 1)
      let boxes = boxes(elements)
      #expect(boxes.count == min(count, 9))
      let picture = try #require(elements.first)
      let width = Double(picture.attributes["width"] ?? "") ?? 0
      let height = Double(picture.attributes["height"] ?? "") ?? 0
      for (number, a) in boxes.enumerated() {
        #expect(a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height)
        for b in boxes.dropFirst(number + 1) {
          let isApart =
            a.x + a.width < b.x || b.x + b.width < a.x || a.y + a.height < b.y || b.y + b.height < a.y
          #expect(isApart)
        }
      }
    }
  }

  @Test func closureHoldsTheBlame() {
    let graph = self.graph(SampleReport.closure.cycle ?? [], culprit: 0)
    #expect(graph.boxes.map(\.title) == ["Player", "closure #1 in App.Player.start()"])
    #expect(graph.boxes.map(\.kind) == [.object, .closure])
    #expect(graph.arrows.map(\.label) == [".onEnd", "captures self"])
    #expect(graph.arrows.map(\.isCulprit) == [false, true])
    #expect(graph.boxes[1].detail == "main.swift:24")
  }

  @Test func longCyclesAreFolded() {
    let graph = self.graph(ring(100), omitted: 900)
    #expect(graph.boxes.count == 9)
    #expect(graph.boxes[4].title == "992 more references")
    #expect(graph.boxes[4].kind == .folded)
    #expect(self.graph(ring(8)).boxes.count == 8)
  }

  @Test func description() {
    #expect(
      graph(SampleReport.pair.cycle ?? []).description
        == "retain cycle: App.Owner .child: Swift.Optional<App.Child> \u{2192} App.Child .owner: App.Owner \u{2192} App.Owner"
    )
  }

  @Test func names() {
    #expect(Names.split("App.Cache<Swift.Int>") == ("App", "Cache<Swift.Int>"))
    #expect(Names.split("raw memory") == ("", "raw memory"))
    #expect(Names.split("(A.B, C.D)") == ("", "(A.B, C.D)"))
    #expect(Names.cut("abcdefghij", to: 6) == "abc\u{2026}ij")
    #expect(Quantity.grouped(1_234_567) == "1,234,567" && Quantity.grouped(-12) == "-12")
  }
}
