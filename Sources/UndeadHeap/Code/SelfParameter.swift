/// What a function of the libraries expects as `self`, by its mangled name.
enum SelfParameter {
  /// A function of a module: there is none.
  case none
  /// A value of so many bytes at most: no object of the program.
  case value(Int64)
  /// Anything.
  case any

  init(ofMangled name: String) {
    var rest = name.dropFirst(2)
    func identifier() -> Bool {
      let digits = rest.prefix { $0.isNumber }
      guard let count = Int(digits), count > 0, count < rest.count - digits.count, digits.first != "0" else {
        return false
      }
      rest = rest.dropFirst(digits.count + count)
      return true
    }
    let sizes: [String: Int64] = ["SS": 16, "Sa": 8, "SD": 8, "Sh": 8, "s26DefaultStringInterpolationV": 16]
    if let size = sizes.first(where: { rest.hasPrefix($0.key) })?.value, !name.contains("AAE") {
      self = .value(size)
      return
    }
    self = .any
    // Accessors of metadata.
    if name.hasSuffix("Ma") {
      self = .none
      return
    }
    // "$ss5print_...": the module Swift and the name of the function, or "$s10Foundation...".
    if rest.first == "s" { rest = rest.dropFirst() } else if !identifier() { return }
    guard identifier(), let first = rest.first, !name.contains("LL") else { return }
    let isFunction = name.hasSuffix("F") || name.hasSuffix("Tg5") || name.hasSuffix("Ts5")
    // The name of a type is followed by a letter for its kind, that of a function by the labels of its parameters.
    if isFunction, first == "_" || first == "y" || first.isNumber { self = .none }
  }
}
