// Objects that hold each other directly.
import Foundation

@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

// A delegate property that should be weak: the classic, through a class-bound existential.
// EXPECT leak kind=retainCycle types=App.Downloader,App.DownloadScreen fields=delegate,downloader count=6 at=screen|downloader
protocol DownloaderDelegate: AnyObject {
  func downloaderDidFinish(_ downloader: Downloader)
}
final class Downloader {
  var progress = 0.0
  var delegate: (any DownloaderDelegate)?
  func finish() { delegate?.downloaderDidFinish(self) }
}
final class DownloadScreen: DownloaderDelegate {
  let downloader = Downloader()  // @downloader
  var finished = false
  init() { downloader.delegate = self }
  func downloaderDidFinish(_ downloader: Downloader) { finished = true }
}

@inline(never) func showScreen() {
  let screen = DownloadScreen()  // @screen
  screen.downloader.finish()
  use(screen)
}
for _ in 0..<6 { showScreen() }

// A doubly linked list with strong links both ways, 200 nodes: one leak, not 199.
// EXPECT leak kind=retainCycle types=App.Node fields=next,previous count=1
final class Node {
  let value: Int
  var next: Node?
  var previous: Node?
  init(_ value: Int) { self.value = value }
}
final class List {
  var head: Node?
  var tail: Node?
  func append(_ value: Int) {
    let node = Node(value)
    if let tail {
      tail.next = node
      node.previous = tail
    } else {
      head = node
    }
    tail = node
  }
}

@inline(never) func makeList() {
  let list = List()
  for value in 0..<200 { list.append(value) }
  use(list)
}
makeList()

// A ring of fifty thousand nodes: one leak, reported without fifty thousand edges.
// EXPECT leak kind=retainCycle types=App.Bead fields=next count=1
final class Bead {
  var number: Int
  var next: Bead?
  init(_ number: Int) { self.number = number }
}

@inline(never) func makeBead() {
  let first = Bead(0)
  var last = first
  for number in 1..<50_000 {
    let node = Bead(number)
    last.next = node
    last = node
  }
  last.next = first
  use(first)
}
makeBead()

// What hangs off a cycle is reported with it: 50 lines and one buffer for each document.
// EXPECT leak kind=retainCycle types=App.Document,App.Editor fields=editor,document count=4 also=App.Line at=document|editor
final class Line {
  var text: String
  init(_ text: String) { self.text = text }
}
final class Document {
  var lines: [Line] = []
  var editor: Editor?
}
final class Editor {
  var document: Document?
}

@inline(never) func makeDocument() {
  let document = Document()  // @document
  let editor = Editor()  // @editor
  for number in 0..<50 { document.lines.append(Line("line \(number) of a text that is on the heap")) }
  document.editor = editor
  editor.document = document
  use(document)
}
for _ in 0..<4 { makeDocument() }

// Two cycles share an object: one connected component, one leak.
// EXPECT leak kind=retainCycle types=App.Hub count=2 at=hub|spoke
final class Hub {
  var left: Spoke?
  var right: Spoke?
}
final class Spoke {
  let hub: Hub
  init(_ hub: Hub) { self.hub = hub }
}

@inline(never) func makeHub() {
  let hub = Hub()  // @hub
  hub.left = Spoke(hub)  // @spoke
  hub.right = Spoke(hub)  // @spoke
  use(hub)
}
makeHub()
makeHub()

// A ring of three generic objects; two specialisations are two different leaks.
// EXPECT leak kind=retainCycle types=App.Link<Swift.Int> fields=next count=4 at=first|second|third
// EXPECT leak kind=retainCycle types=App.Link<Swift.String> fields=next count=2 at=first|second|third
final class Link<Value> {
  let value: Value
  var tag: UInt8 = 7
  var next: Link<Value>?
  init(_ value: Value) { self.value = value }
}

@inline(never) func makeRing<Value>(_ value: Value) {
  let first = Link(value)  // @first
  let second = Link(value)  // @second
  let third = Link(value)  // @third
  first.next = second
  second.next = third
  third.next = first
  use(first)
}
for index in 0..<4 { makeRing(index) }
for index in 0..<2 { makeRing("a string that is too long for the small form, number \(index)") }

// The field that keeps the cycle alive is declared in the superclass, generic at that.
// EXPECT leak kind=retainCycle types=App.DetailController,App.DetailPresenter fields=presenter,controller count=5 at=shown
class Controller<Presenter: AnyObject> {
  var appeared = 0
  var presenter: Presenter?
}
class BaseController<Presenter: AnyObject>: Controller<Presenter> {
  var title = "base"
}
final class DetailController: BaseController<DetailPresenter> {
  var selection = 4
}
final class DetailPresenter {
  var controller: Controller<DetailPresenter>?
}

@inline(never) func show() {
  let controller = DetailController()  // @shown
  let presenter = DetailPresenter()  // @shown
  controller.presenter = presenter
  presenter.controller = controller
  use(controller)
}
for _ in 0..<5 { show() }

// An over-retained root without a cycle, in a generic class with a tail of its own.
// EXPECT leak kind=unreferenced types=App.Tree<Swift.Int> count=3 at=root
final class Tree<Value> {
  let value: Value
  var left: Tree?
  var right: Tree?
  init(_ value: Value, _ left: Tree? = nil, _ right: Tree? = nil) {
    self.value = value
    self.left = left
    self.right = right
  }
}

