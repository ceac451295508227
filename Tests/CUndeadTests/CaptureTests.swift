import CUndead
import CUndeadTestEntry
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

  /// What the scan takes for a counted reference, with types from the bindings of the closure.
  @Test func targetsAreCounted() {
    var known = 0
    for captured in Self.all where captured.hasTarget {
      let letters = Array(evidence(of: captured.context))
      let target = UInt(bitPattern: pointer(to: captured.target))
      // No layout: nothing is known, or it depends on what a binding is made of.
      guard !letters.isEmpty else { continue }
      known += 1
      let place = letters.indices.first { CUndeadTests.word(captured.context, 16 + 8 * $0) == target }
      #expect(place.map { letters[$0] } == "c", "\(captured.name): \(String(letters))")
      for place in letters.indices where letters[place] == "c" {
        let word = CUndeadTests.word(captured.context, 16 + 8 * place)
        #expect(word % 8 == 0 && (word == 0 || word > 4096), "\(captured.name): \(String(letters))")
      }
    }
    #expect(known > 120)
  }

  /// Where the runtime cannot be asked for a type, the names of the captures alone say how large they are.
  @Test func namesAloneSayWhatIsCaptured() {
    func forms(_ context: UnsafeRawPointer) -> String {
      var text = [CChar](repeating: 0, count: 256)
      let length = withRuntimeLayer { undead_test_capture_forms(context, &text, text.count) }
      return String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    var found: [String: Int] = [:]
    for captured in Self.all { found[forms(captured.context), default: 0] += 1 }
    deadCaptures { name, closure in
      found[forms(Captured(name: name, target: CaptureTarget(), closure: closure).context), default: 0] += 1
    }
    let expected: [String: Int] = [
      "b8 b8": 2, "b8 v r8": 22, "c!e8": 1, "c!e8 c!e?8 v r8": 1, "f!e16 v r8": 6, "f!e?16 v r8": 5,
      "r16": 1, "r16 r16 r16 v r8": 1, "r16 v r8": 16, "r24 v r8": 6, "r8": 1, "r8 r8 b8 v r8": 1,
      "r8 r8 v r8": 5, "r8 v r8": 5, "v": 1, "v v r8": 35, "v v v r8": 6, "v v v? v v r8": 1,
      "v! v r8": 1, "v!? v r8": 1, "v16 v r8": 15, "v16 v24 v r8": 1, "v40 v r8": 5, "v8 v8 v r8": 5,
      "v?16 v r8": 5,
    ]
    #expect(found == expected)
  }

  /// Types that closures of the corpus do not capture, as the compiler writes them (docs/ABI/Mangling.rst).
  @Test func namesOfTypesOfSIL() {
    // As in a program: in its image, where they are read.
    let names: [(StaticString, String)] = [
      ("4main3AppC", "v8"), ("4main3AppCSgSg", "v?8"), ("Bo", "v8"), ("BoXo", "r8"), ("4main3AppVXo", "r"),
      ("x", "v"), ("xXo", "r8"), ("q_Xo", "r8"), ("qd_0_Xo", "r8"), ("qd__Xo", "r8"), ("qa_Xo", "r"),
      ("x4ItemQzXo", "r8"),
      ("x4Item5ValueQZXo", "r8"),
      ("q_4ItemQy_Xo", "r8"), ("xXDXo", "r8"), ("SH_SQpXo", "r24"), ("SE_S1pXo", "r"), ("Sc_pXo", "r"),
      ("ScA_pXo", "r16"),
      ("yXl", "v8"), ("yXlSg", "v?8"), ("SH_4main3AppCXc", "v16"), ("SH_4main3AppVXc", "v"),
      ("4main3AppCXMt", "v!0"), ("SiXMT", "v8"), ("SiXMo", "v8"), ("SiXMTSg", "v?8"), ("SH_pXmT", "v16"),
      ("SiXmT", "v"),
      ("Ieg_", "f!e16"), ("Ieg_Sg", "f!e?16"), ("Ig_", "f!16"), ("SiIegy_", "f!e16"), ("IsPegy_", "f!e16"),
      ("IegyH_", "f!e16"),
      ("Iey_", "f!e16"), ("Iex_", "f!e16"), ("Iet_", "c!e8"), ("IeAgHy_", "f!e16"), ("Iefg_", "v!e"), ("IegB_", "c!e8"),
      ("IeyB_", "c!e8"), ("IeyC_", "c!e8"), ("IeyzB3abc_", "v"), ("IeyzC3abc_", "v"), ("IeyK_", "c!e8"),
      ("I4_ieg_", "v"),
    ]
    for (name, expected) in names {
      var text = [CChar](repeating: 0, count: 64)
      let length = withRuntimeLayer {
        name.withUTF8Buffer {
          undead_test_form_of_name(
            UnsafeRawPointer($0.baseAddress!).assumingMemoryBound(to: CChar.self), &text, text.count)
        }
      }
      #expect(String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) == expected, "\(name)")
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
