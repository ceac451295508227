import UndeadReport
import UndeadSystem

/// Leaks, zombies and suspects: an article each.
struct ReportFindings {
  /// How sections are headed.
  enum Titles {
    case all, new
  }

  private let options: ReportTextOptions
  private let entries: Entries
  private let titles: Titles

  init(_ options: ReportTextOptions, _ entries: Entries, titles: Titles = .all) {
    self.options = options
    self.entries = entries
    self.titles = titles
  }

  func write(to html: inout HTML) {
    let isNew = titles == .new
    section("leaks", isNew ? "New leaks" : "Leaks", entries.leaks, &html)
    section("zombies", isNew ? "New zombies" : "Zombies", entries.zombies, &html)
    section("suspects", isNew ? "New suspects" : "Suspects", entries.suspects, &html)
  }

  private func section(
    _ id: String, _ title: String, _ entries: [Entries.Entry], _ html: inout HTML
  ) {
    guard !entries.isEmpty else { return }
    html.element("section", ["class": "findings", "id": id]) { html in
      let groups = entries.map { $0.group?.findings.count ?? 1 }.reduce(0, +)
      let culprits = groups > entries.count ? " with \(Quantity.of(entries.count, "culprit"))" : ""
      html.heading(title, count: Quantity.grouped(groups) + culprits)
      html.line()
      for (number, entry) in entries.enumerated() {
        article(entry, isOpen: number < ReportPage.unfolded, &html)
      }
    }
    html.line()
  }

  private func article(_ entry: Entries.Entry, isOpen: Bool, _ html: inout HTML) {
    html.element("article", ["class": "finding", "id": entry.id, "tabindex": "-1"]) { html in
      html.element("details", ["open": isOpen ? "" : nil]) { html in
        html.element("summary") { html in
          let style = entry.worst.kind == .suspect ? "doubtful" : "bad"
          html.element("span", ["class": "badge \(style)"], text: Words.kind(entry.worst))
          html.element("span", ["class": "heading", "role": "heading", "aria-level": "3"]) {
            Self.marked(entry.title, &$0)
          }
          html.element(
            "span", ["class": "figures"],
            text: Self.figures(entry.count, entry.objectCount, entry.totalBytes))
          html.element(
            "a", ["class": "anchor", "href": "#\(entry.id)", "aria-label": "link to this finding"],
            text: "#")
        }
        html.line()
        html.element("div", ["class": "body"]) { html in
          let others = entry.group.map { Array($0.findings.dropFirst()) } ?? []
          if !others.isEmpty { html.element("h4", text: "The worst: \(entry.worst.heading)") }
          body(entry.worst, id: entry.id, tests: entry.group?.culprit.tests, &html)
          if !others.isEmpty { rest(others, of: entry, &html) }
        }
      }
    }
    html.line()
  }

  private static func figures(_ count: Int, _ objects: Int?, _ bytes: Int?) -> String {
    var figures = count == 1 ? [] : ["\(Quantity.grouped(count)) times"]
    if let objects { figures.append(Quantity.of(objects, "object")) }
    if let bytes { figures.append(Quantity.bytes(bytes)) }
    return figures.joined(separator: " \u{B7} ")
  }

  /// The other groups for which the same is to blame.
  private func rest(_ others: [Finding], of entry: Entries.Entry, _ html: inout HTML) {
    html.element("details", ["class": "others"]) { html in
      html.element(
        "summary", text: "\(Quantity.of(others.count, "more group")) for which the same is to blame")
      for (number, finding) in others.enumerated() {
        html.element("details", ["class": "group"]) { html in
          html.element("summary") { html in
            html.text(finding.title)
            html.element(
              "small", text: Self.figures(finding.count, finding.objectCount, finding.totalBytes))
          }
          html.element("div", ["class": "body"]) { html in
            body(finding, id: "\(entry.id)-also-\(number)", tests: nil, &html)
          }
        }
        html.line()
      }
    }
    html.line()
  }

  // MARK: One finding

  private func body(_ finding: Finding, id: String, tests: [Culprit.Share]?, _ html: inout HTML) {
    if let details = finding.details {
      html.element("p") { Self.marked(details, &$0) }
      html.line()
    }
    let pictured = finding.chains.filter { $0.role != .innerCycle }
    html.element("div", ["class": pictured.contains(where: \.isClosed) ? "split" : nil]) { html in
      if !pictured.isEmpty {
        html.element("div") { html in
          for (number, chain) in pictured.enumerated() {
            self.chain(chain, id: "\(id)-\(number)", of: finding, &html)
          }
        }
        html.line()
      }
      html.element("div") { story(finding, tests: tests, &$0) }
    }
    html.line()
    for (number, chain) in finding.chains.filter({ $0.role == .innerCycle }).enumerated() {
      self.chain(chain, id: "\(id)-inner-\(number)", of: finding, &html)
    }
  }

  private func chain(_ chain: Chain, id: String, of finding: Finding, _ html: inout HTML) {
    if let introduction = chain.introduction {
      html.element("p", text: introduction)
    } else if chain.role == .path {
      html.element(
        "h4",
        text: finding.chains.contains { $0.role == .cycle } ? "What leads to it" : "What holds it")
    }
    guard chain.isClosed else { return StackView.chain(chain, options, &html) }
    html.element("figure", ["class": "graph"]) { html in
      html.line()
      CycleDrawing(CycleGraph(chain, options: options)).write(to: &html, id: id)
      html.line()
    }
    html.line()
    html.element("details", ["class": "words"]) { html in
      html.element("summary", text: "The cycle in words")
      StackView.chain(chain, options, &html)
    }
    html.line()
  }

