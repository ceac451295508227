import UndeadSystem

/// What one change of the source would fix: the field or the function that findings have in common.
package struct Blame: Sendable, Hashable {
  /// 16 hex digits, the same from run to run and machine to machine, whatever the generic arguments and the test.
  package var signature: String
  /// Kind of the findings in JSON.
  package var kind: String
  /// Type that has the field, or of the object, without generic arguments.
  package var type: String
  /// The field that holds the reference, without indices; nil if a function is to blame.
  package var field: String?
  /// The function; nil if a field is to blame.
  package var function: String?
  /// The dependency that all of it belongs to: the user's function that started it is to blame.
  package var package: String?
  /// What is to blame, in a few words: "`onEvent` of App.Probe".
  package var title: String
  /// What a closure to blame leads to, which distinguishes it from others in the same field; nil if no closure is.
  package var target: String?

  init(kind: String, type: String, field: String? = nil, function: String? = nil, title: String, key: [String]) {
    self.kind = kind
    self.type = type
    self.field = field
    self.function = function
    self.title = title
    var hash = StableHash("culprit")
    for part in [kind] + key { hash.mix(StableHash(part)) }
    signature = hash.hexadecimal
  }
}

extension Blame {
  /// A reference without what differs between the instances of one mistake.
  struct Edge: Hashable, Comparable {
    var type: String
    var field: String

    init(_ reference: Reference) {
      type = TypeName.unspecialized(reference.type)
      field = reference.isNameless ? "+" : NodeNames.withoutIndices(reference.field)
    }

    var title: String { "`\(field == "+" ? "a field" : field)` of \(type)" }

    static func < (a: Edge, b: Edge) -> Bool { (a.type, a.field) < (b.type, b.field) }
  }

  /// Where a reachable object is, in a few words: the field of the program that is nearest to it, or the variable that leads to it.
  package static func place(of leak: Leak) -> String? {
    guard let path = leak.retainPath else { return nil }
    let fields = path.dropLast().filter {
      !ToolchainModules.declare($0.type) && !TypeName.isOfRuntime($0.type) && !$0.reference.isNameless
    }
    if let field = fields.last {
      var edge = Edge(field.reference)
      while edge.field.hasSuffix("[]") { edge.field.removeLast(2) }
      return edge.field.isEmpty ? edge.type : edge.title
    }
    guard let root = path.first?.root, root.kind == "global", !root.name.isEmpty else { return nil }
    return SymbolText.fileName(root.name)
  }

  /// What is to blame for a leak, and the reference of its cycle or path that it is.
  static func of(_ leak: Leak) -> (blame: Blame, reference: Int?) {
    if let cycle = leak.cycle, !cycle.isEmpty, leak.kind == .retainCycle {
      if let package = cycle.package { return (ofStart(leak, package), nil) }
      return ofCycle(cycle, kind: leak.kind.rawValue, test: leak.test)
    }
    if leak.kind == .abandoned, let path = leak.retainPath, let found = ofPath(path, kind: leak.kind.rawValue) {
      return found
    }
    return (ofSite(leak), nil)
  }

  /// What is to blame for a suspect, and the reference that it is: of its cycle, or of the way back to what holds it.
  static func of(_ suspect: Suspect) -> (blame: Blame, reference: Int?) {
    let kind = suspect.kind.rawValue
    if let cycle = suspect.cycle, !cycle.isEmpty { return ofCycle(cycle, kind: kind, test: suspect.test) }
    if let first = suspect.holdsBack?.first {
      let edge = Edge(first)
      return (Blame(kind, edge), 0)
    }
    let type = TypeName.unspecialized(suspect.objects.first?.type ?? "object")
    return (Blame(kind: kind, type: type, title: type, key: [type]), nil)
  }

  private init(_ kind: String, _ edge: Edge, _ more: String = "") {
    self.init(
      kind: kind, type: edge.type, field: edge.field, title: edge.title, key: [edge.type, edge.field, more])
  }

  // MARK: Cycles

  private static func ofCycle(
    _ cycle: [Reference], kind: String, test: TestIdentity?
  ) -> (blame: Blame, reference: Int?) {
    let edges = cycle.map { Edge($0) }
    func least(_ positions: [Int]) -> Int? { positions.min { (edges[$0], $0) < (edges[$1], $1) } }
    let ofProgram = cycle.indices.filter { position in
      let reference = cycle[position]
      guard !reference.isNameless, !ToolchainModules.declare(reference.type) else { return false }
      // What holds a closure that a task runs is the task itself.
      return !reference.isOfRuntime || reference.holdsClosure
    }
    let ofUser = ofProgram.filter { cycle[$0].isOfUser }
    let own = ofUser.isEmpty ? ofProgram : ofUser

    if let closure = cycle.culpritClosure(among: own) {
      // Libraries keep closures of any program in fields of theirs: what is captured distinguishes these.
      let end = cycle[(closure + 1) % cycle.count].type
      let target = end == test?.suite ? "" : TypeName.unspecialized(end)
      var blame = Blame(kind, edges[closure], target)
      if !target.isEmpty { blame.target = target }
      return (blame, closure)
    }
    if let closure = cycle.indices.first(where: {
      cycle[$0].type.hasPrefix("Observation.") && cycle[$0].holdsOwnClosure
    }),
      let function = cycle[closure].closure.map({ FunctionName.withoutThunks($0.symbol) })
    {
      let type = TypeName.unspecialized(cycle[(closure + 1) % cycle.count].type)
      let title = "the onChange closure in \(SymbolText.outer(function))"
      return (Blame(kind: kind, type: type, function: function, title: title, key: ["onChange", function]), closure)
    }
    // A closure that the toolchain keeps: the program's field that leads there.
    if let closure = least(cycle.indices.filter { cycle[$0].holdsClosure }),
      let before = own.last(where: { $0 < closure }) ?? own.last
    {
      return (Blame(kind, edges[before]), before)
    }
    let ranks = own.map { FieldName.backRank(cycle[$0].field) }
    if let best = ranks.max(), best > 0, let back = least(zip(own, ranks).filter { $0.1 == best }.map(\.0)) {
      return (Blame(kind, edges[back]), back)
    }
    if cycle.count == 1 { return (Blame(kind, edges[0]), 0) }
    if cycle.count == 2, let back = memberOfCollection(cycle) { return (Blame(kind, edges[back]), back) }
    return (ofShape(edges, own, kind: kind), nil)
  }

