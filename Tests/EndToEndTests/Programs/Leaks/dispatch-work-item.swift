// A work item that is stored in the object which its block captures.
// EXPECT leak kind=retainCycle types=App.Search fields=pending count=5
import Dispatch

final class Search {
  var text = ""
  var pending: DispatchWorkItem?
  func prepare(_ extra: Int) {
    pending = DispatchWorkItem { self.text += "\(extra)" }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make(_ number: Int) {
  let search = Search()  // @search
  search.prepare(number)
  search.pending?.perform()
  use(search)
}
for number in 0..<5 { make(number) }
