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
    /// The last parameter is a pack.
    var isVariadic = false
    var host: Host
    var parameters: [(kind: ValueKind, ownership: String)]
    /// A call may stand in a child task: nothing is `inout`, and all can be copied.
    var isForChildren: Bool { parameters.allSatisfy { $0.ownership != "inout " && $0.kind.isCopyable } }
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
    for _ in 0..<random.below(4) {
      let kind = choose(isGeneric: signature.isGeneric)
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

  private mutating func choose(isGeneric: Bool) -> ValueKind {
    random.choose(kinds.filter { isGeneric || !$0.isGeneric })
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
    add(
      "\(signature.host == .enumeration ? "static " : "")func f\(signature.index)"
        + (signature.isGeneric ? "<T: Sendable>" : signature.isVariadic ? "<each V: Sendable>" : "")
        + "(\(parameters.joined(separator: ", ")))"
        + "\(signature.isAsync ? " async" : "") -> Int {")
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
      let kind = choose(isGeneric: signature.isGeneric)
      add("\(random.percent(30) && kind.isCopyable ? "var" : "let") l\(number): \(kind.type) = \(kind.made)")
      locals.append(("l\(number)", kind))
    }
    for (number, parameter) in signature.parameters.enumerated() where parameter.ownership == "" {
      locals.append(("p\(number)", parameter.kind))
    }
    var closures: [String] = []
    for number in 0..<random.below(3) { if capture(number, locals) { closures.append("c\(number)") } }
    if signature.isVariadic {
      let each = "for part in repeat each rest { total &+= use(part) }"
      add("let all = opaque({ var total = 0; \(each); return total })")
      closures.append("all")
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
    for name in closures { add("sum &+= \(name)()") }
    // In an order of its own: what a closure does not own is used after the closure.
    for (name, _) in locals.shuffled(using: &random) { add("sum &+= use(\(name))") }
    for number in signature.parameters.indices where signature.parameters[number].ownership != "" {
      if random.percent(70) { add("sum &+= use(p\(number))") }
    }
    if signature.isVariadic { add("for part in repeat each rest { sum &+= use(part) }") }
    if hasSelf { add("sum &+= touch()") }
    if random.percent(25) { lose(signature.isAsync) }
    add("return sum")
  }

  /// Leaks an object, and says so before.
  private mutating func lose(_ isAsync: Bool) {
    var ways = [
      "lost.ring = lost",
      "lost.callback = { lost.touch() }",
      "lost.callback = opaque({ [lost] in use(lost) })",
      "let other = made().lost(); lost.ring = other; other.ring = lost",
      "lost.ring = Held(Several.leaf(lost))",
      "lost.ring = Held(Several.talker(lost, 1))",
      "lost.ring = Held(lost as any Delegate<Int>)",
      "lost.ring = Held((1, lost as any Value))",
      "lost.ring = Held([opaque({ lost.touch() })])",
      "lost.ring = Held([1: lost])",
      "lost.ring = Held(Failure(leaf: lost) as any Error)",
      "_ = Unmanaged.passRetained(lost)",
    ]
    if isAsync { ways.append("Task { await Pause.forever(); _ = use(lost) }") }
    add("do { let lost = made().lost(); \(random.choose(ways)) }")
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
      guard signature.parameters.allSatisfy({ $0.ownership == "" }) else { return pause(signature.isAsync) }
      let generic = signature.isGeneric ? ["tag"] : []
      let arguments =
        ["depth - 1"] + generic + signature.parameters.indices.map { "p\($0)" }
        + (signature.isVariadic ? ["repeat each rest"] : [])
      add("if depth > 0 {")
      level += 1
      let call = "\(signature.isAsync ? "await " : "")f\(signature.index)(\(arguments.joined(separator: ", ")))"
      if signature.isAsync, random.percent(40) {
        add("async let next = \(call.dropFirst(6))")
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
    guard signature.isAsync else { return waitSynchronously(call.text) }
    guard callee.isForChildren, call.before.isEmpty else { return add("sum &+= \(call.text)") }
    waitAsynchronously(call.text, callee, locals)
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
  ) -> (before: String, text: String) {
    // What depends on a type parameter is made for this type.
    let tag = random.choose(["made()", "callC(3)", "\"tag\"", "Small(leaf: made())"])
    let type = ["made()": "Leaf", "callC(3)": "Int", "\"tag\"": "String", "Small(leaf: made())": "Small"][tag]!
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
      let plain = kinds.filter { $0.isCopyable && !$0.isGeneric }
      for _ in 0..<random.below(4) { arguments.append(random.choose(plain).made) }
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
    let text = "\(signature.isAsync ? "await " : "")\(target)f\(signature.index)(\(list))"
    return (before.joined(separator: "; "), text)
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
