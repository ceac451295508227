/// Values with numbers, in the order in which each came first.
struct Numbered<Value: Hashable> {
  private(set) var all: [Value] = []
  private var numbers: [Value: UInt32] = [:]

  mutating func number(_ value: Value) -> UInt32 {
    if let known = numbers[value] { return known }
    let number = UInt32(all.count)
    numbers[value] = number
    all.append(value)
    return number
  }
}
