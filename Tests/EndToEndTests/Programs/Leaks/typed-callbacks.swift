// Generic closures with reabstraction, autoclosures and throwing closures stored in self.
// EXPECT leak kind=retainCycle types=App.Validator fields=rule count=2 at=validator
// EXPECT leak kind=retainCycle types=App.Pipeline fields=stages count=2 at=pipeline
// EXPECT leak kind=retainCycle types=App.Lazy<Swift.Int> fields=compute count=2
final class Validator {
  var rule: ((String) throws -> Bool)?
  var limit = 3
  func install() { rule = { $0.count > self.limit } }
}
final class Pipeline {
  var stages: [(Int) -> Int] = []
  var factor = 2
  func add<Value>(_ transform: @escaping (Value) -> Value) {
    stages.append { number in (transform(number as! Value) as! Int) * self.factor }
  }
}
final class Lazy<Value> {
  var compute: (() -> Value)?
  var computed = 0
  func set(_ value: @escaping @autoclosure () -> Value) {
    compute = {
      self.computed += 1
      return value()
    }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeValidator() throws {
  let validator = Validator()  // @validator
  validator.install()
  _ = try validator.rule?("text")
  use(validator)
}
@inline(never) func makePipeline() {
  let pipeline = Pipeline()  // @pipeline
  pipeline.add { (number: Int) in number + 1 }
  print(pipeline.stages[0](3))
  use(pipeline)
}
@inline(never) func makeLazy() {
  let lazy = Lazy<Int>()
  lazy.set(3 + 4)
  print(lazy.compute?() ?? 0)
  use(lazy)
}
for _ in 0..<2 {
  try makeValidator()
  makePipeline()
  makeLazy()
}
