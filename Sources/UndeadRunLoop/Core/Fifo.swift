/// First in, first out, in a ring that grows, and shrinks when it is empty.
struct Fifo<Element> {
  private var elements: [Element?] = []
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  var first: Element? { count == 0 ? nil : elements[head] }

  mutating func append(_ element: Element) {
    if count == elements.count { grow() }
    elements[place(count)] = element
    count += 1
  }

  mutating func removeFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = elements[head].take()
    head = place(1)
    count -= 1
    let worthKeeping = 1024
    if count == 0, elements.count > worthKeeping { elements = [] }
    if count == 0 { head = 0 }
    return element
  }

  /// All elements, in order, which leave the ring.
  mutating func removeAll() -> [Element] {
    let all = (0..<count).compactMap { elements[place($0)] }
    self = Fifo()
    return all
  }

  private func place(_ offset: Int) -> Int {
    let index = head + offset
    return index < elements.count ? index : index - elements.count
  }

  private mutating func grow() {
    let smallest = 8
    var grown: [Element?] = []
    grown.reserveCapacity(max(smallest, elements.count * 2))
    for offset in 0..<count { grown.append(elements[place(offset)].take()) }
    grown.append(contentsOf: repeatElement(nil, count: max(smallest, count * 2) - count))
    elements = grown
    head = 0
  }
}
