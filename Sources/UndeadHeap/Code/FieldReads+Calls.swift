/// What functions do that are called: those of the same file are followed, others are known by their names.
extension FieldReads {
  /// - Parameter address: as linked.
  func target(of address: UInt64) throws -> Target {
    if code.function(at: address)?.address == address { return .function(address) }
    // An entry of the PLT.
    guard let bytes = code.bytes(at: address) else { throw NotKnown() }
    let start = Array(bytes.prefix(4)) == [0xF3, 0x0F, 0x1E, 0xFA] ? 4 : 0
    guard bytes.count >= start + 6, bytes[start] == 0xFF, bytes[start + 1] == 0x25 else { throw NotKnown() }
    let distance = Int64(bytes.loadUnaligned(fromByteOffset: start + 2, as: Int32.self))
    return try target(inWordAt: address &+ UInt64(start + 6) &+ UInt64(bitPattern: distance))
  }

  func target(inWordAt address: UInt64) throws -> Target {
    switch code.reference(at: address) {
    case .address(let function) where code.function(at: function)?.address == function: return .function(function)
    case .name(let name) where !name.isEmpty: return .name(name)
    default: throw NotKnown()
    }
  }

  mutating func indirectTarget(_ operation: CodeOperation, _ state: inout CodeState) throws -> Target {
    if case .absolute(let address) = operation.operand { return try target(inWordAt: address) }
    let value = try methodAt(operation.operand, state) ?? load(operation.operand, 8, state)
    guard case .method(let offset) = value else {
      try checkNumber(value)
      return .any
    }
    return try target(inWordAt: metadata &+ UInt64(bitPattern: offset))
  }

  static let arguments = [CodeState.rdi, CodeState.rsi, CodeState.rdx, CodeState.rcx, 8, 9]
  /// These neither keep the object nor show it to anybody.
  static let harmless: Set<String> = [
    "swift_retain", "swift_release", "swift_retain_n", "swift_release_n", "swift_bridgeObjectRetain",
    "swift_bridgeObjectRelease", "swift_beginAccess", "swift_endAccess",
  ]

  /// Functions of the C library whose first argument is the number of an open file.
  static let ofDescriptors: Set<String> = [
    "accept", "accept4", "bind", "close", "connect", "dup", "dup2", "epoll_wait", "fchmod", "fcntl", "fdatasync",
    "fdopen",
    "flock", "fstat", "fsync", "ftruncate", "getpeername", "getsockname", "getsockopt", "ioctl", "isatty", "listen",
    "lseek",
    "pread", "pwrite", "read", "readv", "recv", "recvfrom", "recvmsg", "send", "sendfile", "sendmsg", "sendto",
    "setsockopt",
    "shutdown", "write", "writev",
  ]

  mutating func call(_ target: Target, _ state: inout CodeState, isJump: Bool) throws {
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
  func stackLeads(_ state: CodeState, _ registers: [Int], _ isJump: Bool) throws -> Bool {
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
  mutating func readValue(_ name: String, _ state: CodeState) throws -> Bool {
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
  mutating func callByName(_ name: String, _ state: CodeState, _ isJump: Bool) throws -> CodeValue {
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
