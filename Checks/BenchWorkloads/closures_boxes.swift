// Closures with contexts, captured variables in boxes, existentials and indirect enums.
protocol Shape {
  var area: Double { get }
}

struct Rectangle: Shape {
  var width, height, depth, weight: Double
  var area: Double { width * height + depth * weight }
}

indirect enum Expression {
  case number(Int)
  case sum(Expression, Expression)

  var value: Int {
    switch self {
    case .number(let number): number
    case .sum(let left, let right): left.value + right.value
    }
  }
}

@inline(never)
func makeCounter(start: Int) -> (() -> Int, (Int) -> Void) {
  var count = start
  let next = {
    count += 1
    return count
  }
  return (next, { count += $0 })
}

@inline(never)
func makeShapes(_ count: Int) -> [any Shape] {
  (0..<count).map { Rectangle(width: Double($0), height: 2, depth: 3, weight: 4) }
}

@inline(never)
func makeExpression(_ depth: Int) -> Expression {
  depth == 0 ? .number(depth) : .sum(makeExpression(depth - 1), .number(depth))
}

let rounds = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 200_000
var total = 0.0
for round in 0..<rounds {
  let counters = (0..<10).map { makeCounter(start: $0) }
  for (next, add) in counters {
    add(round)
    total += Double(next())
  }
  total += makeShapes(20).reduce(0) { $0 + $1.area }
  total += Double(makeExpression(20).value)
}
print(total)
