/// The pages that say what there is.
enum Index {
  static let contentType = "text/html; charset=utf-8"

  private static let profiles = [
    ("heap", "what is in memory, by the stack that allocated it; ?debug=1 as text, ?seconds=30 what changed meanwhile"),
    ("allocs", "what was allocated, freed memory too; of a sampled recording"),
  ]

  private static let answers = [
    ("report", "leaks and suspects; ?format=text, json or html"),
    (
      "heap",
      "where the resident memory is, what is in memory and who holds it; ?by=type, module, site, root, generation, "
        + "descriptor or thread, ?type=App.Session, ?format=text, json or html, ?file=1 the heap file itself"
    ),
    ("tasks", "all tasks, what they wait for, and who could resume them; ?format=text or json"),
    ("growth", "what grew; ?seconds=30 between two looks, ?since=NAME what was born after a mark"),
    ("zombies", "uses of deallocated objects; ?format=text, json or html"),
    ("mark", "POST only: begin a new generation; ?name=NAME"),
  ]

  static func response(pprof: Bool) -> UndeadDebugService.Response {
    var html = """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><title>Undead</title></head><body>
      <h1>\(pprof ? "/debug/pprof/" : "/debug/undead/")</h1>
      <table>\n
      """
    for (name, text) in pprof ? profiles : answers {
      let entry = name == "mark" ? name : "<a href=\"\(name)\">\(name)</a>"
      html += "<tr><td>\(entry)</td><td>\(text)</td></tr>\n"
    }
    let other = pprof ? "/debug/undead/" : "/debug/pprof/"
    html += "</table>\n<p>See also <a href=\"../\(pprof ? "undead" : "pprof")/\">\(other)</a>.</p>\n</body></html>\n"
    return .init(text: html, contentType: contentType)
  }
}
