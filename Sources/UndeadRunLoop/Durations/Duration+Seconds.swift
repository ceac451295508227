#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
// Whatever takes or tells seconds as a `Double` has a form with `Duration` in this folder. They are disfavoured overloads: an
// argument like `.zero`, which could be either, means what it meant before.

extension Duration {
  /// The same in seconds, exact to the nanosecond for anything under 52 days.
  @usableFromInline
  var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }

  /// The nearest nanosecond of so many seconds.
  init(inSeconds seconds: Double) { self = Instants.duration(Instants.nanoseconds(seconds)) }
}
#endif
