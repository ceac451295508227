/// Writes functions of random shape, and the program that runs them.
///
/// A function calls only those with higher numbers, or itself with a smaller `depth`; the last ones wait. What it captures
/// without owning it also is in a local that it uses afterwards, so everything that a check sees is in use.
struct FunctionWriter {
  /// What a caller needs to know of a function.
  private struct Signature {
    var index: Int
    var isAsync: Bool
    var isGeneric: Bool
    /// What the type parameter is known to be, so that it can be captured weakly.
    var bound: String?
    /// The last parameter is a pack.
    var isVariadic = false
    /// `each` element of the pack is an object.
    var hasObjects = false
    /// A parameter `once` of a generic type that cannot be copied, and who owns its argument.
    var once: String?
    /// `throws`, `throws(Failure)`, or nothing.
    var effect = ""
    var host: Host
    var parameters: [(kind: ValueKind, ownership: String)]
    /// A call may stand in a child task: nothing is `inout`, and all can be copied.
    var isForChildren: Bool {
      once == nil && parameters.allSatisfy { $0.ownership != "inout " && $0.kind.isCopyable }
    }
    var typeParameters: String {
      var names: [String] = []
      if isGeneric { names.append("T: \(bound.map { "\($0) & " } ?? "")Sendable") }
      if isVariadic { names.append(hasObjects ? "each V: AnyObject & Sendable" : "each V: Sendable") }
      if once != nil { names.append("U: Touchable & ~Copyable") }
      return names.isEmpty ? "" : "<\(names.joined(separator: ", "))>"
    }
    /// The kinds of values with which a call gives its type parameter.
    var tags: [(made: String, type: String)] {
      let objects = [("made()", "Leaf"), ("keeper(\"tag\" as String)", "Keeper<String>")]
      return bound == nil
        ? [("made()", "Leaf"), ("callC(3)", "Int"), ("\"tag\"", "String"), ("Small(leaf: made())", "Small")] : objects
    }
  }

  private enum Host: CaseIterable { case free, type, genericType, actor, enumeration }

  private var random: Random
  private let kinds: [ValueKind]
  private var written: [Signature] = []
  private var lines: [String] = []
  private var level = 0

  init(seed: UInt64, kinds: [ValueKind]) {
    random = Random(seed: seed)
    self.kinds = kinds
  }

  /// - Parameter count: of functions; a third of them is synchronous.
  mutating func program(count: Int) -> String {
    add("import Foundation")
    add("import Synchronization")
    for index in stride(from: count - 1, through: 0, by: -1) { write(index) }
    add("")
    add("Driver.run(")
    level = 1
    for isAsync in [true, false] {
      add(isAsync ? "async: [" : "threads: [")
      level = 2
      for signature in written where signature.isAsync == isAsync {
        let call = call(signature, depth: "\(random.below(4))", locals: [])
        let closure = ([call.before, "return \(call.text)"]).filter { !$0.isEmpty }.joined(separator: "; ")
        add("(\"f\(signature.index)\", { \(closure) }),")
      }
      level = 1
      add(isAsync ? "]," : "]")
    }
    level = 0
    add(")")
    return lines.joined(separator: "\n") + "\n"
  }

  private mutating func add(_ line: String) {
    lines.append(line.isEmpty ? "" : String(repeating: "  ", count: level) + line)
  }

  // MARK: A function

  private mutating func write(_ index: Int) {
    let isAsync = index % 3 != 0
    var signature = Signature(
      index: index, isAsync: isAsync, isGeneric: random.percent(40), host: .free, parameters: [])
    signature.host = random.percent(50) ? .free : random.choose(Host.allCases.filter { isAsync || $0 != .actor })
    signature.isVariadic = !signature.isGeneric && random.percent(20)
    signature.hasObjects = signature.isVariadic && random.percent(40)
    if signature.isGeneric, random.percent(40) { signature.bound = random.choose(["AnyObject", "Object", "Talker"]) }
    if signature.host != .actor, !signature.isVariadic, random.percent(20) {
      signature.once = random.choose(["borrowing", "consuming"])
    }
    if random.percent(30) { signature.effect = random.choose([" throws", " throws(Failure)"]) }
    for _ in 0..<random.below(4) {
      let kind = choose(for: signature)
      signature.parameters.append((kind, ownership(of: kind, isAsync, signature.host)))
    }
    add("")
    open(signature)
    body(signature)
    close(signature)
    written.insert(signature, at: 0)
  }

