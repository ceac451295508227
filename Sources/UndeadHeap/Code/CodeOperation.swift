import CUndeadInterface

/// An instruction of x86-64 code, with its operands (Intel SDM vol. 2, chapter 2).
struct CodeOperation {
  private enum Rex {
    static let (w, r, x, b): (UInt8, UInt8, UInt8, UInt8) = (8, 4, 2, 1)
  }

  let opcode: UInt8
  /// Address of the instruction behind it.
  let next: UInt64
  let immediate: Int64
  /// That of the ModRM byte, or of the operand where it is one.
  let register: Int
  /// The same bits where they extend the opcode.
  let group: UInt8
  /// The register in the opcode itself.
  let short: Int
  let operand: CodeOperand
  /// Bytes of the operands; of vectors see ``vectorSize``.
  let size: Int64
  let isNarrow: Bool
  private let repeated: UInt8

  init(_ instruction: undead_instruction, _ next: UInt64) {
    let (rex, modrm, opcode) = (instruction.rex, instruction.modrm, instruction.opcode)
    self.opcode = opcode
    self.next = next
    immediate = instruction.immediate
    isNarrow = instruction.is_narrow
    repeated = instruction.repeat
    group = modrm >> 3 & 7
    let isOfBytes = instruction.map == 0 && Self.isOfBytes(opcode)
    size = isOfBytes ? 1 : rex & Rex.w != 0 ? 8 : instruction.is_narrow ? 2 : 4
    /// Without a REX prefix, the numbers 4 to 7 are the second bytes of the first four registers.
    func number(_ low: UInt8, _ bit: UInt8) -> Int {
      isOfBytes && rex == 0 && low >= 4 ? Int(low) - 4 : Int(low) + (rex & bit != 0 ? 8 : 0)
    }
    register = number(modrm >> 3 & 7, Rex.r)
    short = number(opcode & 7, Rex.b)
    operand = Self.operand(instruction, next, number(modrm & 7, Rex.b))
  }

  private static func operand(_ instruction: undead_instruction, _ next: UInt64, _ register: Int) -> CodeOperand {
    let (rex, modrm, sib) = (instruction.rex, instruction.modrm, instruction.sib)
    let mode = modrm >> 6
    guard instruction.has_modrm, mode != 3 else { return .register(register) }
    let extra = rex & Rex.b != 0 ? 8 : 0
    guard instruction.has_sib else {
      if mode == 0, modrm & 7 == 5 { return .absolute(next &+ UInt64(bitPattern: instruction.displacement)) }
      return .memory(Int(modrm & 7) + extra, nil, instruction.displacement)
    }
    let index = Int(sib >> 3 & 7) + (rex & Rex.x != 0 ? 8 : 0)
    if mode == 0, sib & 7 == 5 { return index == 4 ? .absolute(0) : .indexed(index) }
    return .memory(Int(sib & 7) + extra, index == 4 ? nil : index, instruction.displacement)
  }

  private static func isOfBytes(_ opcode: UInt8) -> Bool {
    switch opcode {
    case 0x00...0x3F: opcode & 1 == 0
    case 0x80, 0x84, 0x86, 0x88, 0x8A, 0xA8, 0xB0...0xB7, 0xC0, 0xC6, 0xD0, 0xD2, 0xF6, 0xFE: true
    default: false
    }
  }

  /// True for what saves registers at the start of a function: push, and `mov %rsp, %rbp`.
  var isOfStart: Bool {
    (0x50...0x57).contains(opcode)
      || (opcode == 0x89 && register == CodeState.rsp && operand == .register(CodeState.rbp))
  }

  /// Where a jump or call leads.
  var target: UInt64 { next &+ UInt64(bitPattern: immediate) }

  /// Bytes of an operand in memory of an instruction for vectors; the most where it is not known.
  var vectorSize: Int64 {
    switch opcode {
    case 0x12, 0x13, 0x16, 0x17, 0xD6: 8
    case 0x2E, 0x2F: isNarrow ? 8 : 4
    case 0x7E: 8
    case 0x10, 0x11, 0x2C, 0x2D, 0x51...0x5F: repeated == 0xF3 ? 4 : repeated == 0xF2 ? 8 : 16
    default: 16
    }
  }
}
