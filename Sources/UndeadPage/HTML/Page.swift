import UndeadReport

/// What every page has: the head, the bar at the top with search and the choice of light and dark, and the foot.
struct Page {
  var title: String
  /// What was looked at, in a few words.
  var subject: String
  /// Name and version of the tool.
  var tool: LeakReport.Tool
  /// Placeholder of the search field.
  var search: String
  /// The scripts that the page needs, in order.
  var scripts: [[UInt8]] = [PackageResources.page_js]

  /// The whole document.
  func document(_ content: (inout HTML) -> Void) -> String {
    var body = HTML()
    content(&body)
    // Scripts run only with this number, which a text inside of the page cannot foresee as it depends on it.
    let nonce = StableHash(body.markup).hexadecimal
    var html = HTML()
    html.trusted("<!doctype html>\n")
    html.element("html", ["lang": "en"]) { html in
      html.line()
      html.element("head") { head(&$0, nonce: nonce) }
      html.line()
      html.element("body") { html in
        html.line()
        bar(&html)
        html.trusted(body.markup)
        foot(&html)
        for script in scripts {
          html.element("script", ["nonce": nonce]) {
            $0.trusted(String(decoding: script, as: UTF8.self))
          }
          html.line()
        }
      }
      html.line()
    }
    html.line()
    return html.markup
  }

  private func head(_ html: inout HTML, nonce: String) {
    html.line()
    html.element("meta", ["charset": "utf-8"])
    html.line()
    let policy =
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-\(nonce)'; base-uri 'none'; form-action 'none'"
    html.element("meta", ["http-equiv": "Content-Security-Policy", "content": policy])
    html.line()
    html.element("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
    html.line()
    html.element("meta", ["name": "generator", "content": "\(tool.name) \(tool.version)"])
    html.line()
    html.element("title", text: title)
    html.line()
    html.element("style") { $0.trusted(String(decoding: PackageResources.page_css, as: UTF8.self)) }
    html.line()
  }

  private func bar(_ html: inout HTML) {
    html.element("header", ["class": "bar"]) { html in
      html.element("span", ["class": "brand"]) { html in
        html.trusted(Self.mark)
        html.text(tool.name)
      }
      html.element("span", ["class": "subject", "title": subject], text: subject)
      html.element("span", ["class": "found", "id": "found", "role": "status"])
      html.element(
        "input",
        [
          "type": "search", "id": "search", "class": "script", "placeholder": search,
          "aria-label": search,
          "autocomplete": "off", "spellcheck": "false",
        ])
      html.element(
        "button", ["type": "button", "class": "script", "id": "help", "title": "Keys"], text: "?")
      html.element("fieldset", ["class": "theme"]) { html in
        html.element("legend", text: "Colours")
        for (name, label) in [("auto", "Auto"), ("light", "Light"), ("dark", "Dark")] {
          html.element("label") { html in
            html.element(
              "input",
              [
                "type": "radio", "name": "theme", "id": "theme-\(name)", "value": name,
                "checked": name == "auto" ? "" : nil,
              ])
            html.element("span", text: label)
          }
        }
      }
    }
    html.line()
  }

  private func foot(_ html: inout HTML) {
    html.element("footer", ["class": "foot"]) { html in
      html.text(
        "Made by \(tool.name) \(tool.version). This file is complete: it loads nothing from anywhere."
      )
    }
    html.line()
  }

  /// A ghost.
  private static let mark = """
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M4 21V11a8 8 0 0 1 16 0v10l-2.7-2.2L14.6 21 \
    12 18.8 9.4 21l-2.7-2.2z"/><circle cx="9" cy="11" r="1.6"/><circle cx="15" cy="11" r="1.6"/></svg>
    """
}
