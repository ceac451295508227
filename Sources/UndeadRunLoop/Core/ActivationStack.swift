#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// The runs of a loop that are under way, one inside the other.
struct ActivationStack {
  private struct Activation {
    var mode: Int32
    var isStopped = false
  }

  private var activations: [Activation] = []
  /// All activations end, and later ones end as they begin.
  private(set) var isStoppedForGood = false

  var depth: Int { activations.count }
  var isEmpty: Bool { activations.isEmpty }
  /// The mode of the innermost activation.
  var mode: Int32? { activations.last?.mode }

  mutating func push(mode: Int32) { activations.append(Activation(mode: mode)) }

  mutating func pop() { activations.removeLast() }

  /// Ends the innermost activation, those around it go on. Ignored while there is none.
  mutating func stop() {
    if !activations.isEmpty { activations[activations.count - 1].isStopped = true }
  }

  mutating func stopForGood() { isStoppedForGood = true }

  /// Whether the innermost activation has to end.
  var isStopped: Bool { isStoppedForGood || activations.last?.isStopped ?? false }
}
#endif
