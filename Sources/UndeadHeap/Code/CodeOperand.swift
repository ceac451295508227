/// Where an instruction has an operand.
enum CodeOperand: Equatable {
  case register(Int)
  /// Base register, scaled index register, displacement.
  case memory(Int, Int?, Int64)
  /// An address as linked.
  case absolute(UInt64)
  /// A scaled index register alone.
  case indexed(Int)

  var isRegister: Bool { if case .register = self { true } else { false } }
}
