/// The signal handlers that a thread is in, found by where they return to.
enum SignalFrames {
  /// A handler may have made calls of its own.
  static let usualDepth = 32 << 10
  /// Behind the word where a handler returns to lies `struct ucontext` (<asm/ucontext.h>); rip is the 17th of its registers.
  private static let toProgramCounter: UInt64 = 8 + 40 + 16 * 8

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
      return memory.load(UInt64.self, at: stack & ~7 &+ UInt64(index) * 8 &+ toProgramCounter)
    }
  }
}
