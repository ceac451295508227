/// The same numbers for the same seed (SplitMix64, Steele, Lea and Flood 2014).
struct Random: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
    return word ^ word >> 31
  }

  mutating func below(_ end: Int) -> Int { Int.random(in: 0..<end, using: &self) }
  mutating func percent(_ share: Int) -> Bool { below(100) < share }
  mutating func choose<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
