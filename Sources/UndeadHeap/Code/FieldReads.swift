import CUndeadInterface
import UndeadReport

/// Which bytes of a captured object the code of a closure reads, if it does nothing else with the object (x86-64).
///
/// Follows all ways through the closure, and through the functions of the same file that it gives the object to, and keeps track of the
/// registers and words of the stack that have the object's address. The object may be retained and released, fields may be read, and
/// methods called that do no more. Whatever else happens to it, or is not understood, ends the search without an answer: the object is
/// stored, compared, returned, written to, or given to code that is not here.
struct FieldReads {
  struct NotKnown: Error {}

  enum Target {
    case function(UInt64)
    case name(String)
    /// Code of which nothing is known.
    case any
  }

  /// Code may be hostile.
  enum Limit {
    static let steps = 20_000
    static let depth = 8
    static let size: UInt64 = 1 << 24
    /// Words of the stack that are kept for each instruction.
    static let slots = 128
    static let written = 512
  }

  let code: ELFCode
  /// Metadata of the object's class, as linked.
  let metadata: UInt64
  /// Where the context has the object; nil if the object itself is the context.
  let captured: Int64?
  var read: Set<Int64> = []
  var used: Set<Int64> = []
  var steps = 0
  var active: [UInt64] = []
  /// Where the frames of the active functions end.
  var frames: [Int64] = []
  /// Parts of the stack whose address is in memory.
  var named: [Range<Int64>] = []

  /// Offsets of the bytes that are read; nil if more happens to the object, or it is not known.
  ///
  /// - Parameters:
  ///   - closure: the function of the closure, as linked.
  ///   - metadata: that of the object's class, as linked.
  ///   - captured: where the context has the object; nil if the object itself is the context.
  static func offsets(by closure: UInt64, in code: ELFCode, metadata: UInt64, captured: Int64?) -> Set<Int64>? {
    var search = FieldReads(code: code, metadata: metadata, captured: captured)
    var state = CodeState()
    state.registers[CodeState.rsp] = .frame(0)
    state.registers[CodeState.r13] = captured == nil ? .object(0) : .context(0)
    return (try? search.follow(closure, state)) == nil ? nil : search.read
  }

  /// Offsets of the numbers that a closure gives to functions of the C library as the number of an open file.
  ///
  /// What is not understood ends the search: there may be more of them.
  ///
  /// - Parameters:
  ///   - closure: the function of the closure, as linked.
  ///   - captured: where the context refers to the variable that has the number; nil if the context itself has it.
  static func descriptors(usedBy closure: UInt64, in code: ELFCode, captured: Int64?) -> Set<Int64> {
    var search = FieldReads(code: code, metadata: 0, captured: captured)
    var state = CodeState()
    state.registers[CodeState.rsp] = .frame(0)
    state.registers[CodeState.r13] = captured == nil ? .numbers(0) : .holder(0)
    try? search.follow(closure, state)
    return search.used
  }

  init(code: ELFCode, metadata: UInt64, captured: Int64?) {
    (self.code, self.metadata, self.captured) = (code, metadata, captured)
  }

  // MARK: Ways through functions

  mutating func follow(_ entry: UInt64, _ start: CodeState) throws {
    guard active.count < Limit.depth, !active.contains(entry), let frame = start.stackPointer,
      let function = code.function(at: entry), function.address == entry, function.size <= Limit.size,
      entry <= UInt64.max - function.size
    else { throw NotKnown() }
    active.append(entry)
    frames.append(frame)
    let range = entry..<entry &+ function.size
    var known = [entry: start]
    var open = [entry]
    while let place = open.popLast() {
      var state = known[place]!
      for next in try step(place, &state, range) {
        // Behind the end is what follows a call that does not return.
        guard range.contains(next) else { continue }
        if known[next] == nil { known[next] = state } else if !known[next]!.join(state) { continue }
        open.append(next)
      }
    }
    active.removeLast()
    frames.removeLast()
  }

