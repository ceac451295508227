// Class payloads in several cases: the tag lives in the spare bits of the pointer. Each case is a leak of its own.
// EXPECT leak kind=retainCycle types=App.Screen,App.Loader fields=state~loading,screen count=2 at=screen|loader
// EXPECT leak kind=retainCycle types=App.Screen,App.Document fields=state~loaded,screen count=3 at=screen|document
// EXPECT leak kind=retainCycle types=App.Screen,App.Failure fields=state~failed,screen count=4 at=screen|failure
final class Loader {
  var screen: Screen?
}
final class Document {
  var pages = 1
  var screen: Screen?
}
final class Failure {
  var code = 2
  var retries = 3
  var screen: Screen?
}
enum State {
  case empty
  case loading(Loader)
  case loaded(Document)
  case failed(Failure)
}
final class Screen {
  var state = State.empty
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeLoading() {
  let screen = Screen()  // @screen
  let loader = Loader()  // @loader
  loader.screen = screen
  screen.state = .loading(loader)
  use(screen)
}
@inline(never) func makeLoaded() {
  let screen = Screen()  // @screen
  let document = Document()  // @document
  document.screen = screen
  screen.state = .loaded(document)
  use(screen)
}
@inline(never) func makeFailed() {
  let screen = Screen()  // @screen
  let failure = Failure()  // @failure
  failure.screen = screen
  screen.state = .failed(failure)
  use(screen)
}
for _ in 0..<2 { makeLoading() }
for _ in 0..<3 { makeLoaded() }
for _ in 0..<4 { makeFailed() }
