// Numbers of files may be anything: sums and differences of them end at the largest and the least number.

extension Int {
  package func plus(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  package func minus(_ other: Int) -> Int {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  /// Without the sign.
  package var absolute: Int { Int(clamping: magnitude) }

  package mutating func addSaturating(_ size: UInt64) { self = plus(Int(clamping: size)) }
}

extension Int {
  /// The nearest number; 0 for what is none.
  package init(clamping number: Double) {
    self = number.isNaN ? 0 : Int(exactly: number.rounded()) ?? (number < 0 ? .min : .max)
  }
}

extension Sequence {
  /// The sum of a number of each element.
  package func total(_ number: (Element) -> Int) -> Int { reduce(0) { $0.plus(number($1)) } }
}
