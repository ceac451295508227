/// The censuses of a watch, by type over time, in bounded memory: when there are too many, neighbours are merged, and
/// what remains is the lower of their numbers, since what comes and goes is no growth.
package struct CountSeries: Sendable {
  /// Seconds since the watch began.
  package private(set) var times: [Double] = []
  /// The last census as it was.
  package private(set) var newest: TypeCounts?
  /// What the longest census took, in seconds: the program's pause, and until it was counted.
  package private(set) var longest: (pause: Double, duration: Double) = (0, 0)
  /// Censuses taken.
  package private(set) var taken = 0
  private var numbers: [String: [TypeCounts.Amount]] = [:]
  private let limit: Int
  /// How many censuses make one entry.
  private var merged = 1
  private var pending: (count: Int, time: Double, amounts: [String: TypeCounts.Amount])?

  /// - Parameter limit: most entries that are kept.
  package init(limit: Int = 2048) {
    precondition(limit >= 2)
    self.limit = limit
  }

  /// Adds a census; times must ascend.
  package mutating func add(_ counts: TypeCounts, at time: Double) {
    taken += 1
    longest = (max(longest.pause, counts.pause), max(longest.duration, counts.duration))
    newest = counts
    if let first = pending {
      pending = (first.count + 1, first.time + time, Self.lower(first.amounts, counts.amounts))
    } else {
      pending = (1, time, counts.amounts)
    }
    guard let group = pending, group.count == merged else { return }
    pending = nil
    append(group.amounts, at: group.time / Double(group.count))
    if times.count >= limit { halve() }
  }

  /// A type that is not in a census had nothing alive.
  private static func lower(
    _ a: [String: TypeCounts.Amount], _ b: [String: TypeCounts.Amount]
  ) -> [String: TypeCounts.Amount] {
    var result: [String: TypeCounts.Amount] = [:]
    for (name, first) in a {
      if let second = b[name] { result[name] = lower(first, second) }
    }
    return result
  }

  private static func lower(_ a: TypeCounts.Amount, _ b: TypeCounts.Amount) -> TypeCounts.Amount {
    TypeCounts.Amount(count: min(a.count, b.count), bytes: min(a.bytes, b.bytes))
  }

  private mutating func append(_ amounts: [String: TypeCounts.Amount], at time: Double) {
    let before = times.count
    times.append(time)
    for (name, amount) in amounts {
      var known = numbers[name] ?? Array(repeating: TypeCounts.Amount(), count: before)
      known.append(contentsOf: repeatElement(TypeCounts.Amount(), count: before - known.count))
      known.append(amount)
      numbers[name] = known
    }
  }

  private mutating func halve() {
    let count = times.count
    for (name, amounts) in numbers {
      let all = amounts + Array(repeating: TypeCounts.Amount(), count: count - amounts.count)
      numbers[name] = stride(from: 0, to: count, by: 2).map { at in
        at + 1 < count ? Self.lower(all[at], all[at + 1]) : all[at]
      }
    }
    times = stride(from: 0, to: count, by: 2).map { at in at + 1 < count ? (times[at] + times[at + 1]) / 2 : times[at]
    }
    merged *= 2
  }

  /// All types that were ever alive, sorted.
  package var names: [String] { numbers.keys.sorted() }

  /// The numbers of a type, one for each of ``times``.
  package func amounts(of name: String) -> [TypeCounts.Amount] {
    let known = numbers[name] ?? []
    return known + Array(repeating: TypeCounts.Amount(), count: times.count - known.count)
  }
}
