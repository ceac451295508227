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
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let document = Document()  // @document
  let editor = Editor()  // @editor
  for number in 0..<50 { document.lines.append(Line("line \(number) of a text that is on the heap")) }
  document.editor = editor
  editor.document = document
  use(document)
}
for _ in 0..<4 { make() }
