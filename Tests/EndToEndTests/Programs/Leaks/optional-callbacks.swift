// A closure that a wrapper captures as an optional, of a generic type or of none: it is the one to blame, and what is captured
// behind it is named, too.
// EXPECT leak kind=retainCycle types=App.Screen,App.Source,App.Sink<Swift.Int> fields=source,sink,handler closure=bind closureAt=next
// EXPECT leak kind=retainCycle types=App.Loader fields=done closure=load closureAt=done
// EXPECT leak kind=retainCycle types=App.Behind fields=done
final class Sink<Value> {
  let handler: (Value) -> Void
  init(_ handler: @escaping (Value) -> Void) { self.handler = handler }
}
protocol Emitter: AnyObject {
  associatedtype Element
  var sink: Sink<Element>? { get set }
}
extension Emitter {
  @inline(never) func subscribe(onNext: ((Element) -> Void)? = nil, onError: ((any Error) -> Void)? = nil) {
    sink = Sink { value in
      onNext?(value)
      if onNext == nil { onError?(CancellationError()) }
    }
  }
}
final class Source: Emitter { var sink: Sink<Int>? }
final class Screen {
  let source = Source()
  var last = 0
  func bind() {
    source.subscribe(onNext: { self.last = $0 })  // @next
  }
}

final class Loader {
  var done: (() -> Void)?
  var count = 0
  @inline(never) func start(_ completion: (() -> Void)?) { done = { completion?() } }
  func load() {
    start { self.count += 1 }  // @done
  }
}

/// Nil, and behind it the object.
final class Behind {
  var done: (() -> Void)?
  @inline(never) func start(_ completion: (() -> Void)?, _ object: AnyObject?) {
    done = { if object != nil { completion?() } }
  }
}

@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func run() {
  let screen = Screen()
  screen.bind()
  use(screen)
  let loader = Loader()
  loader.load()
  use(loader)
  let behind = Behind()
  behind.start(nil, behind)
  use(behind)
}
run()
