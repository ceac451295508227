import UndeadHeap
import UndeadHeapReport
import UndeadReport

/// What the script of a heap's page shows, as compact JSON: aggregated, so that its size depends on the number of types and
/// places, not of objects. Texts, frames, stacks and paths stand there once and are referred to by number.
struct HeapPageData {
  private let heap: LoadedHeap
  private let kinds: HeapKinds
  private let details: TypeDetails
  private let tree: FoldedTree
  private let options: ReportTextOptions
  private let names: FrameNames
  private var texts = HeapTexts()
  private var frames: [[Int]] = []
  private var frameNumbers: [Frame: Int] = [:]
  private var stacks: [[Int]] = []
  private var stackNumbers: [Snapshot.Index: Int] = [:]
  private var paths: [[Int]] = []
  private var pathNumbers: [Int: Int] = [:]

  private static let typeLimit = 3000
  private static let frameLimit = 40
  private static let stepLimit = 24

  init(
    _ heap: LoadedHeap, _ kinds: HeapKinds, _ tree: FoldedTree, _ names: FrameNames,
    _ options: ReportTextOptions
  ) {
    self.heap = heap
    self.kinds = kinds
    self.tree = tree
    self.options = options
    self.names = names
    details = TypeDetails(heap, kinds)
  }

  /// The data of the page, with the rows of the two tables of types.
  mutating func json(folded: [HeapRow], plain: [HeapRow]) -> String {
    var json = JSON()
    json.object { json in
      json.key("folded")
      rows(folded, &json)
      json.key("types")
      rows(plain, &json)
      json.key("details")
      json.array { json in for detail in details.details { self.detail(detail, &json) } }
      json.key("tree")
      json.array { json in
        for node in tree.nodes {
          numbers(
            [
              texts.number(node.name), texts.number(node.field), node.count,
              Int(clamping: node.bytes),
              Int(clamping: node.retained), node.parent,
              (node.isRoot ? 1 : 0) + (node.isRest ? 2 : 0),
            ], &json)
        }
      }
      json.key("paths")
      json.array { json in for path in paths { numbers(path, &json) } }
      json.key("stacks")
      json.array { json in for stack in stacks { numbers(stack, &json) } }
      json.key("frames")
      json.array { json in for frame in frames { numbers(frame, &json) } }
      json.key("texts")
      json.array { json in for text in texts.all { json.string(text) } }
    }
    return json.text
  }

  private func numbers(_ values: [Int], _ json: inout JSON) {
    json.array { json in for value in values { json.number(value) } }
  }

  // MARK: Types

  private mutating func rows(_ rows: [HeapRow], _ json: inout JSON) {
    let numbers = Dictionary(
      kinds.kinds.enumerated().map { ($0.element, $0.offset) },
      uniquingKeysWith: { first, _ in first })
    json.array { json in
      for row in rows.prefix(Self.typeLimit) {
        let kind = numbers[HeapKinds.Kind(name: row.name, module: row.module)]
        let name = row.name + (row.module.map { " (\($0))" } ?? "")
        self.numbers(
          [
            texts.number(name), row.count, Int(clamping: row.bytes), Int(clamping: row.retained),
            kind.map { details.ofKind[$0] } ?? -1,
          ], &json)
      }
    }
  }

  private mutating func detail(_ detail: TypeDetails.Detail, _ json: inout JSON) {
    let tally = kinds.tally
    json.object { json in
      json.key("head")
      numbers(
        [
          texts.number(details.name(detail.kind)), tally.counts[detail.kind],
          Int(clamping: tally.bytes[detail.kind]),
          Int(clamping: tally.retained[detail.kind]), detail.siteCount, detail.wayCount,
        ], &json)
      json.key("instances")
      json.array { json in
        for block in detail.instances {
          json.array { json in
            json.string("0x" + String(heap.graph.addresses[block], radix: 16))
            json.number(heap.graph.size(block))
            json.number(heap.dominators.retained[block])
            json.number(path(to: block))
            json.number(stack(heap.graph.stack(block)))
          }
        }
      }
      json.key("sites")
      json.array { json in
        for site in detail.sites {
          numbers([stack(site.stack), site.count, Int(clamping: site.bytes)], &json)
        }
      }
      json.key("ways")
      json.array { json in
        for way in detail.ways {
          numbers([path(to: way.example), way.count, Int(clamping: way.bytes)], &json)
        }
      }
      json.key("referrers")
      links(detail.referrers, &json)
      json.key("references")
      links(detail.references, &json)
    }
  }

