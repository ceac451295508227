/// The signal handlers that a thread is in, found by where they return to.
enum SignalFrames {
  /// A handler may have made calls of its own.
  static let usualDepth = 32 << 10
  /// Behind the word where a handler returns to lies `struct ucontext` (<asm/ucontext.h>); rip is the 17th of its registers,
  /// the segment of code the 19th; behind all 23 is where the state of the floating point unit was saved.
  private static let toProgramCounter: UInt64 = 8 + 40 + 16 * 8
  private static let toCodeSegment: UInt64 = 8 + 40 + 18 * 8
  private static let toFloatingPointState: UInt64 = 8 + 40 + 23 * 8

  /// The low byte of `__USER_CS` <asm/segment.h>; that of Xen has another high byte.
  private static let userCode: UInt8 = 0x33

  /// `struct _fpx_sw_bytes` and the marks of <asm/sigcontext.h>.
  private static let toFirstMark: UInt64 = 464
  private static let toExtendedSize: UInt64 = toFirstMark + 4
  private static let firstMark: UInt32 = 0x4650_5853
  private static let lastMark: UInt32 = 0x4650_5845
  /// What a frame has before its floating point state; the kernel aligns that to 64 bytes.
  private static let leastBefore: UInt64 = 312
  private static let mostBefore: UInt64 = 1024
  private static let mostExtended: UInt64 = 64 << 10

  /// Where the code stood that handlers interrupted, the innermost first; nil if the stack cannot be read.
  ///
  /// - Parameters:
  ///   - stack: the thread's stack pointer.
  ///   - depth: bytes of the stack that are searched, or as many as there are.
  static func interrupted(above stack: UInt64, depth: Int = usualDepth, library: CLibrary, memory: TargetMemory)
    -> [UInt64]?
  {
    guard stack < 1 << 47 else { return nil }
    var words = [UInt64](repeating: 0, count: depth / 8)
    let count = words.withUnsafeMutableBytes { memory.read(at: stack & ~7, into: $0) } / 8
    guard count > 0 else { return nil }
    return words[..<count].indices.compactMap { index in
      guard words[index] == library.signalReturn else { return nil }
      let frame = stack & ~7 &+ UInt64(index) * 8
      return isWhole(frame, memory: memory) ? memory.load(UInt64.self, at: frame &+ toProgramCounter) : nil
    }
  }

  /// Functions leave parts of their frames unwritten, where the word of a handler that has long returned can remain. What
  /// lies around it is overwritten: such a frame does not lead to floating point state that ends as it says.
  private static func isWhole(_ frame: UInt64, memory: TargetMemory) -> Bool {
    guard memory.load(UInt8.self, at: frame &+ toCodeSegment) == userCode,
      let state = memory.load(UInt64.self, at: frame &+ toFloatingPointState)
    else { return false }
    // Kernels may save none.
    if state == 0 { return true }
    guard state % 64 == 0, state > frame, (leastBefore...mostBefore).contains(state - frame),
      let mark = memory.load(UInt32.self, at: state &+ toFirstMark),
      let size = memory.load(UInt32.self, at: state &+ toExtendedSize)
    else { return false }
    // A processor without extended state.
    if mark != firstMark { return true }
    guard (4...mostExtended).contains(UInt64(size)) else { return false }
    return memory.load(UInt32.self, at: state &+ UInt64(size) &- 4) == lastMark
  }
}
