// What Foundation on Linux itself never frees: attributes of strings, parsed XML, errors of its parser, lists of bundles.
// EXPECT known types=CFRunArray
// EXPECT known types=FoundationXML.XMLDocument,FoundationXML.XMLElement count=2
// EXPECT known types=FoundationXML.XMLNode count=2
// EXPECT known types=Foundation._NSCFString count=2
// EXPECT known types=Foundation._NSCFArray count=2
// Objects of the program that hang off that; a cycle that the program made of Foundation's objects.
// EXPECT leak kind=unreferenced types=CFRunArray,App.Link
// EXPECT leak kind=retainCycle types=Foundation.BlockOperation count=2
import Foundation
import FoundationXML

final class Link {
  var address = "https://example.org"
}

@inline(never) func write() {
  let text = NSMutableAttributedString(string: "text", attributes: [NSAttributedString.Key("size"): 12])
  text.append(NSAttributedString(string: "more"))
}
@inline(never) func writeLink() {
  _ = NSAttributedString(string: "text", attributes: [NSAttributedString.Key("link"): Link()])
}
@inline(never) func plan() {
  let first = BlockOperation {}
  let second = BlockOperation {}
  first.addDependency(second)
  second.addDependency(first)
}
@inline(never) func parse() throws {
  let document = try XMLDocument(xmlString: "<list><item/></list>")
  _ = document.rootElement()
  _ = XMLNode.attribute(withName: "key", stringValue: "value")
  _ = XMLParser(data: Data("<list><item>".utf8)).parse()
}
@inline(never) func look() { _ = Bundle.allBundles.count }

for _ in 0..<2 {
  write()
  writeLink()
  plan()
  try parse()
  look()
}
look()
