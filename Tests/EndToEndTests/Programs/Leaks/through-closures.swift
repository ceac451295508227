// Cycles through closures.
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

// The tutorial leak: a closure in a property captures self.
// EXPECT leak kind=retainCycle types=App.ViewModel fields=onChange count=5 at=model closure=bind closureAt=closure also=App.Cache
final class Cache {
  var entries = [1, 2, 3]
}
final class ViewModel {
  var title = "start"
  let cache = Cache()
  var onChange: ((String) -> Void)?

  func bind() {
    onChange = { text in self.title = text }  // @closure
  }
}

@inline(never) func makeModel() {
  let model = ViewModel()  // @model
  model.bind()
  model.onChange?("changed")
  use(model)
}
for _ in 0..<5 { makeModel() }

// The closure captures self and more, so it has a context block of its own.
// EXPECT leak kind=retainCycle types=App.Screen fields=handler count=7 at=screen closure=install closureAt=screen-closure
final class Logger {
  var lines = 0
}
final class Screen {
  var taps = 0
  var handler: (() -> Void)?

  func install(logger: Logger, step: Int) {
    handler = {  // @screen-closure
      self.taps += step  // @screen-closure
      logger.lines += step
    }
  }
}

@inline(never) func makeScreen(_ logger: Logger, _ step: Int) {
  let screen = Screen()  // @screen
  screen.install(logger: logger, step: step)
  screen.handler?()
  use(screen)
}
let logger = Logger()
for step in 0..<7 { makeScreen(logger, step) }
print(logger.lines)

// A local variable is captured by the closure stored in the object that the variable holds.
// EXPECT leak kind=retainCycle types=App.Button fields=action count=4 at=button closure=makeButton closureAt=button-closure
final class Button {
  var presses = 0
  var action: (() -> Void)?
}

@inline(never) func makeButton() {
  var button: Button?
  button = Button()  // @button
  button?.action = { button?.presses += 1 }  // @button-closure
  button?.action?()
  use(button!)
  if button!.presses == 2 { button = nil }
}
for _ in 0..<4 { makeButton() }

// Two closures share a captured variable that holds an object, which holds both closures.
// EXPECT leak kind=retainCycle types=App.Counter count=3
final class Counter {
  var increment: (() -> Void)?
  var read: (() -> Int)?
  var previous: Counter?
}

@inline(never) func make() {
  let counter = Counter()
  var value = 0
  var owner: Counter? = counter
  counter.increment = {
    value += 1
    if value < 0 { owner = nil }
  }
  counter.read = { value + (owner == nil ? 1 : 0) }
  counter.increment?()
  print(counter.read?() ?? 0)
  use(counter)
}
for _ in 0..<3 { make() }

// A closure in a generic context: metadata words come first in its context.
// EXPECT leak kind=retainCycle types=App.Store<Swift.Int> fields=reduce count=2 at=store
// EXPECT leak kind=retainCycle types=App.Store<Swift.String> fields=reduce count=3 at=store
final class Store<Value> {
  var value: Value
  var reduce: ((Value) -> Void)?
  init(_ value: Value) { self.value = value }

  func connect<Other>(_ other: Other) {
    reduce = { new in
      self.value = new
      withExtendedLifetime(other) {}
    }
  }
}

@inline(never) func makeStore<Value>(_ value: Value) {
  let store = Store(value)  // @store
  store.connect([1.5, 2.5])
  store.reduce?(value)
  use(store)
}
for index in 0..<2 { makeStore(index) }
for index in 0..<3 { makeStore("value \(index)") }

// A lazy closure property that captures self and was called once.
// EXPECT leak kind=retainCycle types=App.Article fields=render count=3 at=article
final class Article {
  let text: String
  lazy var render: () -> String = { "<p>\(self.text)</p>" }
  init(text: String) { self.text = text }
}

@inline(never) func makeArticle(_ number: Int) {
  let article = Article(text: "article number \(number) with enough text to be on the heap")  // @article
  print(article.render().count)
  use(article)
}
for number in 0..<3 { makeArticle(number) }