  /// - Returns: the instructions that may come next.
  mutating func step(
    _ place: UInt64, _ state: inout CodeState, _ function: Range<UInt64>
  ) throws -> [UInt64] {
    steps += 1
    guard steps <= Limit.steps, state.slots.count <= Limit.slots, state.written.count <= Limit.written,
      let bytes = code.bytes(at: place)
    else { throw NotKnown() }
    var decoded = undead_instruction()
    guard undead_instruction_decode(bytes.bindMemory(to: UInt8.self).baseAddress, UInt64(bytes.count), &decoded),
      !decoded.is_vector
    else { throw NotKnown() }
    let next = place &+ UInt64(decoded.length)
    let operation = CodeOperation(decoded, next)
    state.isAtStart = state.isAtStart && operation.isOfStart
    if decoded.map == UInt8(UNDEAD_MAP_0F.rawValue) {
      guard (0x80...0x8F).contains(operation.opcode) else { return try stepOf0F(operation, &state) }
      return [next, try placeOfJump(operation, function)]
    }
    guard decoded.map == UInt8(UNDEAD_MAP_ONE_BYTE.rawValue) else { throw NotKnown() }
    switch decoded.opcode {
    case 0xC2, 0xC3:
      try checkReturn(state)
      return []
    case 0xCC, 0xF4: return []
    case 0x70...0x7F, 0xE3: return [next, try placeOfJump(operation, function)]
    case 0xE8:
      try call(target(of: operation.target), &state, isJump: false)
      return [next]
    case 0xE9, 0xEB:
      if function.contains(operation.target) { return [operation.target] }
      try call(target(of: operation.target), &state, isJump: true)
      try checkReturn(state)
      return []
    case 0xFF where operation.group == 2 || operation.group == 4:
      let isJump = operation.group == 4
      let target = try indirectTarget(operation, &state)
      // It may lead to a case of the same function.
      if isJump, case .any = target { throw NotKnown() }
      try call(target, &state, isJump: isJump)
      if isJump { try checkReturn(state) }
      return isJump ? [] : [next]
    default:
      try stepOfOneByte(operation, &state)
      return [next]
    }
  }

  /// Where a jump with a condition leads; nothing is known of one that leaves the function.
  func placeOfJump(_ operation: CodeOperation, _ function: Range<UInt64>) throws -> UInt64 {
    guard function.contains(operation.target) else { throw NotKnown() }
    return operation.target
  }

  func checkReturn(_ state: CodeState) throws {
    for number in [CodeState.rax, CodeState.rdx, CodeState.rcx, 8] where state.registers[number].leadsToObject {
      throw NotKnown()
    }
  }

  // MARK: Memory

  mutating func load(_ operand: CodeOperand, _ size: Int64, _ state: CodeState) throws -> CodeValue {
    switch operand {
    case .register(let number):
      let value = state.registers[number]
      guard size == 8 || !value.leadsToObject else { throw NotKnown() }
      return size == 8 || size == 4 && value.isNumber ? value : .other
    case .absolute(let address): return size == 8 ? valueType(inWordAt: address) : .other
    case .memory(let base, let index, let displacement):
      if let index, state.registers[index].leadsToObject { throw NotKnown() }
      return try load(state.registers[base].moved(by: displacement), size, hasIndex: index != nil, state)
    case .indexed(let index):
      guard !state.registers[index].leadsToObject else { throw NotKnown() }
      return .other
    }
  }

  mutating func load(
    _ address: CodeValue, _ size: Int64, hasIndex: Bool, _ state: CodeState
  ) throws -> CodeValue {
    switch address {
    case .mixed: throw NotKnown()
    case .object(let offset):
      guard !hasIndex else { throw NotKnown() }
      if offset == 0, size == 8 { return .type }
      guard offset >= 16, offset < 1 << 20 else { throw NotKnown() }
      for byte in offset..<offset + size { read.insert(byte) }
      return .other
    case .context(let offset):
      guard !hasIndex, let captured else { throw NotKnown() }
      if offset == captured, size == 8 { return .object(0) }
      guard offset + size <= captured || offset >= captured + 8 else { throw NotKnown() }
      return .other
    case .frame(let offset):
      if hasIndex { if state.leads(Int64.min..<Int64.max - 8) { throw NotKnown() } else { return .other } }
      if size == 8, offset % 8 == 0 { return state.slots[offset] ?? .other }
      if size == 4, let value = state.slots[offset], value.isNumber { return value }
      guard !state.leads(offset..<offset + size) else { throw NotKnown() }
      return .other
    case .numbers(let offset): return size == 4 && !hasIndex ? .number(offset) : .other
    case .holder(let offset): return size == 8 && !hasIndex && offset == captured ? .numbers(0) : .other
    case .other, .type, .method, .valueType, .number: return .other
    }
  }

