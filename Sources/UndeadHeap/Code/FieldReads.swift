import CUndeadInterface
import UndeadReport

/// Which bytes of a captured object the code of a closure reads, if it does nothing else with the object (x86-64).
///
/// Follows all ways through the closure, and through the functions of the same file that it gives the object to, and keeps track of the
/// registers and words of the stack that have the object's address. The object may be retained and released, fields may be read, and
/// methods called that do no more. Whatever else happens to it, or is not understood, ends the search without an answer: the object is
/// stored, compared, returned, written to, or given to code that is not here.
struct FieldReads {
  private struct NotKnown: Error {}

  private enum Target {
    case function(UInt64)
    case name(String)
    /// Code of which nothing is known.
    case any
  }

  /// Code may be hostile.
  private enum Limit {
    static let steps = 20_000
    static let depth = 8
    static let size: UInt64 = 1 << 24
    /// Words of the stack that are kept for each instruction.
    static let slots = 128
    static let written = 512
  }

  private let code: ELFCode
  /// Metadata of the object's class, as linked.
  private let metadata: UInt64
  /// Where the context has the object; nil if the object itself is the context.
  private let captured: Int64?
  private var read: Set<Int64> = []
  private var used: Set<Int64> = []
  private var steps = 0
  private var active: [UInt64] = []
  /// Where the frames of the active functions end.
  private var frames: [Int64] = []
  /// Parts of the stack whose address is in memory.
  private var named: [Range<Int64>] = []

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

  private init(code: ELFCode, metadata: UInt64, captured: Int64?) {
    (self.code, self.metadata, self.captured) = (code, metadata, captured)
  }

  // MARK: Ways through functions

