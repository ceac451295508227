// A struct with class storage is captured by a closure in that storage.
// EXPECT leak kind=retainCycle types=App.Storage fields=onChange count=4 at=storage
final class Storage {
  var text = "text"
  var onChange: (() -> Void)?
}
struct Document {
  private(set) var storage = Storage()  // @storage
  var title = "title"
  func watch() {
    storage.onChange = { print(self.title, self.storage.text) }
  }
}
@inline(never) func open() {
  let document = Document()  // @storage
  document.watch()
  document.storage.onChange?()
}
for _ in 0..<4 { open() }
