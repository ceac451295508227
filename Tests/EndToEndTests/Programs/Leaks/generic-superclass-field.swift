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
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

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