  private mutating func ownership(of kind: ValueKind, _ isAsync: Bool, _ host: Host) -> String {
    guard kind.isCopyable else { return host == .actor ? "borrowing " : random.choose(["borrowing ", "consuming "]) }
    // Functions would not escape, and the compiler copies tuples that are borrowed, which it then calls a bug of its own.
    if host == .actor || kind.type.hasPrefix("(") { return "" }
    return random.choose(["", "", "", isAsync ? "" : "inout ", "consuming ", "borrowing "])
  }

  private mutating func choose(for signature: Signature) -> ValueKind {
    var kind = random.choose(kinds.filter { signature.isGeneric || !$0.isGeneric })
    if kind.name == "parameter", signature.bound != nil { kind.isReference = true }
    return kind
  }

  private mutating func open(_ signature: Signature) {
    let name = "Host\(signature.index)"
    switch signature.host {
    case .free: break
    case .type: add("final class \(name): Object, @unchecked Sendable {")
    case .genericType: add("final class \(name)<Kept>: Base<Kept>, @unchecked Sendable {")
    case .actor: add("actor \(name) {")
    case .enumeration: add("enum \(name) {")
    }
    if signature.host != .free { level = 1 }
    if signature.host == .actor { add("let own = made()") }
    add("@inline(never)")
    if signature.isGeneric, random.percent(60) { add("@_semantics(\"optimize.sil.specialize.generic.never\")") }
    var parameters = ["_ depth: Int"]
    if signature.isGeneric { parameters.append("_ tag: T") }
    for (number, parameter) in signature.parameters.enumerated() {
      let escaping = parameter.kind.type.hasPrefix("() ->") && parameter.ownership == "" ? "@escaping " : ""
      parameters.append("_ p\(number): \(parameter.ownership)\(escaping)\(parameter.kind.type)")
    }
    if signature.isVariadic { parameters.append("_ rest: repeat each V") }
    if let ownership = signature.once { parameters.append("_ once: \(ownership) U") }
    add(
      "\(signature.host == .enumeration ? "static " : "")func f\(signature.index)"
        + signature.typeParameters
        + "(\(parameters.joined(separator: ", ")))"
        + "\(signature.isAsync ? " async" : "")\(signature.effect) -> Int {")
    level += 1
  }

  private mutating func close(_ signature: Signature) {
    level -= 1
    add("}")
    if signature.host != .free {
      level = 0
      add("}")
    }
  }

