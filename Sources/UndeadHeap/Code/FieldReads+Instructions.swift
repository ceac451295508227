/// What single instructions do to registers and the stack.
extension FieldReads {
  mutating func stepOfOneByte(_ operation: CodeOperation, _ state: inout CodeState) throws {
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
  func checkNumber(_ values: CodeValue...) throws {
    if values.contains(where: \.leadsToObject) { throw NotKnown() }
  }

  func mixed(_ values: CodeValue...) -> CodeValue {
    values.contains { if case .frame = $0 { true } else { false } } ? .mixed : .other
  }

  mutating func result(
    loaded operand: CodeOperand, _ size: Int64, into register: Int, _ state: inout CodeState
  ) throws {
    try checkNumber(load(operand, size, state))
    try set(register, .other, 8, &state)
  }

  mutating func arithmetic(_ operation: CodeOperation, _ state: inout CodeState) throws {
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

  mutating func arithmeticWithNumber(_ operation: CodeOperation, _ state: inout CodeState) throws {
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

  mutating func change(_ operation: CodeOperation, _ state: inout CodeState) throws {
    let value = try load(operation.operand, operation.size, state)
    try checkNumber(value)
    try store(mixed(value), operation.operand, operation.operand.isRegister ? 8 : operation.size, &state)
  }

  mutating func groupThree(_ operation: CodeOperation, _ state: inout CodeState) throws {
    if operation.group < 2 { return try checkNumber(load(operation.operand, operation.size, state)) }
    if operation.group < 4 { return try change(operation, &state) }
    try checkNumber(
      load(operation.operand, operation.size, state), state.registers[CodeState.rax], state.registers[CodeState.rdx])
    state.registers[CodeState.rax] = .other
    state.registers[CodeState.rdx] = .other
  }

  func copyBytes(_ state: inout CodeState) throws {
    for number in [CodeState.rsi, CodeState.rdi, CodeState.rax] {
      try checkNumber(state.registers[number])
      if mixed(state.registers[number]) == .mixed, state.leads(Int64.min..<Int64.max - 8) { throw NotKnown() }
    }
    for number in [CodeState.rsi, CodeState.rdi, CodeState.rcx] { state.registers[number] = .other }
  }

  func address(_ operand: CodeOperand, _ state: CodeState) -> CodeValue {
    switch operand {
    case .memory(let base, nil, let displacement): state.registers[base].moved(by: displacement)
    case .memory(let base, let index?, _):
      state.registers[base].leadsToObject || state.registers[index].leadsToObject
        ? .mixed : mixed(state.registers[base], state.registers[index])
    case .indexed(let index): state.registers[index].leadsToObject ? .mixed : mixed(state.registers[index])
    case .absolute, .register: .other
    }
  }

  mutating func push(_ value: CodeValue, _ state: inout CodeState) throws {
    state.registers[CodeState.rsp] = state.registers[CodeState.rsp].moved(by: -8)
    try storeOnStack(value, state.stackPointer ?? 0, 8, hasIndex: false, &state)
  }

  func pop(_ register: Int, _ state: inout CodeState) throws {
    guard let offset = state.stackPointer else { throw NotKnown() }
    let value = state.slots[offset] ?? .other
    state.registers[CodeState.rsp] = .frame(offset + 8)
    try set(register, value, 8, &state)
  }

  mutating func stepOf0F(_ operation: CodeOperation, _ state: inout CodeState) throws -> [UInt64] {
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
  mutating func stepOfVectors(_ operation: CodeOperation, _ state: inout CodeState) throws {
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
}
