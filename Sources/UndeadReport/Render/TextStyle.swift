import UndeadSystem

/// Roles of text in a report, each with its colour on a terminal.
package enum TextStyle: String {
  case heading = "1"
  case alarm = "1;31"
  case warning = "1;33"
  case good = "1;32"
  case type = "36"
  case field = "1;35"
  case place = "4"
  case culprit = "31"
  case faint = "2"

  package func apply(_ text: TextLine) -> TextLine { text.styled(self) }

  @_disfavoredOverload package func apply(_ text: String) -> TextLine { TextLine(text).styled(self) }
}

extension Quantity {
  /// "3 objects, 96 bytes"; nil where neither is known.
  static func size(objects: Int?, bytes: Int?) -> String? {
    let parts = [objects.map { of($0, "object") }, bytes.map(self.bytes)].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