  private mutating func body(_ signature: Signature) {
    add("var sum = depth")
    var locals: [(name: String, kind: ValueKind)] = []
    for number in 0..<random.below(5) + 1 {
      let kind = choose(for: signature)
      add("\(random.percent(30) && kind.isCopyable ? "var" : "let") l\(number): \(kind.type) = \(kind.made)")
      locals.append(("l\(number)", kind))
    }
    for (number, parameter) in signature.parameters.enumerated() where parameter.ownership == "" {
      locals.append(("p\(number)", parameter.kind))
    }
    var consumed: Set<Int> = []
    for (number, parameter) in signature.parameters.enumerated()
    where parameter.ownership == "consuming " && !parameter.kind.type.hasPrefix("() ->") && random.percent(40) {
      add("let m\(number) = consume p\(number)")
      locals.append(("m\(number)", parameter.kind))
      consumed.insert(number)
    }
    if signature.once == "consuming" {
      add("let kept = consume once")
      if random.percent(60) { add("let keeps = opaque({ use(kept) })") } else { add("let keeps = { 1 }") }
    }
    var closures: [String] = signature.once == "consuming" ? ["keeps"] : []
    for number in 0..<random.below(3) { if capture(number, locals) { closures.append("c\(number)") } }
    if signature.isVariadic {
      let each = "for part in repeat each rest { total &+= use(part) }"
      add("let all = opaque({ var total = 0; \(each); return total })")
      closures.append("all")
      piecewise(signature)
    }
    let hasSelf = signature.host == .type || signature.host == .genericType
    if hasSelf, random.percent(60) {
      let way = random.choose(["weak self", "unowned self", "unowned(unsafe) self", "self"])
      add("let me = opaque({ [\(way)] in \(way == "weak self" ? "self?.touch() ?? 0" : "self.touch()") })")
      closures.append("me")
    }
    if random.percent(25), let (name, _) = locals.randomElement(using: &random) {
      add("defer { sum &+= use(\(name)) }")
    }
    wait(signature, locals.filter(\.kind.isCopyable))
    if signature.isVariadic { add("for piece in pieces { sum &+= piece() }") }
    if !signature.effect.isEmpty, random.percent(50) {
      add("if sum & \(random.choose([1, 3, 7])) == 0 { throw Failure(leaf: made()) }")
    }
    for name in closures { add("sum &+= \(name)()") }
    // In an order of its own: what a closure does not own is used after the closure.
    for (name, _) in locals.shuffled(using: &random) { add("sum &+= use(\(name))") }
    for number in signature.parameters.indices
    where signature.parameters[number].ownership != "" && !consumed.contains(number) {
      if random.percent(70) { add("sum &+= use(p\(number))") }
    }
    if signature.isVariadic { add("for part in repeat each rest { sum &+= use(part) }") }
    if signature.once != nil { add("sum &+= use(\(signature.once == "consuming" ? "kept" : "once"))") }
    if hasSelf { add("sum &+= touch()") }
    if random.percent(25) { lose(signature.isAsync) }
    add("return sum")
  }

  /// Closures of single elements of the pack, kept while the function waits, or made for each wait.
  private mutating func piecewise(_ signature: Signature) {
    let way =
      signature.hasObjects ? random.choose(["weak part", "unowned part", "unowned(unsafe) part", "part"]) : "part"
    let captures = way == "part" ? "" : "[\(way)] in "
    add("var pieces: [() -> Int] = []")
    add("for part in repeat each rest {")
    level += 1
    add("let piece = opaque({ \(captures)use(part) })")
    add("pieces.append(piece)")
    if random.percent(40) {
      pause(signature.isAsync)
      add("sum &+= piece() &+ use(part)")
    }
    level -= 1
    add("}")
  }

  /// Leaks an object, and says so before.
  private mutating func lose(_ isAsync: Bool) {
    var ways = [
      ("ring", "lost.ring = lost"),
      ("closure", "lost.callback = { lost.touch() }"),
      ("captured", "lost.callback = opaque({ [lost] in use(lost) })"),
      ("twoRings", "let other = made().lost(\"twoRings\"); lost.ring = other; other.ring = lost"),
      ("enumLeaf", "lost.ring = Held(Several.leaf(lost))"),
      ("enumTalker", "lost.ring = Held(Several.talker(lost, 1))"),
      ("constrained", "lost.ring = Held(lost as any Delegate<Int>)"),
      ("tuple", "lost.ring = Held((1, lost as any Value))"),
      ("functions", "lost.ring = Held([opaque({ lost.touch() })])"),
      ("dictionary", "lost.ring = Held([1: lost])"),
      ("error", "lost.ring = Held(Failure(leaf: lost) as any Error)"),
      ("thrown", "do { throw Failure(leaf: lost) } catch { lost.ring = Held(error) }"),
      ("result", "lost.ring = Held(Result<Leaf, any Error>.success(lost) as Any)"),
      ("unique", "lost.ring = HeldOnce(Unique(leaf: lost, extra: 3))"),
      ("uniqueChoice", "lost.ring = HeldOnce(Choice.leaf(lost, 3))"),
      ("lock", "let lock = Locked(); lock.state.withLock { $0 = .talker(lost, 3) }; lost.ring = lock"),
      ("pack", "lost.callback = packed(lost, 3, \"text\")"),
      ("parts", "lost.ring = Held(Parts(3, lost) as Any)"),
      ("keyPath", "lost.ring = \\Table.[lost, 3]"),
      ("workItem", "lost.ring = DispatchWorkItem { _ = lost.touch() }"),
      ("retained", "_ = Unmanaged.passRetained(lost)"),
    ]
    if isAsync { ways.append(("task", "Task { await Pause.forever(); _ = use(lost) }")) }
    let (name, way) = random.choose(ways)
    add("do { let lost = made().lost(\"\(name)\"); \(way) }")
  }

