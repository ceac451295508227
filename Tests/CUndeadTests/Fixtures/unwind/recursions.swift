// Insertion into a search tree, whose nodes have a second object, and a parser by recursive descent: the frames of one
// recursion allocate at several places, and the next stack differs in its inner frames, in number or in place.
final class Payload {
  let number: UInt32
  init(_ number: UInt32) { self.number = number }
}

final class Tree {
  let payload: Payload
  var left: Tree?
  var right: Tree?

  init(_ key: UInt32) { payload = Payload(key) }

  @inline(never)
  func insert(_ key: UInt32) {
    if key < payload.number {
      if let left { left.insert(key) } else { left = Tree(key) }
    } else {
      if let right { right.insert(key) } else { right = Tree(key) }
    }
    if key == payload.number { payloads += 1 }  // no jump in place of the last call
  }
}

indirect enum Expression {
  case number(UInt8)
  case sum(Expression, Expression)
  case product(Expression, Expression)
}

struct Parser {
  let text: [UInt8]
  var position = 0

  func sees(_ character: Unicode.Scalar) -> Bool { position < text.count && text[position] == UInt8(ascii: character) }

  @inline(never)
  mutating func sum() -> Expression {
    var left = product()
    while sees("+") {
      position += 1
      left = .sum(left, product())
    }
    return left
  }

  @inline(never)
  mutating func product() -> Expression {
    var left = atom()
    while sees("*") {
      position += 1
      left = .product(left, atom())
    }
    return left
  }

  @inline(never)
  mutating func atom() -> Expression {
    defer { position += 1 }
    guard sees("(") else { return .number(text[position]) }
    position += 1
    return sum()
  }
}

nonisolated(unsafe) var payloads = 0
nonisolated(unsafe) var seed: UInt32 = 1

func random() -> UInt32 {
  seed = seed &* 1_664_525 &+ 1_013_904_223
  return seed >> 8
}

func expression(_ depth: Int) -> String {
  guard depth > 0 else { return "7" }
  let left = expression(depth - 1)
  let right = expression(depth - 1 - Int(random() % 2) * min(1, depth - 1))
  return random() % 2 == 0 ? "(\(left)+\(right))" : "(\(left)*\(right)+1)"
}

for _ in 0..<3 {
  let root = Tree(1 << 23)
  for _ in 0..<4000 { root.insert(random()) }
}
let text = Array(expression(11).utf8)
for _ in 0..<5 {
  var parser = Parser(text: text)
  _ = parser.sum()
}
print(payloads, text.count)
