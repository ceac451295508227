/// Gives each text of a page one number.
struct HeapTexts {
  private(set) var all: [String] = []
  private var numbers: [String: Int] = [:]

  mutating func number(_ text: String) -> Int {
    if let known = numbers[text] { return known }
    numbers[text] = all.count
    all.append(text)
    return all.count - 1
  }
}