  /// The reference back to what has the collection.
  private static func memberOfCollection(_ cycle: [Reference]) -> Int? {
    let elements = cycle.indices.filter { cycle[$0].field.contains("[") }
    return elements.count == 1 ? 1 - elements[0] : nil
  }

  /// No reference of the cycle is to blame more than another: all of them are, wherever it begins and how long it is.
  private static func ofShape(_ edges: [Edge], _ own: [Int], kind: String) -> Blame {
    let all = Set(edges).ordered()
    let named = own.isEmpty ? all : Set(own.map { edges[$0] }).ordered()
    let more = named.count > 2 ? " and \(Quantity.of(named.count - 2, "other"))" : ""
    let title = named.prefix(2).map(\.title).joined(separator: more.isEmpty ? " and " : ", ") + more
    return Blame(
      kind: kind, type: named[0].type, field: named[0].field, title: title, key: all.flatMap { [$0.type, $0.field] })
  }

  // MARK: Paths and places

  /// The field nearest to the object, or the root.
  private static func ofPath(_ path: [PathStep], kind: String) -> (blame: Blame, reference: Int?)? {
    let steps = path.dropLast()
    let ofProgram = steps.indices.filter {
      !ToolchainModules.declare(steps[$0].type) && !TypeName.isOfRuntime(steps[$0].type)
    }
    if let last = ofProgram.last(where: { steps[$0].reference.isOfUser }) ?? ofProgram.last ?? steps.indices.last {
      return (Blame(kind, Edge(steps[last].reference)), last)
    }
    guard let type = path.last.map({ TypeName.unspecialized($0.type) }), let root = path.first?.root else { return nil }
    guard root.kind == "global", !root.name.isEmpty else {
      let title = "\(type), held by a " + (root.kind == "runLoop" ? "run loop" : "thread")
      return (
        Blame(kind: kind, type: type, title: title, key: [root.kind == "runLoop" ? "loop" : "thread", type]), nil
      )
    }
    let name = SymbolText.fileName(root.name)
    return (Blame(kind: kind, type: type, field: name, title: "`\(name)`", key: ["global", name]), nil)
  }

  /// What a dependency's objects keep alive among themselves: the user's function that started it.
  private static func ofStart(_ leak: Leak, _ package: String) -> Blame {
    let type = TypeName.unspecialized(leak.objects.first?.type ?? "object")
    let function = leak.allocation.start.map { FunctionName.withoutThunks($0.frame.symbol) }
    var blame = Blame(
      kind: leak.kind.rawValue, type: type, function: function,
      title: function.map { "what \($0) started in \(package)" } ?? "objects of \(package)",
      key: ["package", package, function ?? type])
    blame.package = package
    return blame
  }

  /// What nothing refers to: who made it.
  private static func ofSite(_ leak: Leak) -> Blame {
    let type = TypeName.unspecialized(leak.objects.first?.type ?? "object")
    let stack = leak.suspended ?? leak.allocation
    let frame = stack.site
    let function = frame.map { FunctionName.withoutThunks($0.symbol) }
    let verb = leak.suspended == nil ? "made in" : "waiting in"
    return Blame(
      kind: leak.kind.rawValue, type: type, function: function, title: type + (function.map { " \(verb) \($0)" } ?? ""),
      key: [type, function ?? ""])
  }
}

extension [LeakReport.Reference] {
  /// The closure that most likely should not own what it captures: one of the user's before a library's; one that
  /// captures the variable that refers to its owner, or `self`, before others; nil if there is none.
  func culpritClosure(among positions: some Sequence<Int>) -> Int? {
    func key(_ position: Int) -> (Int, Int, Blame.Edge, Int) {
      let reference = self[position]
      let capture =
        switch reference.captures {
        case "self": 1
        case let name? where name == "variable" || name.hasPrefix("variable "): 0
        default: 2
        }
      return (reference.holdsOwnClosure ? 0 : 1, capture, Blame.Edge(reference), position)
    }
    return positions.filter { self[$0].holdsClosure }.min { key($0) < key($1) }
  }
}