// A lazy closure that was never called holds nothing.
final class UnreadArticle {
  let text = "text"
  lazy var render: () -> String = { "<p>\(self.text)</p>" }
}

@inline(never) func makeUnreadArticle() { use(UnreadArticle()) }
for _ in 0..<100 { makeUnreadArticle() }

// A local function that refers to itself and is stored.
// EXPECT leak kind=retainCycle types=App.Walker fields=step count=3 at=walker closure=start
final class Walker {
  var step: ((Int) -> Int)?
  var limit = 10

  func start(offset: Int) {
    func walk(_ position: Int) -> Int {
      position >= limit ? position : walk(position + offset)
    }
    step = walk
  }
}

@inline(never) func makeWalker() {
  let walker = Walker()  // @walker
  walker.start(offset: 3)
  print(walker.step?(0) ?? 0)
  use(walker)
}
for _ in 0..<3 { makeWalker() }

// A bound method stored in a property: `self.handle` captures self without saying so.
// EXPECT leak kind=retainCycle types=App.Keyboard fields=callback count=4 at=keyboard
final class Keyboard {
  var keys = 0
  var callback: ((Int) -> Void)?
  func handle(_ key: Int) { keys += key }
  func attach() { callback = handle }
}

@inline(never) func makeKeyboard() {
  let keyboard = Keyboard()  // @keyboard
  keyboard.attach()
  keyboard.callback?(3)
  use(keyboard)
}
for _ in 0..<4 { makeKeyboard() }

// Escaping closures in closures, each with captures of its own; the innermost captures self.
// EXPECT leak kind=retainCycle types=App.Form fields=submit count=3 at=form
final class Form {
  var fields = ["name", "mail"]
  var submit: ((Int) -> () -> Int)?

  func connect(extra: [Int]) {
    submit = { factor in
      let doubled = extra.map { $0 * factor }
      return { doubled.count + self.fields.count }
    }
  }
}

@inline(never) func makeForm() {
  let form = Form()  // @form
  form.connect(extra: [1, 2, 3])
  print(form.submit?(2)() ?? 0)
  use(form)
}
for _ in 0..<3 { makeForm() }

// Bindings keyed by key path, whose closures capture the model.
// EXPECT leak kind=retainCycle types=App.Model fields=bindings count=2 at=model-model
final class Model {
  var name = ""
  var age = 0
  var bindings: [PartialKeyPath<Model>: () -> Void] = [:]

  func bind<Value>(_ path: ReferenceWritableKeyPath<Model, Value>, to value: Value) {
    bindings[path] = { self[keyPath: path] = value }
  }
}

@inline(never) func makeBoundModel() {
  let model = Model()  // @model-model
  model.bind(\.name, to: "a name that is long enough for the heap")
  model.bind(\.age, to: 3)
  for binding in model.bindings.values { binding() }
  use(model)
}
makeBoundModel()
makeBoundModel()

// A global closure captures leaked objects weakly and unowned.
// EXPECT leak kind=retainCycle types=App.Session fields=retry count=20 at=session closureAt=session-closure
final class Session {
  var retry: (() -> Void)?
  var tries = 0
}
var callbacks: [() -> Int] = []

@inline(never) func makeSession(_ number: Int) {
  let session = Session()  // @session
  session.retry = { session.tries += number }  // @session-closure
  session.retry?()
  callbacks.append { [weak session] in session?.tries ?? 0 }
  callbacks.append { [unowned session] in session.tries }
}
for number in 0..<20 { makeSession(number) }
print(callbacks.count)

// A closure context that was retained for a C callback and never released.
// EXPECT leak kind=unreferenced count=6 also=App.Target
final class Target {
  var hits = 0
}
final class Box {
  let action: () -> Void
  init(_ action: @escaping () -> Void) { self.action = action }
}
@inline(never) @_optimize(none) func use(_ pointer: UnsafeMutableRawPointer) {}

@inline(never) func register(_ number: Int) {
  let target = Target()
  let box = Box { target.hits += number }
  use(Unmanaged.passRetained(box).toOpaque())
}
for number in 0..<6 { register(number) }

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