  static let sizesOfTypes: [String: Int64] = [
    "$sSSN": 16, "$sSiN": 8, "$sSuN": 8, "$sSdN": 8, "$sSfN": 4, "$sSbN": 1, "$ss5Int32VN": 4, "$ss5Int64VN": 8,
  ]

  /// Metadata of the standard library that the word refers to.
  func valueType(inWordAt address: UInt64) -> CodeValue {
    guard case .name(let name) = code.reference(at: address) else { return .other }
    return Self.sizesOfTypes[name].map { .valueType($0) } ?? .other
  }

  /// The same of a word of the metadata: `moved` forgets what is no address of the object.
  func methodAt(_ operand: CodeOperand, _ state: CodeState) -> CodeValue? {
    guard case .memory(let base, nil, let displacement) = operand, state.registers[base] == .type else { return nil }
    return .method(displacement)
  }

  mutating func store(_ value: CodeValue, _ operand: CodeOperand, _ size: Int64, _ state: inout CodeState)
    throws
  {
    switch operand {
    case .register(let number): try set(number, value, size, &state)
    case .absolute, .indexed:
      if case .indexed(let index) = operand, state.registers[index].leadsToObject { throw NotKnown() }
      try keep(value, state)
    case .memory(let base, let index, let displacement):
      if let index, state.registers[index].leadsToObject { throw NotKnown() }
      switch state.registers[base] {
      case .object, .context, .mixed: throw NotKnown()
      case .other, .type, .method, .valueType, .numbers, .holder, .number: try keep(value, state)
      case .frame(let offset):
        try storeOnStack(value, offset &+ displacement, size, hasIndex: index != nil, &state)
      }
    }
  }

  func storeOnStack(
    _ value: CodeValue, _ offset: Int64, _ size: Int64, hasIndex: Bool, _ state: inout CodeState
  ) throws {
    if hasIndex {
      guard !value.leadsToObject, !state.leads(Int64.min..<Int64.max - 8) else { throw NotKnown() }
      return
    }
    if value.leadsToObject {
      guard size == 8, offset % 8 == 0, offset < frames.last ?? 0, !named.contains(where: { $0.contains(offset) })
      else {
        throw NotKnown()
      }
    }
    for (word, held) in state.slots where word < offset + size && word + (held.isNumber ? 4 : 8) > offset {
      guard (word >= offset && word + 8 <= offset + size) || !held.leadsToObject else { throw NotKnown() }
      state.slots[word] = nil
    }
    if size == 8, offset % 8 == 0, value != .other { state.slots[offset] = value }
    if size == 4, value.isNumber { state.slots[offset] = value }
    guard !state.isAtStart else { return }
    for word in stride(from: offset & ~7, to: offset + size, by: 8) { state.written.insert(word) }
  }

  /// Something is put into memory where the search does not follow it.
  mutating func keep(_ value: CodeValue, _ state: CodeState) throws {
    guard !value.leadsToObject else { throw NotKnown() }
    guard case .frame(let offset) = value else { return }
    let range = offset..<frameEnd(offset)
    guard !state.leads(range) else { throw NotKnown() }
    named.append(range)
  }

  func frameEnd(_ offset: Int64) -> Int64 { frames.filter { $0 > offset }.min() ?? Int64.max - 8 }

  func set(_ number: Int, _ value: CodeValue, _ size: Int64, _ state: inout CodeState) throws {
    guard size == 8 || !value.leadsToObject else { throw NotKnown() }
    state.registers[number] = size == 8 || size == 4 && value.isNumber ? value : .other
    if number == 9 { state.hasSixthArgument = true }
    guard state.stackPointer != nil else { throw NotKnown() }
  }
}
