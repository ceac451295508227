/// Appends strings to a table so that equal ones share one place.
package struct StringInterner {
  package private(set) var table: StringTable
  private var known: [String: StringID] = ["": 0]

  package init(_ table: StringTable = StringTable()) {
    self.table = table
    var start = 0
    for (position, byte) in table.bytes.enumerated() where byte == 0 {
      defer { start = position + 1 }
      // The elements of an array have a text each, and may be a million; nobody asks for these again.
      if table.isElement(StringID(start)) { continue }
      let text = String(decoding: table.bytes[start..<position], as: UTF8.self)
      if known[text] == nil { known[text] = StringID(start) }
    }
  }

  package mutating func intern(_ text: String) -> StringID {
    if let id = known[text] { return id }
    let id = table.append(text)
    known[text] = id
    return id
  }
}
