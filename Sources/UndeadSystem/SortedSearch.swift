extension RandomAccessCollection where Index == Int {
  /// Where the elements begin for which `predicate` holds, which are the last ones of the collection.
  ///
  /// - Complexity: logarithmic.
  @inlinable package func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
