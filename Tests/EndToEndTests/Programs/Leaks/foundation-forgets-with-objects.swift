// Objects of the program that hang off what Foundation on Linux never frees; a cycle that the program made of its objects.
// EXPECT leak kind=unreferenced types=CFRunArray,App.Link
// EXPECT leak kind=retainCycle types=Foundation.BlockOperation count=2
import Foundation

final class Link {
  var address = "https://example.org"
}
@inline(never) func write() {
  _ = NSAttributedString(string: "text", attributes: [NSAttributedString.Key("link"): Link()])
}
@inline(never) func plan() {
  let first = BlockOperation {}
  let second = BlockOperation {}
  first.addDependency(second)
  second.addDependency(first)
}
for _ in 0..<2 {
  write()
  plan()
}
