/// Values with numbers, in the order in which each came first.
package struct Numbered<Value: Hashable> {
  package private(set) var all: [Value] = []
  private var numbers: [Value: UInt32] = [:]

  package init() {}

  package mutating func number(_ value: Value) -> UInt32 {
    if let known = numbers[value] { return known }
    let number = UInt32(all.count)
    numbers[value] = number
    all.append(value)
    return number
  }
}
