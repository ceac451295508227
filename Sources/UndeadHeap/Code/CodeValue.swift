/// What a register or a word of the stack holds, as far as it matters to an object that a closure captured.
enum CodeValue: Equatable {
  /// Nothing of the object.
  case other
  /// An address in the object, from its start.
  case object(Int64)
  /// An address in the context of the closure.
  case context(Int64)
  /// The metadata of the object's class.
  case type
  /// The function of the class at this offset of its metadata.
  case method(Int64)
  /// An address on the stack, from where the stack pointer is when the closure starts.
  case frame(Int64)
  /// The metadata of a type whose values have so many bytes.
  case valueType(Int64)
  /// One of several of these.
  case mixed
  /// An address in memory that has numbers, and in a context that has a reference to such memory.
  case numbers(Int64)
  case holder(Int64)
  /// The number of 32 bits at this offset of such memory.
  case number(Int64)

  /// True if the object may be found with it.
  var leadsToObject: Bool {
    switch self {
    case .object, .context, .mixed: true
    case .other, .type, .method, .frame, .valueType, .numbers, .holder, .number: false
    }
  }

  /// True for a number, and for what leads to one.
  var isOfNumber: Bool {
    switch self {
    case .numbers, .holder, .number: true
    default: false
    }
  }

  /// Where two ways through the code meet. The object counts as the object, even if one of them has something else there.
  func joined(_ other: CodeValue) -> CodeValue {
    switch (self, other) {
    case _ where self == other: self
    case (.frame, _), (_, .frame), (.mixed, _), (_, .mixed): .mixed
    case (.object, .object), (.object, .context), (.context, .object), (.context, .context): .mixed
    case (.object, _), (.context, _): self
    case (_, .object), (_, .context): other
    default: .other
    }
  }

  var isNumber: Bool { if case .number = self { true } else { false } }

  func moved(by bytes: Int64) -> CodeValue {
    switch self {
    case .object(let offset): .object(offset &+ bytes)
    case .context(let offset): .context(offset &+ bytes)
    case .frame(let offset): .frame(offset &+ bytes)
    case .numbers(let offset): .numbers(offset &+ bytes)
    case .holder(let offset): .holder(offset &+ bytes)
    case .mixed: .mixed
    case .other, .type, .method, .valueType, .number: .other
    }
  }
}

/// The registers and the stack at an instruction.
struct CodeState {
  static let (rax, rcx, rdx, rsp, rbp, rsi, rdi) = (0, 1, 2, 4, 5, 6, 7)
  /// Where a method has `self`, and a closure its context.
  static let r13 = 13

  var registers = [CodeValue](repeating: .other, count: 16)
  /// By offset, as those of ``CodeValue/frame(_:)``; others hold nothing of the object.
  var slots: [Int64: CodeValue] = [:]
  /// Words of this function's frame that it has written, without the registers that it saved first.
  var written: Set<Int64> = []
  /// True if the register of the sixth argument may hold one: without that, a call has no arguments on the stack that are addresses.
  var hasSixthArgument = true
  /// True while the function only makes its frame.
  var isAtStart = true

  var stackPointer: Int64? {
    if case .frame(let offset) = registers[Self.rsp] { offset } else { nil }
  }

  /// - Returns: true if something became another.
  mutating func join(_ other: CodeState) -> Bool {
    var hasChanged = false
    for number in 0..<16 {
      let value = registers[number].joined(other.registers[number])
      hasChanged = hasChanged || value != registers[number]
      registers[number] = value
    }
    for offset in Set(slots.keys).union(other.slots.keys) {
      let known = slots[offset] ?? .other
      let value = known.joined(other.slots[offset] ?? .other)
      hasChanged = hasChanged || value != known
      slots[offset] = value
    }
    isAtStart = isAtStart && other.isAtStart
    hasChanged = hasChanged || other.hasSixthArgument && !hasSixthArgument
    hasSixthArgument = hasSixthArgument || other.hasSixthArgument
    let before = written.count
    written.formUnion(other.written)
    return hasChanged || written.count != before
  }

  /// What a call leaves in the registers that functions need not keep.
  mutating func clobber() {
    for number in [Self.rax, Self.rcx, Self.rdx, Self.rsi, Self.rdi, 8, 9, 10, 11] { registers[number] = .other }
    hasSixthArgument = false
  }

  /// True if a word in these bytes of the stack leads to the object.
  func leads(_ range: Range<Int64>) -> Bool {
    slots.contains { $0.value.leadsToObject && $0.key < range.upperBound && $0.key &+ 8 > range.lowerBound }
  }
}
