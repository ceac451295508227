// A parser by recursive descent that makes its nodes while it recurses: nearly every block has another stack.
//
//   parser [ROUNDS [TEXTS]]    with fewer texts than rounds the stacks come again, as a whole in the same order
indirect enum Expression {
  case number(Int)
  case sum(Expression, Expression)
  case product(Expression, Expression)
  case negated(Expression)
}

struct Source {
  var state: UInt64

  mutating func next(below end: UInt64) -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state >> 33) % end
  }
}

// Text of expressions, as bytes.
func write(_ source: inout Source, depth: Int, into text: inout [UInt8]) {
  let kind = depth == 0 ? 0 : source.next(below: 8)
  switch kind {
  case 0: text.append(UInt8(ascii: "0") + UInt8(source.next(below: 10)))
  case 1:
    text.append(UInt8(ascii: "-"))
    write(&source, depth: depth - 1, into: &text)
  default:
    text.append(UInt8(ascii: "("))
    write(&source, depth: depth - 1, into: &text)
    text.append(kind % 2 == 0 ? UInt8(ascii: "+") : UInt8(ascii: "*"))
    write(&source, depth: depth - 1, into: &text)
    text.append(UInt8(ascii: ")"))
  }
}

struct Parser {
  let text: [UInt8]
  var at = 0

  init(_ text: [UInt8]) { self.text = text }

  @inline(never) mutating func sum() -> Expression {
    var left = product()
    while at < text.count, text[at] == UInt8(ascii: "+") {
      at += 1
      left = .sum(left, product())
    }
    return left
  }

  @inline(never) mutating func product() -> Expression {
    var left = factor()
    while at < text.count, text[at] == UInt8(ascii: "*") {
      at += 1
      left = .product(left, factor())
    }
    return left
  }

  @inline(never) mutating func factor() -> Expression {
    let byte = text[at]
    at += 1
    if byte == UInt8(ascii: "-") { return .negated(factor()) }
    if byte != UInt8(ascii: "(") { return .number(Int(byte &- UInt8(ascii: "0"))) }
    let inner = sum()
    at += 1
    return inner
  }
}

@inline(never) func value(_ expression: Expression) -> Int {
  switch expression {
  case .number(let number): number
  case .sum(let left, let right): value(left) &+ value(right)
  case .product(let left, let right): value(left) &* value(right)
  case .negated(let inner): 0 &- value(inner)
  }
}

let rounds = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 60
let texts = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2])! : rounds
var total = 0
for round in 0..<rounds {
  var source = Source(state: UInt64(round % texts + 1))
  var text: [UInt8] = []
  for index in 0..<24 {
    if index > 0 { text.append(UInt8(ascii: "+")) }
    write(&source, depth: 14, into: &text)
  }
  var parser = Parser(text)
  total &+= value(parser.sum())
}
print(total)
