// An indirect enum: the payload is in a box.
// EXPECT leak kind=retainCycle types=App.Document fields=root,document count=3 at=document|note
final class Note {
  var document: Document?
}
indirect enum Tree {
  case leaf(Note)
  case branch(Tree, Tree)
  case none
}
final class Document {
  var root = Tree.none
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeDocument() {
  let document = Document()  // @document
  let note = Note()  // @note
  note.document = document
  document.root = .branch(.none, .branch(.leaf(note), .none))
  use(document)
}
for _ in 0..<3 { makeDocument() }
