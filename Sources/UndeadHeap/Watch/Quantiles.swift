import UndeadSystem

/// Quantiles of the distributions that intervals are made of.
enum Quantiles {
  /// Of the normal distribution: `probability` of it lies below.
  ///
  /// By Newton's method on the complementary error function, from the ends of which no digit is lost.
  static func normal(_ probability: Double) -> Double {
    precondition(probability > 0 && probability < 1)
    if probability < 0.5 { return -normal(1 - probability) }
    let upper = 1 - probability
    var z = max(0, (-2 * log(max(2 * upper, 1e-300))).squareRoot() - 1)
    for _ in 0..<60 {
      let difference = erfc(z / 2.0.squareRoot()) / 2 - upper
      let density = exp(-z * z / 2) / (2 * Double.pi).squareRoot()
      let step = difference / max(density, 1e-300)
      z += min(max(step, -1), 1)
      if abs(step) < 1e-12 { break }
    }
    return z
  }

  /// Of Student's distribution with `freedom` degrees of freedom, by Hill's expansion (Communications of the ACM 13,
  /// algorithm 396): five digits and more for three degrees and up.
  static func student(_ probability: Double, freedom: Double) -> Double {
    precondition(probability > 0 && probability < 1 && freedom >= 3)
    if probability < 0.5 { return -student(1 - probability, freedom: freedom) }
    let both = 2 * (1 - probability)
    let a = 1 / (freedom - 0.5)
    let b = 48 / (a * a)
    var c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    let d = ((94.5 / (b + c) - 3) / b + 1) * (a * Double.pi / 2).squareRoot() * freedom
    var y = pow(d * both, 2 / freedom)
    if y > 0.05 + a {
      var x = -normal(probability)
      y = x * x
      if freedom < 5 { c += 0.3 * (freedom - 4.5) * (x + 0.6) }
      c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b
      y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
      x = a * y * y
      y = x > 0.002 ? exp(x) - 1 : 0.5 * x * x + x
    } else {
      let inner = ((freedom + 6) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2) * 3
      y = ((1 / inner + 0.5 / (freedom + 4)) * y - 1) * (freedom + 1) / (freedom + 2) + 1 / y
    }
    return (freedom * y).squareRoot()
  }
}
