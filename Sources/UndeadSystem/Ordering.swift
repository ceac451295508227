/// Sorting that is compiled once. The library's is compiled again for each type that is sorted, which took a tenth of the optimiser's time
/// for the modules that make reports; what sorts millions goes on with that.

extension Sequence {
  /// The elements sorted so that none comes before one that `isBefore` puts before it; equal ones keep their order.
  package func ordered(by isBefore: (Element, Element) -> Bool) -> [Element] {
    let all = Array(self)
    return order(of: all.count) { isBefore(all[$0], all[$1]) }.map { all[$0] }
  }
}

extension Sequence where Element: Comparable {
  /// The elements in ascending order.
  package func ordered() -> [Element] { ordered(by: <) }
}

/// The numbers below `count`, sorted by what `isBefore` says of two of them.
@inline(never)
private func order(of count: Int, by isBefore: (Int, Int) -> Bool) -> [Int] {
  (0..<count).sorted(by: isBefore)
}
