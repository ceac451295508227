import CUndead
import Testing

/// Where captures lie, held against what the compiler did: the addresses of the objects that closures captured.
@Suite struct CaptureTests {
  struct Captured {
    var name: String
    var target: CaptureTarget
    var closure: () -> Void

    /// The second word of the closure.
    var context: UnsafeRawPointer {
      struct Closure {
        var closure: () -> Void
      }
      return withUnsafeBytes(of: Closure(closure: closure)) { bytes in
        bytes.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer?.self)!
      }
    }

    /// Whether its size is known: not of tuples with functions or thin metatypes, of associated types.
    var isSized: Bool { !name.hasPrefix("?") }
    /// Whether it captures its target at all.
    var hasTarget: Bool { !name.hasPrefix("!") }
  }

  nonisolated(unsafe) static let all: [Captured] = {
    var all: [Captured] = []
    everyCapture { all.append(Captured(name: $0, target: $1, closure: $2)) }
    return all
  }()

  @Test func targetsLieWhereTheCompilerPutThem() {
    #expect(Self.all.count > 100)
    for captured in Self.all where captured.hasTarget {
      let words = describe(captured.context).words.filter { $0.type.hasSuffix(".CaptureTarget") }
      let address = UInt(bitPattern: pointer(to: captured.target))
      for word in words where word.ownership == "strong" {
        #expect(CUndeadTests.word(captured.context, word.offset) == address, "\(captured.name)")
      }
      #expect(words.contains { $0.ownership == "strong" } == captured.isSized, "\(captured.name)")
    }
  }

  /// Asked on a thread of the program, by the names of the types alone.
  @Test func closuresOfManyKindsKnowMoreThanDeadObjects() {
    var type = [CChar](repeating: 0, count: 256)
    for captured in Self.all {
      #expect(!undead_closure_knows_only_dead(captured.context, &type, type.count), "\(captured.name)")
    }
    deadCaptures { name, closure in
      let captured = Captured(name: name, target: CaptureTarget(), closure: closure)
      #expect(undead_closure_knows_only_dead(captured.context, &type, type.count), "\(name)")
      let end = type.firstIndex(of: 0) ?? 0
      let text = String(decoding: type[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      #expect(text.isEmpty || text.hasPrefix("CUndeadTests.Capture"), "\(name): \(text)")
    }
  }

  /// No context, and what only begins like one: whatever cannot be read is not read.
  @Test func whatIsNoContextIsNotRead() {
    var type = [CChar](repeating: 0, count: 256)
    let words = UnsafeMutablePointer<UInt>.allocate(capacity: 8)
    defer { words.deallocate() }
    let metadata = UnsafeMutablePointer<UInt>.allocate(capacity: 8)
    defer { metadata.deallocate() }
    for descriptor: UInt in [0, 1, 8, 0xDEAD_0000, 1 << 46, .max & ~7, UInt(bitPattern: words)] {
      words.update(repeating: 0x4141_4141_4141_4141, count: 8)
      words[0] = UInt(bitPattern: metadata)
      metadata[0] = 0x400
      metadata[1] = 16
      metadata[2] = descriptor
      #expect(!undead_closure_knows_only_dead(words, &type, type.count))
      words[0] = descriptor
      #expect(!undead_closure_knows_only_dead(words, &type, type.count))
    }
  }
}
