/// Names of what closures capture, which no runtime keeps: debug information of unoptimised code has them.
enum CapturedNames {
  /// What the closures at function values capture, in this order, and what they declare.
  static func find(
    _ closures: Set<UInt64>, in images: [SymbolizedImage], _ tool: SymbolizerTool
  ) -> [UInt64: [String]] {
    var requests: [SymbolizerTool.Request] = []
    var owners: [UInt64] = []
    var functions: [String] = []
    for image in images where image.canBeAsked && !image.module.isSystem {
      let values = image.addresses.filter(closures.contains)
      let names = values.map { ForwarderLines.closure(ofForwarder: image.locations[$0]?.last?.function ?? "") }
      let bodies = image.file?.addresses(ofFunctions: Set(names.compactMap(\.self))) ?? [:]
      for (value, name) in zip(values, names) {
        guard let address = name == nil ? image.linked(value) : bodies[name ?? ""] else { continue }
        requests.append(.init(file: image.file?.path ?? image.module.path, address: address))
        owners.append(value)
        functions.append(name ?? image.locations[value]?.last?.function ?? "")
      }
    }
    var found: [UInt64: [String]] = [:]
    for ((owner, function), names) in zip(zip(owners, functions), tool.variables(at: requests)) {
      guard let parameters = Demangler.demangleSwift(function).flatMap(parameterCount), names.count > parameters else {
        continue
      }
      found[owner] = names.dropFirst(parameters).map { $0 == "self" ? ofSelf(in: function) : $0 }
    }
    return found
  }

  /// What `self` is called where it is a value: it cannot be captured weakly.
  static let structSelf = "self, a struct"
  static let enumSelf = "self, an enum"

  /// - Parameter function: the mangled name of a closure, with the name and kind of the type around it: "4ViewV".
  private static func ofSelf(in function: String) -> String {
    let owner = FunctionName(Demangler.readable(function)).owner.last.map { $0.prefix { $0 != "<" } } ?? ""
    guard !owner.isEmpty, let name = function.firstRange(of: "\(owner.utf8.count)\(owner)") else { return "self" }
    return switch function[name.upperBound...].first {
    case "V": structSelf
    case "O": enumSelf
    default: "self"
    }
  }

  /// How many parameters a closure has: "closure #1 (Swift.Int) -> () in App.run() -> ()" -> 1.
  static func parameterCount(ofClosure symbol: String) -> Int? {
    guard let start = symbol.firstRange(of: "closure #")?.upperBound,
      let open = symbol[start...].firstIndex(of: "(")
    else { return nil }
    var (depth, count, isEmpty) = (0, 1, true)
    for character in symbol[open...] {
      switch character {
      case "(", "[", "<": depth += 1
      case ")", "]", ">": depth -= 1
      case "," where depth == 1: count += 1
      default: break
      }
      if depth == 0 { break }
      if depth > 1 || !"() ".contains(character) { isEmpty = false }
    }
    return isEmpty ? 0 : count
  }
}