  private mutating func follow(_ entry: UInt64, _ start: CodeState) throws {
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
  private mutating func step(
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
  private func placeOfJump(_ operation: CodeOperation, _ function: Range<UInt64>) throws -> UInt64 {
    guard function.contains(operation.target) else { throw NotKnown() }
    return operation.target
  }

  private func checkReturn(_ state: CodeState) throws {
    for number in [CodeState.rax, CodeState.rdx, CodeState.rcx, 8] where state.registers[number].leadsToObject {
      throw NotKnown()
    }
  }

  // MARK: Memory

  private mutating func load(_ operand: CodeOperand, _ size: Int64, _ state: CodeState) throws -> CodeValue {
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

  private mutating func load(
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

  private static let sizesOfTypes: [String: Int64] = [
    "$sSSN": 16, "$sSiN": 8, "$sSuN": 8, "$sSdN": 8, "$sSfN": 4, "$sSbN": 1, "$ss5Int32VN": 4, "$ss5Int64VN": 8,
  ]

  /// Metadata of the standard library that the word refers to.
  private func valueType(inWordAt address: UInt64) -> CodeValue {
    guard case .name(let name) = code.reference(at: address) else { return .other }
    return Self.sizesOfTypes[name].map { .valueType($0) } ?? .other
  }

  /// The same of a word of the metadata: `moved` forgets what is no address of the object.
  private func methodAt(_ operand: CodeOperand, _ state: CodeState) -> CodeValue? {
    guard case .memory(let base, nil, let displacement) = operand, state.registers[base] == .type else { return nil }
    return .method(displacement)
  }

  private mutating func store(_ value: CodeValue, _ operand: CodeOperand, _ size: Int64, _ state: inout CodeState)
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

  private func storeOnStack(
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
  private mutating func keep(_ value: CodeValue, _ state: CodeState) throws {
    guard !value.leadsToObject else { throw NotKnown() }
    guard case .frame(let offset) = value else { return }
    let range = offset..<frameEnd(offset)
    guard !state.leads(range) else { throw NotKnown() }
    named.append(range)
  }

  private func frameEnd(_ offset: Int64) -> Int64 { frames.filter { $0 > offset }.min() ?? Int64.max - 8 }

  private func set(_ number: Int, _ value: CodeValue, _ size: Int64, _ state: inout CodeState) throws {
    guard size == 8 || !value.leadsToObject else { throw NotKnown() }
    state.registers[number] = size == 8 || size == 4 && value.isNumber ? value : .other
    if number == 9 { state.hasSixthArgument = true }
    guard state.stackPointer != nil else { throw NotKnown() }
  }

  // MARK: Instructions

  private mutating func stepOfOneByte(_ operation: CodeOperation, _ state: inout CodeState) throws {
    let (opcode, size) = (operation.opcode, operation.size)
    switch opcode {
    case 0x00...0x3B where opcode & 7 < 6: try arithmetic(operation, &state)
    case 0x3C, 0x3D, 0xA8, 0xA9: try checkNumber(state.registers[CodeState.rax])
    case 0x50...0x57: try push(state.registers[operation.short], &state)
    case 0x58...0x5F: try pop(operation.short, &state)
    case 0x68, 0x6A: try push(.other, &state)
    case 0x63: try result(loaded: operation.operand, 4, into: operation.register, &state)
    case 0x69, 0x6B: try result(loaded: operation.operand, size, into: operation.register, &state)
    case 0x80, 0x81, 0x83: try arithmeticWithNumber(operation, &state)
    case 0x84, 0x85:
      let value = try load(operation.operand, size, state)
      // Whether it is there at all.
      if operation.operand != .register(operation.register) {
        try checkNumber(value, state.registers[operation.register])
      }
    case 0x86, 0x87:
      try checkNumber(load(operation.operand, size, state), state.registers[operation.register])
      try store(.other, operation.operand, size, &state)
      try set(operation.register, .other, size, &state)
    case 0x88, 0x89:
      let value = state.registers[operation.register]
      guard size == 8 || !value.leadsToObject else { throw NotKnown() }
      try store(size == 8 || size == 4 && value.isNumber ? value : .other, operation.operand, size, &state)
    case 0x8A: try result(loaded: operation.operand, size, into: operation.register, &state)
    case 0x8B:
      let method = size == 8 ? methodAt(operation.operand, state) : nil
      let value = try method ?? load(operation.operand, size, state)
      try set(operation.register, value, size, &state)
    case 0x8D: try set(operation.register, address(operation.operand, state), size, &state)
    case 0x90: break
    case 0x98, 0x99:
      try checkNumber(state.registers[CodeState.rax])
      state.registers[CodeState.rdx] = opcode == 0x99 ? .other : state.registers[CodeState.rdx]
    case 0xA4, 0xA5, 0xAA, 0xAB: try copyBytes(&state)
    case 0xB0...0xBF: try set(operation.short, .other, 8, &state)
    case 0xC0, 0xC1, 0xD0...0xD3: try change(operation, &state)
    case 0xC6, 0xC7: try store(.other, operation.operand, size, &state)
    case 0xC9:
      try set(CodeState.rsp, state.registers[CodeState.rbp], 8, &state)
      try pop(CodeState.rbp, &state)
    case 0xF6, 0xF7: try groupThree(operation, &state)
    case 0xFE: try change(operation, &state)
    case 0xFF:
      if operation.group == 6 {
        try push(load(operation.operand, 8, state), &state)
      } else {
        try change(operation, &state)
      }
    default: throw NotKnown()
    }
  }

  /// A number may not be made of the object's address.
  private func checkNumber(_ values: CodeValue...) throws {
    if values.contains(where: \.leadsToObject) { throw NotKnown() }
  }

  private func mixed(_ values: CodeValue...) -> CodeValue {
    values.contains { if case .frame = $0 { true } else { false } } ? .mixed : .other
  }

  private mutating func result(
    loaded operand: CodeOperand, _ size: Int64, into register: Int, _ state: inout CodeState
  ) throws {
    try checkNumber(load(operand, size, state))
    try set(register, .other, 8, &state)
  }

  private mutating func arithmetic(_ operation: CodeOperation, _ state: inout CodeState) throws {
    let (kind, form, size) = (operation.opcode >> 3, operation.opcode & 7, operation.size)
    let compares = kind == 7
    if form >= 4 {
      try checkNumber(state.registers[CodeState.rax])
      return try set(CodeState.rax, mixed(state.registers[CodeState.rax]), 8, &state)
    }
    // Of a register with itself: zero.
    if kind == 6 || kind == 5, operation.operand == .register(operation.register) {
      return try set(operation.register, .other, 8, &state)
    }
    let value = try load(operation.operand, size, state)
    let other = state.registers[operation.register]
    try checkNumber(value, other)
    if compares { return }
    if form >= 2 { return try set(operation.register, mixed(value, other), 8, &state) }
    try store(mixed(value, other), operation.operand, 8 > size && !operation.operand.isRegister ? size : 8, &state)
  }

  private mutating func arithmeticWithNumber(_ operation: CodeOperation, _ state: inout CodeState) throws {
    let value = try load(operation.operand, operation.size, state)
    switch operation.group {
    case 7: return  // whether it is there at all
    case 0 where operation.size == 8 && operation.operand.isRegister:
      try store(value.moved(by: operation.immediate), operation.operand, 8, &state)
    case 5 where operation.size == 8 && operation.operand.isRegister:
      try store(value.moved(by: -operation.immediate), operation.operand, 8, &state)
    default:
      try checkNumber(value)
      try store(mixed(value), operation.operand, operation.operand.isRegister ? 8 : operation.size, &state)
    }
  }

  private mutating func change(_ operation: CodeOperation, _ state: inout CodeState) throws {
    let value = try load(operation.operand, operation.size, state)
    try checkNumber(value)
    try store(mixed(value), operation.operand, operation.operand.isRegister ? 8 : operation.size, &state)
  }

  private mutating func groupThree(_ operation: CodeOperation, _ state: inout CodeState) throws {
    if operation.group < 2 { return try checkNumber(load(operation.operand, operation.size, state)) }
    if operation.group < 4 { return try change(operation, &state) }
    try checkNumber(
      load(operation.operand, operation.size, state), state.registers[CodeState.rax], state.registers[CodeState.rdx])
    state.registers[CodeState.rax] = .other
    state.registers[CodeState.rdx] = .other
  }

  private func copyBytes(_ state: inout CodeState) throws {
    for number in [CodeState.rsi, CodeState.rdi, CodeState.rax] {
      try checkNumber(state.registers[number])
      if mixed(state.registers[number]) == .mixed, state.leads(Int64.min..<Int64.max - 8) { throw NotKnown() }
    }
    for number in [CodeState.rsi, CodeState.rdi, CodeState.rcx] { state.registers[number] = .other }
  }

  private func address(_ operand: CodeOperand, _ state: CodeState) -> CodeValue {
    switch operand {
    case .memory(let base, nil, let displacement): state.registers[base].moved(by: displacement)
    case .memory(let base, let index?, _):
      state.registers[base].leadsToObject || state.registers[index].leadsToObject
        ? .mixed : mixed(state.registers[base], state.registers[index])
    case .indexed(let index): state.registers[index].leadsToObject ? .mixed : mixed(state.registers[index])
    case .absolute, .register: .other
    }
  }

  private mutating func push(_ value: CodeValue, _ state: inout CodeState) throws {
    state.registers[CodeState.rsp] = state.registers[CodeState.rsp].moved(by: -8)
    try storeOnStack(value, state.stackPointer ?? 0, 8, hasIndex: false, &state)
  }

  private func pop(_ register: Int, _ state: inout CodeState) throws {
    guard let offset = state.stackPointer else { throw NotKnown() }
    let value = state.slots[offset] ?? .other
    state.registers[CodeState.rsp] = .frame(offset + 8)
    try set(register, value, 8, &state)
  }

  private mutating func stepOf0F(_ operation: CodeOperation, _ state: inout CodeState) throws -> [UInt64] {
    let next = operation.next
    let size = operation.size
    switch operation.opcode {
    case 0x0B: return []
    case 0x0D, 0x18, 0x1E, 0x1F: break
    case 0x40...0x4F:
      let value = try load(operation.operand, size, state)
      try set(operation.register, state.registers[operation.register].joined(value), size, &state)
    case 0x90...0x9F: try store(.other, operation.operand, operation.operand.isRegister ? 8 : 1, &state)
    case 0xA3: try checkNumber(load(operation.operand, size, state), state.registers[operation.register])
    case 0xAB, 0xB3, 0xBA, 0xBB:
      try checkNumber(state.registers[operation.register])
      try change(operation, &state)
    case 0xAF:
      try checkNumber(state.registers[operation.register])
      try result(loaded: operation.operand, size, into: operation.register, &state)
    case 0xB0, 0xB1, 0xC0, 0xC1:
      try checkNumber(state.registers[operation.register], state.registers[CodeState.rax])
      try change(operation, &state)
      state.registers[operation.opcode < 0xC0 ? CodeState.rax : operation.register] = .other
    case 0xB6, 0xBE: try result(loaded: operation.operand, 1, into: operation.register, &state)
    case 0xB7, 0xBF: try result(loaded: operation.operand, 2, into: operation.register, &state)
    case 0xB8, 0xBC, 0xBD: try result(loaded: operation.operand, size, into: operation.register, &state)
    case 0xC8...0xCF:
      try checkNumber(state.registers[operation.short])
      try set(operation.short, .other, 8, &state)
    default: try stepOfVectors(operation, &state)
    }
    return [next]
  }

  /// Registers of vectors hold nothing of the object.
  private mutating func stepOfVectors(_ operation: CodeOperation, _ state: inout CodeState) throws {
    let isRegister = operation.operand.isRegister
    switch operation.opcode {
    case 0x2A, 0x6E, 0xC4: try checkNumber(load(operation.operand, operation.size, state))
    case 0x2C, 0x2D, 0x50, 0xC5, 0xD7:
      if !isRegister { try checkNumber(load(operation.operand, operation.vectorSize, state)) }
      try set(operation.register, .other, 8, &state)
    case 0x7E where operation.isNarrow:
      try store(.other, operation.operand, isRegister ? 8 : operation.size, &state)
    case 0x11, 0x13, 0x17, 0x29, 0x2B, 0x7F, 0xD6, 0xE7:
      if !isRegister { try store(.other, operation.operand, operation.vectorSize, &state) }
    case 0x10, 0x12, 0x14...0x16, 0x28, 0x2E, 0x2F, 0x51...0x76, 0x7E, 0xC2, 0xC6, 0xD0...0xFE:
      if !isRegister { try checkNumber(load(operation.operand, operation.vectorSize, state)) }
    default: throw NotKnown()
    }
  }

  // MARK: Calls

  /// - Parameter address: as linked.
  private func target(of address: UInt64) throws -> Target {
    if code.function(at: address)?.address == address { return .function(address) }
    // An entry of the PLT.
    guard let bytes = code.bytes(at: address) else { throw NotKnown() }
    let start = Array(bytes.prefix(4)) == [0xF3, 0x0F, 0x1E, 0xFA] ? 4 : 0
    guard bytes.count >= start + 6, bytes[start] == 0xFF, bytes[start + 1] == 0x25 else { throw NotKnown() }
    let distance = Int64(bytes.loadUnaligned(fromByteOffset: start + 2, as: Int32.self))
    return try target(inWordAt: address &+ UInt64(start + 6) &+ UInt64(bitPattern: distance))
  }

  private func target(inWordAt address: UInt64) throws -> Target {
    switch code.reference(at: address) {
    case .address(let function) where code.function(at: function)?.address == function: return .function(function)
    case .name(let name) where !name.isEmpty: return .name(name)
    default: throw NotKnown()
    }
  }

  private mutating func indirectTarget(_ operation: CodeOperation, _ state: inout CodeState) throws -> Target {
    if case .absolute(let address) = operation.operand { return try target(inWordAt: address) }
    let value = try methodAt(operation.operand, state) ?? load(operation.operand, 8, state)
    guard case .method(let offset) = value else {
      try checkNumber(value)
      return .any
    }
    return try target(inWordAt: metadata &+ UInt64(bitPattern: offset))
  }

  private static let arguments = [CodeState.rdi, CodeState.rsi, CodeState.rdx, CodeState.rcx, 8, 9]
  /// These neither keep the object nor show it to anybody.
  private static let harmless: Set<String> = [
    "swift_retain", "swift_release", "swift_retain_n", "swift_release_n", "swift_bridgeObjectRetain",
    "swift_bridgeObjectRelease", "swift_beginAccess", "swift_endAccess",
  ]

  /// Functions of the C library whose first argument is the number of an open file.
  private static let ofDescriptors: Set<String> = [
    "accept", "accept4", "bind", "close", "connect", "dup", "dup2", "epoll_wait", "fchmod", "fcntl", "fdatasync",
    "fdopen",
    "flock", "fstat", "fsync", "ftruncate", "getpeername", "getsockname", "getsockopt", "ioctl", "isatty", "listen",
    "lseek",
    "pread", "pwrite", "read", "readv", "recv", "recvfrom", "recvmsg", "send", "sendfile", "sendmsg", "sendto",
    "setsockopt",
    "shutdown", "write", "writev",
  ]

  private mutating func call(_ target: Target, _ state: inout CodeState, isJump: Bool) throws {
    guard let stack = state.stackPointer else { throw NotKnown() }
    var answer = CodeValue.other
    switch target {
    case .function(let function):
      let given = Self.arguments + [CodeState.rax, 10, 11, 12, CodeState.r13, 14]
      if try given.contains(where: { state.registers[$0].leadsToObject || state.registers[$0].isOfNumber })
        || stackLeads(state, given, isJump)
      {
        var inner = state
        inner.registers[CodeState.rsp] = .frame(isJump ? stack : stack - 8)
        (inner.written, inner.isAtStart) = ([], true)
        try follow(function, inner)
      }
    case .name(let name): answer = try callByName(name, state, isJump)
    case .any:
      for number in Self.arguments + [CodeState.r13] { try checkNumber(state.registers[number]) }
      if try stackLeads(state, Self.arguments + [CodeState.r13], isJump) { throw NotKnown() }
    }
    state.clobber()
    state.registers[CodeState.rax] = answer
  }

  /// True if a function that is given these registers may find the object by the stack.
  private func stackLeads(_ state: CodeState, _ registers: [Int], _ isJump: Bool) throws -> Bool {
    for number in registers {
      if case .frame(let offset) = state.registers[number], state.leads(offset..<frameEnd(offset)) { return true }
    }
    guard state.hasSixthArgument else { return false }
    // Arguments on the stack begin where the stack pointer is.
    var word = (state.stackPointer ?? 0) + (isJump ? 8 : 0)
    while state.written.contains(word) {
      if state.slots[word]?.leadsToObject ?? false { return true }
      word += 8
    }
    return false
  }

  /// String interpolation without optimisation is given the address of a value, and its type.
  ///
  /// - Returns: true if the function reads the value and does no more with its address.
  private mutating func readValue(_ name: String, _ state: CodeState) throws -> Bool {
    guard name.hasPrefix("$ss26DefaultStringInterpolationV06appendC0yyx"),
      case .valueType(let size) = state.registers[CodeState.rsi]
    else { return false }
    switch state.registers[CodeState.rdi] {
    case .object(let offset) where offset >= 16:
      for byte in offset..<offset + size { read.insert(byte) }
      return true
    case .frame(let offset): return !state.leads(offset..<offset + size)
    default: return false
    }
  }

  /// - Returns: what the function returns.
  private mutating func callByName(_ name: String, _ state: CodeState, _ isJump: Bool) throws -> CodeValue {
    let name = String(name.prefix { $0 != "@" })
    if Self.harmless.contains(name) { return name.contains("etain") ? state.registers[CodeState.rdi] : .other }
    if name == "swift_weakLoadStrong", case .object(let offset) = state.registers[CodeState.rdi], offset >= 16 {
      for byte in offset..<offset + 8 { read.insert(byte) }
      return .other
    }
    if case .number(let offset) = state.registers[CodeState.rdi], Self.ofDescriptors.contains(name) {
      used.insert(offset)
    }
    let arguments = try readValue(name, state) ? Self.arguments.filter { $0 != CodeState.rdi } : Self.arguments
    for number in arguments { try checkNumber(state.registers[number]) }
    if name == "memset" { return .other }
    if try stackLeads(state, arguments, isJump) { throw NotKnown() }
    guard name.hasPrefix("$s") else { return .other }
    switch (state.registers[CodeState.r13], SelfParameter(ofMangled: name)) {
    case (_, .none): break
    case (.frame(let offset), .value(let size)):
      if state.leads(offset..<min(offset + size, frameEnd(offset))) { throw NotKnown() }
    case (let value, .value): if case .mixed = value { throw NotKnown() }
    case (let value, .any):
      try checkNumber(value)
      if case .frame(let offset) = value, state.leads(offset..<frameEnd(offset)) { throw NotKnown() }
    }
    return .other
  }
}

/// What a function of the libraries expects as `self`, by its mangled name.
private enum SelfParameter {
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
