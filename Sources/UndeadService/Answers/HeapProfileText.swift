import UndeadProfile
import UndeadReport
import UndeadSystem

/// The text form of a heap profile, which Go's `?debug=1` has and pprof reads.
enum HeapProfileText {
  /// What is in brackets is of all allocations in Go; here it repeats what is in use, as freed memory is not recorded.
  static func render(_ sites: AllocationSites, symbols: SymbolTable) -> String {
    struct Sum {
      var count = 0
      var bytes: UInt64 = 0
    }
    var sums: [[UInt64]: Sum] = [:]
    for row in sites.rows {
      sums[row.stack, default: Sum()].count += row.count
      sums[row.stack, default: Sum()].bytes += row.bytes
    }
    let stacks = sums.sorted { a, b in
      if a.value.bytes != b.value.bytes { return a.value.bytes > b.value.bytes }
      return a.key.lexicographicallyPrecedes(b.key)
    }
    func numbers(_ sum: Sum) -> String { "\(sum.count): \(sum.bytes) [\(sum.count): \(sum.bytes)]" }
    let all = sums.values.reduce(into: Sum()) { all, sum in
      all.count += sum.count
      all.bytes += sum.bytes
    }
    // `heapprofile` means numbers as they are: they are no estimates of a sample.
    var text = "heap profile: \(numbers(all)) @ heapprofile\n"
    for (stack, sum) in stacks {
      text += "\(numbers(sum)) @\(stack.map { " 0x\(String($0, radix: 16))" }.joined())\n"
      for address in stack where address > 0 {
        for frame in symbols[address - 1] ?? [] {
          let place = VisibleText.line(frame.file.map { "\($0):\(frame.line ?? 0)" } ?? frame.module)
          text += "#\t0x\(String(address - 1, radix: 16))\t\(VisibleText.line(frame.symbol))\t\(place)\n"
        }
      }
      text += "\n"
    }
    text += "MAPPED_LIBRARIES:\n"
    for module in sites.modules {
      let range = "\(String(module.low, radix: 16))-\(String(module.high, radix: 16))"
      text += "\(range) r-xp \(String(module.low &- module.bias, radix: 16)) 00:00 0 \(VisibleText.line(module.path))\n"
    }
    return text
  }
}
