/// A figure at the top of a page.
struct Tile {
  var label: String
  var value: String
  var note = ""
  var link: String?
  var style = ""

  func write(to html: inout HTML) {
    func content(_ html: inout HTML) {
      html.element("b", text: value)
      html.element("span", text: label)
      if !note.isEmpty { html.element("small", text: note) }
    }
    let name = style.isEmpty ? "tile" : "tile \(style)"
    if let link {
      html.element("a", ["class": name, "href": link], content)
    } else {
      html.element("div", ["class": name], content)
    }
  }
}