@inline(never) func grow() {
  let leaves = (Tree(1), Tree(3))
  let root = Tree(2, leaves.0, leaves.1)  // @root
  _ = Unmanaged.passRetained(root)
  use(root)
}
for _ in 0..<3 { grow() }

// Private and local types: their names must not carry addresses, or signatures would change from run to run.
// EXPECT leak kind=retainCycle types=App.*Hidden fields=other count=3
// EXPECT leak kind=retainCycle types=App.*Local fields=other count=2
// EXPECT leak kind=retainCycle types=App.Outer.Nested fields=other count=2
private final class Hidden {
  var other: Hidden?
}
struct Outer {
  final class Nested {
    var other: Nested?
  }
}

@inline(never) func makeHidden() {
  let first = Hidden()
  let second = Hidden()
  first.other = second
  second.other = first
  use(first)
}
@inline(never) func makeLocal() {
  final class Local {
    var other: Local?
  }
  let first = Local()
  let second = Local()
  first.other = second
  second.other = first
  use(first)
}
@inline(never) func makeNested() {
  let first = Outer.Nested()
  let second = Outer.Nested()
  first.other = second
  second.other = first
  use(first)
}
for _ in 0..<3 { makeHidden() }
for _ in 0..<2 { makeLocal() }
for _ in 0..<2 { makeNested() }

// The field's type is a parameter of a generic superclass, an optional at that; dictionaries of closures and of sets.
// EXPECT leak kind=retainCycle types=App.Page fields=content count=2
// EXPECT leak kind=retainCycle types=App.Router fields=routes count=2
// EXPECT leak kind=retainCycle types=App.Graph,App.Vertex fields=edges,graph count=2
class Container<Content> {
  var content: Content
  init(_ content: Content) { self.content = content }
}
final class Page: Container<Page?> {
  var number = 1
}
final class Router {
  var routes: [String: (String) -> Int] = [:]
  var hits = 0
}
final class Vertex: Hashable {
  var graph: Graph?
  static func == (left: Vertex, right: Vertex) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
final class Graph {
  var edges: [Int: Set<Vertex>] = [:]
}

@inline(never) func makePage() {
  let page = Page(nil)
  page.content = page
  use(page)
}
@inline(never) func makeRouter() {
  let router = Router()
  router.routes["/a"] = { path in router.hits + path.count }
  print(router.routes["/a"]?("path") ?? 0)
  use(router)
}
@inline(never) func makeGraph() {
  let graph = Graph()
  let vertex = Vertex()
  vertex.graph = graph
  graph.edges[3, default: []].insert(vertex)
  use(graph)
}
for _ in 0..<2 {
  makePage()
  makeRouter()
  makeGraph()
}

// A list of two hundred thousand nodes below one lost object.
// EXPECT leak kind=unreferenced types=App.Item count=1
final class Item {
  var next: Item?
  init(_ next: Item?) { self.next = next }
}
@inline(never) @_optimize(none) func send(_ pointer: UnsafeMutableRawPointer) {}

@inline(never) func makeItem() {
  var head: Item?
  for _ in 0..<200_000 { head = Item(head) }
  send(Unmanaged.passRetained(head!).toOpaque())
}
makeItem()

// Leaks of very different sizes: a huge array that was mapped, and the smallest object there is.
// EXPECT leak kind=retainCycle types=App.Huge fields=again count=2
// EXPECT leak kind=unreferenced types=App.Empty count=9
final class Huge {
  var numbers = [Int](repeating: 3, count: 1_000_000)
  var again: Huge?
}
final class Empty {}

@inline(never) func makeHuge() {
  let huge = Huge()
  huge.again = huge
  use(huge)
}
@inline(never) func makeEmpty() {
  let empty = Empty()
  _ = Unmanaged.passRetained(empty)
  use(empty)
}
for _ in 0..<2 { makeHuge() }
for _ in 0..<9 { makeEmpty() }

// A subclass of a Foundation class: its fields start where the resilient superclass ends.
// EXPECT leak kind=retainCycle types=App.Decoder,App.Context fields=context,decoder count=3 at=decoder|context
final class Context {
  var decoder: Decoder?
}
final class Decoder: JSONDecoder, @unchecked Sendable {
  var strict: UInt16 = 3
  var context: Context?
}

@inline(never) func makeDecoder() {
  let decoder = Decoder()  // @decoder
  let context = Context()  // @context
  decoder.context = context
  context.decoder = decoder
  use(decoder)
}
for _ in 0..<3 { makeDecoder() }

// NSObject subclasses, generic too, with fields before and after.
// EXPECT leak kind=retainCycle types=App.TableController,App.Cell<Swift.Int> fields=cell,controller count=4 at=table|cell
class Base: NSObject {
  var flags: UInt8 = 1
}
final class TableController: Base {
  var name = "controller"
  var cell: Cell<Int>?
}
final class Cell<Value>: Base {
  var value: Value
  var controller: TableController?
  init(_ value: Value) { self.value = value }
}

@inline(never) func makeTableController(_ number: Int) {
  let controller = TableController()  // @table
  let cell = Cell(number)  // @cell
  controller.cell = cell
  cell.controller = controller
  use(controller)
}
for number in 0..<4 { makeTableController(number) }