  private mutating func links(_ links: [TypeDetails.Link], _ json: inout JSON) {
    json.array { json in
      for link in links {
        numbers(
          [
            texts.number(link.kind), texts.number(link.field), link.count,
            Int(clamping: link.bytes),
          ], &json)
      }
    }
  }

  // MARK: Stacks

  /// Number of a stack; -1 for none.
  private mutating func stack(_ stack: Snapshot.Index) -> Int {
    guard stack != Snapshot.none else { return -1 }
    if let known = stackNumbers[stack] { return known }
    let all = names.backtrace(stack).frames
    let numbers = all[Backtrace(frames: all).telling].prefix(Self.frameLimit).map { self.frame($0) }
    stacks.append(numbers)
    stackNumbers[stack] = stacks.count - 1
    return stacks.count - 1
  }

  private mutating func frame(_ frame: Frame) -> Int {
    if let known = frameNumbers[frame] { return known }
    var place = frame.module
    var full = ""
    if let file = frame.file, frame.line != nil || !frame.system {
      let line = frame.line.map { ":\($0)" } ?? ""
      place = SymbolText.fileName(file) + line
      full = StackText.shortened(file, options) + line
    }
    frames.append([
      texts.number(StackText.function(frame)), texts.number(place), texts.number(full),
      frame.system ? 1 : 0,
    ])
    frameNumbers[frame] = frames.count - 1
    return frames.count - 1
  }

  // MARK: Paths

  /// Number of the shortest path to a block: kind and name of the root, then type and field of each step, and the type at
  /// the end. A negative number among the steps says how many were left out.
  private mutating func path(to block: Int) -> Int {
    if let known = pathNumbers[block] { return known }
    let way = HeapWay(heap, to: block)
    var numbers = [texts.number(way.root.kind), texts.number(way.root.name)]
    let half = Self.stepLimit / 2
    for (number, step) in way.steps.enumerated() {
      if way.steps.count > Self.stepLimit, number >= half, number < way.steps.count - half {
        if number == half { numbers += [-(way.steps.count - Self.stepLimit), 0] }
        continue
      }
      numbers += [texts.number(step.type), texts.number(step.field)]
    }
    numbers.append(texts.number(way.end))
    paths.append(numbers)
    pathNumbers[block] = paths.count - 1
    return paths.count - 1
  }
}

/// The shortest way to a block as a programmer sees it: storage, contexts and boxes are part of the field before them.
struct HeapWay {
  struct Step: Equatable {
    var type: String
    var field: String
  }

  private(set) var root: (kind: String, name: String)
  private(set) var steps: [Step] = []
  private(set) var end: String

  init(_ heap: LoadedHeap, to block: Int) {
    let (node, edges) = heap.paths.path(to: block)
    root = heap.root(ofNode: node)
    end = heap.typeName(block)
    guard let first = edges.first else { return }
    var holder = heap.graph.source(of: first)
    var field = ""
    for edge in edges {
      let name = heap.field(edge)
      field += field.isEmpty || name.hasPrefix("[") || name.hasPrefix(".") ? name : ".\(name)"
      let target = Int(heap.graph.targets[edge])
      guard target == block || heap.types.groups[heap.group(target)].role.isVisible else {
        continue
      }
      steps.append(Step(type: heap.typeName(holder), field: field))
      holder = target
      field = ""
    }
  }
}
