/// What can be done about a reference, as far as the declared type of its field says.
enum FieldRemedy {
  /// True if the field can be declared `weak`: not the payload of an enum's case, a tuple's element, what a property wrapper holds,
  /// nor what has no name or is of a type that is no class.
  static func canBeWeak(_ reference: Reference) -> Bool {
    guard !reference.isNameless, !isPart(reference), !FieldName.isOfWrapper(reference.field) else { return false }
    guard let type = reference.fieldType else { return true }
    let optional = "Swift.Optional<"
    let object = type.hasPrefix(optional) ? type.dropFirst(optional.count).dropLast() : Substring(type)
    return !object.hasPrefix(optional) && object != "Swift.Error"
  }

  /// How the reference ends: "set `parent` of App.Node to nil"; nil if the field has no name.
  static func ending(_ reference: Reference) -> String? {
    guard !reference.isNameless else { return nil }
    if reference.field.contains("[") { return "remove it from `\(whole(reference.field))` of \(reference.type)" }
    if isPart(reference) {
      return "give `\(reference.fieldName.prefix { $0 != "." })` of \(reference.type) another value"
    }
    return "set `\(reference.fieldName)` of \(reference.type) to nil"
  }

  /// False for what is certainly no optional: it cannot be set to nil.
  static func canBeNil(_ reference: Reference) -> Bool {
    guard let type = reference.fieldType else { return true }
    return isOptional(type) || reference.field.contains("[") || TypeName.isFunction(type)
  }

  /// A part of a value that is not optional: what an enum's case holds, or an element of a tuple. In a struct it can be weak, yet
  /// only the name of the whole is certain.
  static func isPart(_ reference: Reference) -> Bool {
    if reference.fieldType?.hasPrefix("Synchronization.Mutex<") == true { return true }
    let parts = reference.field.split(separator: ".")
    guard parts.count > 1, !reference.field.contains("[") else { return false }
    return parts.last?.allSatisfy(\.isNumber) ?? false || !(reference.fieldType.map(isOptional) ?? true)
  }

  private static func isOptional(_ type: String) -> Bool {
    type.hasPrefix("Swift.Optional<") || TypeName.mentions("Swift.Optional", in: type)
  }

  /// The collection that an element belongs to: `children[2].item` -> `children`.
  static func whole(_ field: String) -> String {
    field.hasPrefix("[") ? field : String(field.prefix { $0 != "[" })
  }
}