  private func story(_ finding: Finding, tests: [Culprit.Share]?, _ html: inout HTML) {
    if let advice = finding.advice {
      html.element("p", ["class": "advice"]) { html in
        html.element("b", text: "Advice")
        html.text(" ")
        Self.marked(advice, &html)
      }
      html.line()
    }
    html.element("dl", ["class": "facts"]) { html in
      for site in finding.sites { self.site(site, &html) }
      references(finding.references, &html)
      alsoLeaked(finding.alsoLeaked, &html)
      objects(finding.objects, &html)
      self.tests(tests, finding.test, &html)
      if !finding.signature.isEmpty {
        row("Signature", &html) { $0.element("code", text: finding.signature) }
      }
    }
    html.line()
    for site in finding.sites {
      let isOpen = site.role == (finding.kind == .zombie ? .used : .allocated)
      StackView.stack(
        site.backtrace, title: Self.stackTitle(site.role), options, isOpen: isOpen, &html)
    }
  }

  /// A sentence in which names stand between backquotes.
  static func marked(_ text: String, _ html: inout HTML) {
    for (number, part) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
      if number.isMultiple(of: 2) {
        html.text(String(part))
      } else {
        html.element("code", text: String(part))
      }
    }
  }

  // MARK: Facts

  private func row(_ name: String, _ html: inout HTML, _ content: (inout HTML) -> Void) {
    html.element("dt", text: name)
    html.element("dd", [:], content)
  }

  private func site(_ site: Site, _ html: inout HTML) {
    row(site.role.label.prefix(1).uppercased() + site.role.label.dropFirst(), &html) { html in
      if let text = site.text { html.text(text + (site.frame == nil ? "" : " ")) }
      if let frame = site.frame {
        if site.role != .suspended { html.text("in ") }
        StackView.site(frame, options, &html)
      }
      if let thread = site.thread { html.text(", thread \(thread)") }
      for caller in site.otherCallers {
        html.element("span", ["class": "with"]) { html in
          html.text("also from ")
          StackView.site(caller, options, &html)
        }
      }
      if site.hiddenCallers > 0 {
        html.element(
          "span", ["class": "with"], text: "and on \(Quantity.of(site.hiddenCallers, "other way"))")
      }
    }
  }

  private static func stackTitle(_ role: Site.Role) -> String {
    switch role {
    case .allocated: "Where it was allocated"
    case .mechanism: "Where that was made"
    case .suspended: "Where it waits"
    case .scope: "Where the scope ended"
    case .used: "Where it was used"
    case .freed: "Where it was freed"
    }
  }

  private func references(_ count: ReferenceCount?, _ html: inout HTML) {
    guard let count else { return }
    row("References", &html) { html in
      html.text("\(Quantity.grouped(count.total)), of which \(Quantity.grouped(count.found)) were found")
      for holder in count.holders {
        html.element("span", ["class": "with"]) { html in
          html.text("\(Quantity.grouped(holder.count)) \u{D7} ")
          html.element("span", ["class": "type"], text: holder.type)
          html.text(" ")
          html.element("span", ["class": "field"], text: holder.field)
        }
      }
      for candidate in count.candidates ?? [] {
        html.element("span", ["class": "with"], text: "perhaps \(candidate)")
      }
    }
  }

  private static let typeLimit = 12

  private func alsoLeaked(_ types: [TypeCount], _ html: inout HTML) {
    guard !types.isEmpty else { return }
    row("With it", &html) { html in
      for type in types.prefix(Self.typeLimit) {
        html.element("span", ["class": "with"]) { html in
          html.text("\(Quantity.grouped(type.count)) \u{D7} ")
          html.element("span", ["class": "type"], text: type.type)
          html.text(" \(Quantity.bytes(type.bytes))")
        }
      }
      let hidden = types.count - Self.typeLimit
      if hidden > 0 { html.text("and \(Quantity.of(hidden, "more type"))") }
    }
  }

  private static let objectLimit = 4

  private func objects(_ objects: [LeakedObject], _ html: inout HTML) {
    guard !objects.isEmpty else { return }
    row("Objects", &html) { html in
      for object in objects.prefix(Self.objectLimit) {
        html.element("span", ["class": "with"]) { html in
          html.element("code", text: object.address)
          html.text(" ")
          html.element("span", ["class": "type"], text: object.type)
          html.text(" \(Quantity.bytes(object.size))")
        }
      }
      let hidden = objects.count - Self.objectLimit
      if hidden > 0 { html.text("and \(Quantity.grouped(hidden)) more") }
    }
  }

  private func tests(_ shares: [Culprit.Share]?, _ test: TestIdentity?, _ html: inout HTML) {
    if let shares {
      row("Tests", &html) { html in
        for share in shares {
          html.element(
            "span", ["class": "with"],
            text: (share.test ?? "not attributed to a test")
              + (share.count == 1 ? "" : ", \(share.count) times"))
        }
      }
    } else if let test {
      row("Test", &html) { $0.text(test.fullName) }
    }
  }
}
