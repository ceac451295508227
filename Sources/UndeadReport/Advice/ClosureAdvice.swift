// What helps against closures that keep who stores them: what to write in the capture list, or in its place.

extension Advice {
  /// The compiler makes an implicit closure in an implicit closure of `self.method`, where a closure is expected.
  static func methodReference(_ facts: LeakFacts) -> String? {
    guard
      let reference = facts.references.first(where: {
        $0.package == nil && $0.isMethodReference && $0.closure?.system == false
      }),
      let closure = reference.closure
    else { return nil }
    let owner = reference.captures == "self" ? "`self`" : "an object"
    return "`\(reference.fieldName)` of \(reference.type) holds a method of \(owner), written as a value in "
      + "\(SymbolText.outer(closure.symbol)) (`self.method`), which holds \(owner) strongly: write a closure that calls it, "
      + "`{ [weak self] in self?.method() }`"
  }

  static func lazyClosure(_ facts: LeakFacts) -> String? {
    guard
      let index = facts.references.indices.first(where: {
        facts.references[$0].closure != nil && facts.lazyFields.contains(facts.references[$0].field)
      })
    else { return nil }
    let (reference, target) = (facts.references[index], facts.target(of: index))
    return
      "the closure in the lazy property `\(reference.fieldName)` \(captures(reference, target)) and is kept: "
      + remedy(reference, target) + likewise(facts)
  }

  static func ownVariable(_ facts: LeakFacts) -> String? {
    guard facts.roles.isSubset(of: [.context, .box]), facts.roles.contains(.context) else { return nil }
    return "a closure captures the very variable that it is stored in: set the variable to nil after the last call, or "
      + "make it a local function"
  }

  static func ownClosure(_ facts: LeakFacts) -> String? {
    guard facts.references.count == 1, let reference = facts.references.first, reference.holdsClosure else {
      return nil
    }
    let target = facts.target(of: 0)
    return "closure stored in `\(reference.fieldName)` \(captures(reference, target)): \(remedy(reference, target))"
      + likewise(facts)
  }

  static func closureInCycle(_ facts: LeakFacts) -> String? {
    let own = facts.references.indices.filter {
      facts.references[$0].holdsOwnClosure || facts.references[$0].package == nil
    }
    guard let index = facts.references.culpritClosure(among: own) else { return nil }
    let (reference, target) = (facts.references[index], facts.target(of: index))
    let type = reference.package == nil ? reference.type : TypeName.unspecialized(reference.type)
    return "the closure stored in `\(reference.fieldName)` of \(type) "
      + "\(captures(reference, target)): \(remedy(reference, target))" + likewise(facts)
  }

  /// A closure that is kept by one capture if the other is made weak.
  static func twoCaptures(_ facts: LeakFacts) -> String? {
    facts.alsoCaptured.isEmpty ? nil : lazyClosure(facts) ?? ownClosure(facts) ?? closureInCycle(facts)
  }

  static func autoclosure(_ facts: LeakFacts) -> String? {
    let first = facts.references.first { $0.closure != nil && $0.package == nil }
    return first?.isAutoclosure ?? false ? ownClosure(facts) ?? closureInCycle(facts) : nil
  }

  private static func likewise(_ facts: LeakFacts) -> String {
    facts.alsoCaptured.isEmpty
      ? ""
      : ", and likewise \(list(facts.alsoCaptured.map { "`\($0)`" })), which it captures as well and which leads back, too"
  }

  /// - Parameter target: type of the object that the closure leads to.
  static func captures(_ reference: Reference, _ target: String) -> String {
    switch reference.captures {
    case "self": "captures `self` strongly"
    case "variable": "strongly captures the variable that refers to its owner"
    case CapturedNames.structSelf, CapturedNames.enumSelf:
      "captures `self`, a value that holds \(TypeName.unspecialized(target)), strongly"
    case let part? where part.hasPrefix("."):
      "strongly captures a value with \(TypeName.unspecialized(target)) in `\(part)`"
    case let captures? where captures.hasPrefix("variable "):
      "captures the variable `\(captures.dropFirst("variable ".count))` strongly"
    case let captures?: "captures `\(captures)` strongly"
    case nil: "strongly captures \(TypeName.unspecialized(target)), which holds it"
    }
  }

  /// Optimised code has no names of what a closure captures. Where `self` is a value, it cannot be captured weakly itself.
  static func remedy(_ reference: Reference, _ target: String) -> String {
    if let name = reference.closure.flatMap({ SymbolText.localFunction($0.symbol) }) {
      return
        "`\(name)` is a local function, which has no capture list: use a closure with one in its place (`[weak self]`, or "
        + "`weak` before the variable that refers to it)"
    }
    if reference.isAutoclosure {
      return
        "it is the argument of an autoclosure, which has no capture list: work out its value before the call, or use a "
        + "`weak` variable in it"
    }
    let listed = "name the variable that refers to it in the capture list, with `weak` before it"
    let captures = reference.captures.map { $0.hasPrefix("variable ") ? String($0.dropFirst("variable ".count)) : $0 }
    guard let captured = captures, captured != "variable" else {
      let outer = reference.closure.flatMap { SymbolText.enclosingType(ofClosure: $0.symbol) }
      guard let outer, outer.contains("."), outer != TypeName.unspecialized(target) else { return listed }
      return "\(listed); if that is a property of `self` and \(outer) is a value, give it a name there "
        + "(`[weak name = self.property]`)"
    }
    switch captured {
    case CapturedNames.structSelf:
      return "capture the property of `self` that refers to it weakly (`[weak name = self.property]`)"
    case CapturedNames.enumSelf:
      return "take the object out of the case before the closure, and capture it weakly (`[weak object]`)"
    default: break
    }
    let parts = captured.split(separator: ".")
    guard let name = parts.last, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }),
      !name.allSatisfy(\.isNumber)
    else { return listed }
    if captured.hasPrefix(".") { return "name it in the capture list, as `[weak \(name) = value.\(name)]`" }
    if reference.captures?.hasPrefix("variable ") ?? false, parts.count == 1 {
      return
        "declare it `weak` (`weak var \(name)`), or capture it weakly (`[weak \(name)]`) if it has its value by then"
    }
    return parts.count == 1
      ? "capture it weakly (`[weak \(name)]`)" : "capture it weakly (`[weak \(name) = \(captured)]`)"
  }
}