  private mutating func capture(_ number: Int, _ locals: [(name: String, kind: ValueKind)]) -> Bool {
    var list: [String] = []
    var body: [String] = []
    for (name, kind) in locals.shuffled(using: &random).prefix(random.below(4) + 1) {
      // What cannot be copied is captured as the variable that it is.
      var ways = kind.isCopyable ? ["\(name)", ""] : [""]
      if kind.isReference { ways += ["weak \(name)", "unowned \(name)", "unowned(unsafe) \(name)"] }
      let way = random.choose(ways)
      if !way.isEmpty { list.append(way) }
      body.append("use(\(name))")
    }
    guard !body.isEmpty else { return false }
    let captures = list.isEmpty ? "" : "[\(list.joined(separator: ", "))] in "
    add("let c\(number) = opaque({ \(captures)\(body.joined(separator: " &+ ")) })")
    return true
  }

  // MARK: What happens in the middle

  private mutating func wait(_ signature: Signature, _ locals: [(name: String, kind: ValueKind)]) {
    if random.percent(30) {
      guard signature.once == nil, signature.parameters.allSatisfy({ $0.ownership == "" }) else {
        return pause(signature.isAsync)
      }
      let generic = signature.isGeneric ? ["tag"] : []
      let arguments =
        ["depth - 1"] + generic + signature.parameters.indices.map { "p\($0)" }
        + (signature.isVariadic ? ["repeat each rest"] : [])
      add("if depth > 0 {")
      level += 1
      let bare = "\(signature.isAsync ? "await " : "")f\(signature.index)(\(arguments.joined(separator: ", ")))"
      let call = signature.effect.isEmpty ? bare : "try \(bare)"
      if signature.isAsync, random.percent(40) {
        add("async let next = \(signature.effect.isEmpty ? String(bare.dropFirst(6)) : "(try? \(bare)) ?? 1")")
        add("sum &+= await next")
      } else {
        add("sum &+= \(call)")
      }
      level -= 1
      add("} else {")
      level += 1
      pause(signature.isAsync)
      level -= 1
      add("}")
      return
    }
    let callees = written.filter { $0.isAsync == signature.isAsync }
    guard !callees.isEmpty, random.percent(60) else { return pause(signature.isAsync) }
    let callee = random.choose(callees)
    let call = call(callee, depth: "\(random.below(3))", locals: locals)
    if !call.before.isEmpty { add(call.before) }
    if !callee.effect.isEmpty, random.percent(60) { return waitForError(call.plain, signature) }
    guard signature.isAsync else { return waitSynchronously(call.text) }
    guard callee.isForChildren, call.before.isEmpty else { return add("sum &+= \(call.text)") }
    waitAsynchronously(call.text, callee, locals)
  }

  /// A call that may throw: what it throws is kept while the function waits again, or goes to its caller.
  private mutating func waitForError(_ call: String, _ signature: Signature) {
    if signature.effect == " throws", random.percent(40) { return add("sum &+= try \(call)") }
    add("do { sum &+= try \(call) } catch {")
    level += 1
    if random.percent(50) { add("sum &+= use(error)") }
    pause(signature.isAsync)
    add("sum &+= use(error)")
    level -= 1
    add("}")
  }

  private mutating func waitSynchronously(_ call: String) {
    switch random.below(4) {
    case 0: add("sum &+= [1].map { $0 &+ \(call) }[0]")
    case 1: add("DispatchQueue(label: \"queue\").sync { sum &+= \(call) }")
    case 2: add("withUnsafeMutablePointer(to: &sum) { $0.pointee &+= \(call) }")
    default: add("sum &+= \(call)")
    }
  }

