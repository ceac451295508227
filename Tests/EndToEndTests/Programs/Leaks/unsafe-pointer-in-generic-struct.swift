// A generic struct allocates memory that nobody frees: a struct has no deinit.
// EXPECT leak kind=unreferenced types=raw*memory count=8 at=allocation
struct Buffer<Element> {
  let start: UnsafeMutablePointer<Element>
  let count: Int
  @inline(never) init(repeating element: Element, count: Int) {
    start = .allocate(capacity: count)  // @allocation
    start.initialize(repeating: element, count: count)
    self.count = count
  }
  var last: Element { start[count - 1] }
}
@inline(never) func work(_ number: Int) -> Int { Buffer(repeating: number, count: 100).last }
var total = 0
for number in 0..<8 { total += work(number) }
print(total)
