import CUndeadTrace
import Glibc

/// What the filters of a thread (seccomp) say to a system call: asked of the filters themselves, as a trial may end the program.
enum SystemCallFilter {
  /// `struct sock_filter` of <linux/filter.h>.
  struct Instruction {
    var code: UInt16
    var jumpTrue: UInt8
    var jumpFalse: UInt8
    var constant: UInt32
  }

  /// A call, as filters see it (`struct seccomp_data`).
  struct Call {
    let number: Int
    let arguments: [UInt64]
    let instruction: UInt64
  }

  /// True if every filter of a thread lets every one of the calls pass; false as well if they cannot be read.
  ///
  /// The thread stands still. Reading them needs CAP_SYS_ADMIN.
  static func allows(_ calls: [Call], on thread: TracedThread) -> Bool {
    for number in 0..<64 as Range<UInt64> {
      let count = undead_trace_request(Ptrace.getFilter, thread.tid, number, 0)
      if count == -Int64(ENOENT) { return number > 0 }
      guard count > 0, count <= 4096, let program = read(number, Int(count), thread) else { return false }
      guard calls.allSatisfy({ passes(run(program, $0)) }) else { return false }
    }
    return false
  }

  private static func read(_ number: UInt64, _ count: Int, _ thread: TracedThread) -> [Instruction]? {
    var words = [UInt64](repeating: 0, count: count)
    let result = words.withUnsafeMutableBytes {
      undead_trace_request(Ptrace.getFilter, thread.tid, number, UInt64(UInt(bitPattern: $0.baseAddress!)))
    }
    guard result == Int64(count) else { return nil }
    return words.map {
      Instruction(
        code: UInt16(truncatingIfNeeded: $0), jumpTrue: UInt8(truncatingIfNeeded: $0 >> 16),
        jumpFalse: UInt8(truncatingIfNeeded: $0 >> 24), constant: UInt32(truncatingIfNeeded: $0 >> 32))
    }
  }

  /// SECCOMP_RET_ALLOW and SECCOMP_RET_LOG of <linux/seccomp.h>.
  private static func passes(_ result: UInt32?) -> Bool {
    guard let result else { return false }
    return result & 0xFFFF_0000 == 0x7FFF_0000 || result & 0xFFFF_0000 == 0x7FFC_0000
  }

  /// What a filter gives back; nil if it does what is not understood.
  static func run(_ program: [Instruction], _ call: Call) -> UInt32? {
    let data = words(call)
    var (a, x) = (UInt32(0), UInt32(0))
    var memory = [UInt32](repeating: 0, count: 16)
    var position = 0
    while position < program.count {
      let step = program[position]
      position += 1
      let k = step.constant
      switch step.code {
      // BPF_LD | BPF_W | BPF_ABS: only whole words may be asked for.
      case 0x20:
        guard k % 4 == 0, Int(k / 4) < data.count else { return nil }
        a = data[Int(k / 4)]
      case 0x80: a = UInt32(data.count * 4)
      case 0x81: x = UInt32(data.count * 4)
      case 0x00: a = k
      case 0x01: x = k
      case 0x60, 0x61, 0x02, 0x03:
        guard k < 16 else { return nil }
        switch step.code {
        case 0x60: a = memory[Int(k)]
        case 0x61: x = memory[Int(k)]
        case 0x02: memory[Int(k)] = a
        default: memory[Int(k)] = x
        }
      case 0x07: x = a
      case 0x87: a = x
      // BPF_RET of a constant, of the accumulator.
      case 0x06: return k
      case 0x16: return a
      case 0x05: position += Int(k)
      case 0x15, 0x25, 0x35, 0x45, 0x1D, 0x2D, 0x3D, 0x4D:
        position += Int(jumps(step.code, a, step.code & 8 == 0 ? k : x) ? step.jumpTrue : step.jumpFalse)
      default:
        guard step.code & 7 == 4, let value = calculated(step.code, a, step.code & 8 == 0 ? k : x) else { return nil }
        a = value
      }
    }
    return nil
  }

  private static func jumps(_ code: UInt16, _ a: UInt32, _ b: UInt32) -> Bool {
    switch code & 0xF0 {
    case 0x10: a == b
    case 0x20: a > b
    case 0x30: a >= b
    default: a & b != 0
    }
  }

  private static func calculated(_ code: UInt16, _ a: UInt32, _ b: UInt32) -> UInt32? {
    switch code & 0xF0 {
    case 0x00: a &+ b
    case 0x10: a &- b
    case 0x20: a &* b
    case 0x30: b == 0 ? nil : a / b
    case 0x40: a | b
    case 0x50: a & b
    case 0x60: b < 32 ? a << b : nil
    case 0x70: b < 32 ? a >> b : nil
    case 0x80: 0 &- a
    case 0xA0: a ^ b
    default: nil
    }
  }

  /// Number, architecture, instruction pointer, six arguments.
  private static func words(_ call: Call) -> [UInt32] {
    let x86: UInt32 = 0xC000_003E
    var words = [UInt32(truncatingIfNeeded: call.number), x86]
    for value in [call.instruction] + (0..<6).map({ $0 < call.arguments.count ? call.arguments[$0] : 0 }) {
      words.append(UInt32(truncatingIfNeeded: value))
      words.append(UInt32(truncatingIfNeeded: value >> 32))
    }
    return words
  }
}