  private mutating func waitAsynchronously(
    _ call: String, _ callee: Signature, _ locals: [(name: String, kind: ValueKind)]
  ) {
    let bare = String(call.dropFirst("await ".count))
    switch random.below(9) {
    case 0, 1:
      add("async let child = \(bare)")
      add("sum &+= await child")
    case 2:
      add("let crowd = Pause.Crowd(2)")
      add("async let one = crowd.run { \(call) }")
      add("async let other = crowd.run { await Pause.checked(); return 1 }")
      add("sum &+= await one &+ other")
    case 3:
      add("let crowd = Pause.Crowd(2)")
      add("sum &+= await withTaskGroup(of: Int.self) { group in")
      add("  group.addTask { await crowd.run { \(call) } }")
      add("  group.addTask { await crowd.run { await Pause.unsafe(); return 2 } }")
      add("  var total = 0")
      add("  for await part in group { total &+= part }")
      add("  return total")
      add("}")
    case 4: add("sum &+= await withTaskCancellationHandler { \(call) } onCancel: {}")
    case 5: add("sum &+= await Task { \(call) }.value")
    case 6: add("sum &+= await Task.detached { \(call) }.value")
    case 7: add("do { try await Pause.throwing(); sum &+= \(call) } catch {}")
    default: add("sum &+= \(call)")
    }
  }

  private mutating func pause(_ isAsync: Bool) {
    guard isAsync else { return add("Pause.\(random.choose(["blocked", "blockedInCondition"]))()") }
    let ways = ["checked", "unsafe", "stream", "task", "sleeping"]
    add(random.percent(15) ? "try? await Pause.throwing()" : "await Pause.\(random.choose(ways))()")
  }

  /// A call, and what has to stand before it.
  private mutating func call(
    _ signature: Signature, depth: String, locals: [(name: String, kind: ValueKind)]
  ) -> (before: String, text: String, plain: String) {
    // What depends on a type parameter is made for this type.
    let (tag, type) = random.choose(signature.tags)
    var arguments = [depth]
    var before: [String] = []
    if signature.isGeneric { arguments.append(tag) }
    for (number, parameter) in signature.parameters.enumerated() {
      let kind = parameter.kind
      var made = kind.made
      if kind.isGeneric {
        made = made.replacing("any Delegate<T>", with: "any Delegate<\(type)>")
          .replacing("any Base<T> &", with: "any Base<\(type)> &").replacing("T.self", with: "\(type).self")
          .replacing("tag", with: tag == "\"tag\"" ? "(\"tag\" as String)" : tag)
      } else if kind.isCopyable, parameter.ownership != "inout ",
        let local = locals.filter({ $0.kind.name == kind.name }).randomElement(using: &random), random.percent(60)
      {
        made = local.name
      }
      if parameter.ownership == "inout " {
        let name = "v\(signature.index)_\(number)"
        before.append("var \(name): \(kind.isGeneric ? kind.type.replacingType(with: type) : kind.type) = \(made)")
        made = "&\(name)"
      }
      arguments.append(made)
    }
    if signature.isVariadic {
      let plain = kinds.filter {
        $0.isCopyable && !$0.isGeneric && (!signature.hasObjects || ["Leaf", "Object"].contains($0.type))
      }
      for _ in 0..<random.below(4) where !plain.isEmpty { arguments.append(random.choose(plain).made) }
    }
    if signature.once != nil {
      let once = kinds.filter { !$0.isCopyable && $0.name != "lock" }
      arguments.append(once.isEmpty ? "Unique(leaf: made(), extra: 1)" : random.choose(once).made)
    }
    let list = arguments.joined(separator: ", ")
    let name = "Host\(signature.index)"
    let target: String
    switch signature.host {
    case .free: target = ""
    case .type: target = "\(name)()."
    case .genericType: target = random.percent(50) ? "\(name)(3)." : "\(name)(made())."
    case .actor: target = "\(name)()."
    case .enumeration: target = "\(name)."
    }
    let plain = "\(signature.isAsync ? "await " : "")\(target)f\(signature.index)(\(list))"
    let caught = "((try? \(plain)) ?? 1)"
    let text = signature.effect.isEmpty ? plain : signature.isAsync ? "await \(caught)" : caught
    return (before.joined(separator: "; "), text, plain)
  }
}

extension String {
  /// The type parameter in the types of `ValueKind`.
  fileprivate func replacingType(with type: String) -> String {
    self == "T"
      ? type
      : replacing("<T>", with: "<\(type)>").replacing("<T,", with: "<\(type),").replacing(
        "T.Type", with: "\(type).Type")
  }
}
