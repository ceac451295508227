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
