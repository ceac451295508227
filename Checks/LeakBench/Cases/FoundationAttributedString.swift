// source: swiftlang/swift-corelibs-foundation ea1f624ced80
// A string kept its attributes as a C object that it owns, and had no `deinit` to release it. The fix adds one.
// expect: leak RunArray in Attributed.init

enum FoundationAttributedString: LeakCase {
  final class RunArray {
    var runs: [(length: Int, attributes: [String: Int])] = []
  }

  class Attributed {
    private let text: String
    private let attributes: Unmanaged<RunArray>

    @inline(never) init(_ text: String, attributes: [String: Int]) {
      self.text = text
      let runs = RunArray()
      runs.runs.append((text.count, attributes))
      self.attributes = Unmanaged.passRetained(runs)
    }

    var count: Int { attributes._withUnsafeGuaranteedRef { $0.runs.count } }

    #if FIXED
      deinit { attributes.release() }
    #endif
  }

  @inline(never) static func run(rounds: Int) {
    for round in 0..<rounds { precondition(Attributed("text", attributes: ["size": round]).count == 1) }
  }
}
