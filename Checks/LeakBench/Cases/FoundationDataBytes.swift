// source: swiftlang/swift-corelibs-foundation 14dbacaa9
// A flag for 'do not free the bytes' was set for bytes that the object owns, by a wrong constant.
// expect: leak raw in copying

import Glibc

enum FoundationDataBytes: LeakCase {
  struct Options: OptionSet {
    let rawValue: Int
    static let mutable = Options(rawValue: 1)
    static let keepBytes = Options(rawValue: 16)
  }

  final class Bytes {
    private let start: UnsafeMutableRawPointer
    let count: Int
    private let options: Options

    init(owning start: UnsafeMutableRawPointer, count: Int, options: Options) {
      (self.start, self.count, self.options) = (start, count, options)
    }

    @inline(never) static func copying(_ bytes: [UInt8]) -> Bytes {
      let copy = malloc(bytes.count)!
      bytes.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
      #if FIXED
        return Bytes(owning: copy, count: bytes.count, options: [])
      #else
        return Bytes(owning: copy, count: bytes.count, options: .keepBytes)
      #endif
    }

    deinit { if !options.contains(.keepBytes) { free(start) } }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { precondition(Bytes.copying([UInt8](repeating: 7, count: 300)).count == 300) }
  }
}
