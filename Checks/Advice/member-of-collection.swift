// A member of a collection that refers to who has the collection.
// KEPT BY the member's field
// ADVICE `folder` of App.File refers back to what holds it in `files`: declare it `weak`
// FIX `weak var`
final class File {
  #if FIXED
    weak var folder: Folder?
  #else
    var folder: Folder?
  #endif
}
final class Folder { var files: [File] = [] }
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func run() {
  let folder = Folder()
  let file = File()
  folder.files = [file]
  file.folder = folder
  use(folder)
}
run()
