import UndeadReport
import UndeadSystem

/// Names as text.
package enum Number {
  /// Storage by the name of the collection that it is of: `Array<App.Item>` for `Swift._ContiguousArrayStorage<App.Item>`.
  package static func readable(_ type: String) -> String {
    for (storage, name) in storageNames where type.hasPrefix(storage) {
      return TypeName.elided(name + type.dropFirst(storage.count))
    }
    return TypeName.elided(type)
  }

  /// The type of the elements, or of the values, of what a collection keeps them in.
  static func element(ofStorage type: String) -> String? {
    guard let storage = storageNames.prefix(3).first(where: { type.hasPrefix("\($0.0)<") }), type.hasSuffix(">") else {
      return nil
    }
    let arguments = type.dropFirst(storage.0.count + 1).dropLast()
    return (arguments.lastIndex(of: ",").map { arguments[$0...].dropFirst(2) } ?? arguments).description
  }

  private static let storageNames = [
    ("Swift._ContiguousArrayStorage", "Array"), ("Swift._DictionaryStorage", "Dictionary"),
    ("Swift._SetStorage", "Set"), ("Swift.__StringStorage", "String"), ("Swift.__SharedStringStorage", "String"),
    ("FoundationEssentials.__DataStorage", "Data"), ("Foundation.__DataStorage", "Data"),
  ]
}
