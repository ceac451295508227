// Objects that keep themselves alive, whose addresses only C code has, in registers that the functions it calls preserve.
// EXPECT silent
// HEADER ../Support/scan.h
import Foundation

final class Search {
  private var itself: Search?
  private let wanted: Int
  private var comparisons = 0
  init(for wanted: Int) {
    self.wanted = wanted
    itself = self
  }
  func compare(with element: Int) -> Int32 {
    comparisons += 1
    return wanted < element ? -1 : wanted > element ? 1 : 0
  }
  func end() -> Int {
    itself = nil
    return comparisons
  }
}
@inline(never) func begin(for wanted: Int) -> UnsafeMutableRawPointer {
  Unmanaged.passUnretained(Search(for: wanted)).toOpaque()
}
/// The context comes back from the C library for each comparison, and ends with the last.
@inline(never) func isWanted(_ context: UnsafeRawPointer?, _ element: UnsafeRawPointer?) -> Bool {
  let search = Unmanaged<Search>.fromOpaque(context!).takeUnretainedValue()
  guard search.compare(with: element!.load(as: Int.self)) == 0 else { return false }
  return search.end() > 0
}
@inline(never) func waitShortly() -> Int32 {
  usleep(300)
  return 1
}
@inline(never) func search(_ numbers: [Int], for wanted: Int) -> Bool {
  var count = numbers.count
  return lfind(begin(for: wanted), numbers, &count, MemoryLayout<Int>.stride) { context, element in
    isWanted(context, element) ? 0 : waitShortly()
  } != nil
}

nonisolated(unsafe) var goesOn = true
let ended = DispatchSemaphore(value: 0)
for start in 0..<2 {
  Thread {
    let numbers = Array(0..<30)
    var wanted = start
    while goesOn {
      wanted = (wanted + 37) % 30
      guard search(numbers, for: wanted) else { fatalError("not found") }
    }
    ended.signal()
  }.start()
}

var falseReports = 0
for _ in 0..<20 { falseReports += Int(undead_test_result(false, false).leaked) }
goesOn = false
for _ in 0..<2 { ended.wait() }
print("false reports: \(falseReports)")
