/// Turns the events of zombie logs into the groups of a report.
struct ZombieBuilder {
  private(set) var zombies: [Zombie] = []
  private var positions: [String: Int] = [:]

  mutating func add(_ input: ZombieInput) {
    let names = ZombieNames(input)
    for event in input.log.events { add(zombie(event, input, names)) }
  }

  /// Uses of one kind of the same type by the same function are one group.
  private mutating func add(_ zombie: Zombie) {
    if let position = positions[zombie.signature] {
      zombies[position].add(zombie)
    } else {
      positions[zombie.signature] = zombies.count
      zombies.append(zombie)
    }
  }

  private func zombie(_ event: ZombieLog.Event, _ input: ZombieInput, _ names: ZombieNames) -> Zombie {
    let kind = Self.kinds[event.kind] ?? "kind\(event.kind)"
    let type = event.type.isEmpty ? "unknown type" : NodeNames.clean(event.type)
    let description = ZombieMessage(
      event: event, kind: kind, type: type, member: Self.member(event, type, names), log: input.log,
      program: input.program)
    var zombie = Zombie(
      kind: kind, type: type, message: description.text, address: description.address, thread: description.thread.name,
      count: Int(clamping: event.count), member: description.member,
      operation: ["field", "overflow"].contains(kind) ? (event.flags & 1 != 0 ? "write" : "read") : nil,
      deallocationThread: description.deathThread?.name,
      ageMilliseconds: description.age.map { Double($0 / 1000) / 1000 },
      details: description.details, advice: Advice.text(forUse: kind, of: type),
      allocation: names.backtrace(event.allocation, of: event),
      deallocation: names.backtrace(event.deallocation, of: event), access: names.backtrace(event.access, of: event))
    if kind == "escape" { (zombie.deallocation, zombie.deallocationThread) = (zombie.access, zombie.thread) }
    if event.flags & 32 != 0 { zombie.sampled = true }
    if event.flags & 64 != 0 { zombie.race = true }
    zombie.signature = Self.signature(zombie)
    return zombie
  }

  private static let kinds: [UInt32: String] = [
    1: "method", 2: "release", 3: "retain", 4: "field", 5: "unowned", 6: "cast", 7: "closure", 8: "timerTarget",
    9: "overflow", 10: "escape",
  ]

  /// Whether that is an element of an array or a byte of a string: its number may be another one each time.
  private static func isNumbered(_ member: String) -> Bool { member.hasPrefix("element ") || member.hasPrefix("byte ") }

  private static func member(_ event: ZombieLog.Event, _ type: String, _ names: ZombieNames) -> String? {
    if kinds[event.kind] == "unowned", !event.field.isEmpty {
      // What a closure or a local function captured lies at offsets like those of fields.
      let user = names.backtrace(event.access, of: event).frames.first?.symbol ?? ""
      return user.isEmpty || user.contains(" in ") ? nil : ZombieMember.withoutModule(event.field)
    }
    if isNumbered(event.field) { return event.field }
    if !event.field.isEmpty { return ZombieMember.withoutModule(type) + "." + event.field }
    return names.implementation(of: event).map { ZombieMember.method($0) }
  }

  /// Of the kind, the type, the member, and the functions of the program that used and freed the object.
  private static func signature(_ zombie: Zombie) -> String {
    var hash = StableHash("zombie")
    let member = zombie.member.flatMap { isNumbered($0) ? nil : $0 }
    for text in [zombie.kind, zombie.type, member ?? "", zombie.operation ?? ""] { hash.mix(StableHash(text)) }
    for frame in [zombie.access.site, zombie.deallocation.firstReleasingFrame] {
      hash.mix(StableHash(frame.map { FunctionName.withoutThunks($0.symbol) } ?? ""))
    }
    return hash.hexadecimal
  }
}

extension Zombie {
  /// More uses of the same group: what one of them shows holds for all.
  mutating func add(_ other: Zombie) {
    count.addSaturating(UInt64(clamping: other.count))
    if other.sampled == true { sampled = true }
    guard other.race == true, race != true else { return }
    (race, details) = (true, other.details)
    (thread, deallocationThread) = (other.thread, other.deallocationThread)
  }
}

extension Backtrace {
  /// The first function of the program that let an object go: not the deinit of the object itself.
  var firstReleasingFrame: Frame? {
    let rest = Backtrace(frames: Array(framesAfterDeinit))
    return rest.firstOwnFrame ?? firstOwnFrame ?? frames.first
  }

  /// What comes after the innermost deinit and those of its superclasses, which are not what let the object go.
  var framesAfterDeinit: ArraySlice<Frame> {
    guard let first = frames.firstIndex(where: { !$0.system }), frames[first].isDeinit else { return frames[...] }
    let rest = frames[first...].drop { $0.isDeinit }
    return rest.contains { !$0.system } ? rest : frames[...]
  }
}

extension Frame {
  /// True for a deinit, or what the compiler made to destroy the context of a closure.
  var isDeinit: Bool { symbol.hasSuffix(".deinit") || symbol.hasPrefix("objectdestroy") }
}
