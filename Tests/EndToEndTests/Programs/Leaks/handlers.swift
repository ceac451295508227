// Objects of Dispatch, Foundation and Observation whose handlers hold the owner.
import Dispatch
import Foundation
import Observation

@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

// A group that is entered and never left: its notification never comes, and captures the owner of the group.
// EXPECT leak|suspect types=App.Loader count=4
final class Loader {
  let group = DispatchGroup()
  var loaded = false
  func load() {
    group.enter()
    group.notify(queue: .global()) { self.loaded = true }
  }
}
@inline(never) func make() {
  let loader = Loader()
  loader.load()
  use(loader)
}
for _ in 0..<4 { make() }

// An object held by queue-specific data of a queue that the object owns.
// EXPECT leak kind=retainCycle types=App.Worker fields=queue count=3
final class Worker {
  static let key = DispatchSpecificKey<Worker>()
  let queue = DispatchQueue(label: "worker")
  init() { queue.setSpecific(key: Worker.key, value: self) }
}
@inline(never) func makeWorker() { use(Worker()) }
for _ in 0..<3 { makeWorker() }

// A dispatch timer that was never resumed is known to nobody but its owner, which its handler captures.
// EXPECT leak|suspect types=App.Heartbeat count=3
final class Heartbeat {
  var beats = 0
  let source = DispatchSource.makeTimerSource()
  func prepare() {
    source.setEventHandler { self.beats += 1 }
    source.schedule(deadline: .now() + 500, repeating: 500)
  }
}
@inline(never) func begin() {
  let heartbeat = Heartbeat()
  heartbeat.prepare()
  use(heartbeat)
}
for _ in 0..<3 { begin() }

// A work item that is stored in the object which its block captures.
// EXPECT leak kind=retainCycle types=App.Search fields=pending count=5
final class Search {
  var text = ""
  var pending: DispatchWorkItem?
  func prepare(_ extra: Int) {
    pending = DispatchWorkItem { self.text += "\(extra)" }
  }
}
@inline(never) func makeSearch(_ number: Int) {
  let search = Search()  // @search
  search.prepare(number)
  search.pending?.perform()
  use(search)
}
for number in 0..<5 { makeSearch(number) }

// The completion block of an operation captures the operation, which never runs.
// EXPECT leak kind=retainCycle types=App.Import count=4
final class Import: Operation, @unchecked Sendable {
  var rows = 0
  override func main() { rows = 10 }
}
@inline(never) func prepare() {
  let operation = Import()  // @operation
  operation.completionBlock = { print(operation.rows) }
}
for _ in 0..<4 { prepare() }

// Two operations that depend on each other.
// EXPECT leak kind=retainCycle types=App.Step count=3
final class Step: Operation, @unchecked Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}
@inline(never) func prepareStep() {
  let first = Step(1)
  let second = Step(2)
  first.addDependency(second)
  second.addDependency(first)
}
for _ in 0..<3 { prepareStep() }

// Operations that wait without end in a queue that nobody but their blocks' owner holds.
// EXPECT leak kind=retainCycle types=App.Waiter fields=operation count=2
// EXPECT leak kind=retainCycle types=App.Suspended fields=queue count=2
final class Waiter {
  var results = 0
  let queue = OperationQueue()
  var operation: BlockOperation?
  init() {
    let gate = Operation()
    let waiting = BlockOperation { self.results += 5 }
    waiting.addDependency(gate)
    queue.addOperation(waiting)
    operation = waiting
  }
}
final class Suspended {
  var results = 0
  let queue = OperationQueue()
  init() {
    queue.isSuspended = true
    queue.addOperation { self.results += 6 }
  }
}
@inline(never) func makeWaiter() {
  use(Waiter())
  use(Suspended())
}
for _ in 0..<2 { makeWaiter() }
usleep(100_000)

// Handlers of Foundation objects that capture the owner of the object.
// EXPECT leak kind=retainCycle types=App.Copy fields=progress count=2
// EXPECT leak kind=retainCycle types=App.Tool fields=process count=2
// EXPECT leak kind=retainCycle types=App.Parser fields=decoder count=2
// EXPECT leak kind=retainCycle types=App.Labourer fields=thread count=2
final class Copy {
  let progress = Progress(totalUnitCount: 10)
  var cancelled = false
  init() { progress.cancellationHandler = { self.cancelled = true } }
}
final class Tool {
  let process = Process()
  var ended = 0
  init() { process.terminationHandler = { _ in self.ended += 1 } }
}
final class Parser {
  let decoder = JSONDecoder()
  init() { decoder.userInfo[CodingUserInfoKey(rawValue: "parser")!] = Box(self) }
}
struct Box: @unchecked Sendable {
  let parser: Parser
  init(_ parser: Parser) { self.parser = parser }
}
final class Labourer {
  var thread: Thread?
  var rounds = 0
  init() { thread = Thread { self.rounds += 1 } }
}
@inline(never) func makeCopy() { use(Copy()) }
@inline(never) func makeTool() { use(Tool()) }
@inline(never) func makeParser() { use(Parser()) }
@inline(never) func makeLabourer() { use(Labourer()) }
for _ in 0..<2 {
  makeCopy()
  makeTool()
  makeParser()
  makeLabourer()
}

// The handler for the end of a stream captures the object that keeps the stream open.
// EXPECT leak kind=retainCycle types=App.Channel fields=continuation count=4
final class Channel: @unchecked Sendable {
  private let stream: AsyncStream<Int>
  private let continuation: AsyncStream<Int>.Continuation
  private var ended = false
  init() {
    (stream, continuation) = AsyncStream<Int>.makeStream()
    continuation.onTermination = { _ in self.ended = true }
    continuation.yield(3)
  }
}
@inline(never) func makeChannel() { use(Channel()) }
for _ in 0..<4 { makeChannel() }

// The Observable macro puts the storage behind an underscore and a registrar beside it.
// EXPECT leak kind=retainCycle types=App.Model,App.Child fields=child,model count=3 at=model|child
final class Child {
  var model: Model?
}
@Observable final class Model {
  var name = "model"
  var child: Child?
}

@inline(never) func makeModel() {
  let model = Model()  // @model
  let child = Child()  // @child
  model.child = child
  child.model = model
  use(model)
}
for _ in 0..<3 { makeModel() }

// The change handler of an observed model stays registered until the model changes, and captures the model's owner.
// EXPECT leak kind=retainCycle types=App.View fields=model count=2
@Observable final class ObservedModel {
  var value = 0
}
final class View {
  let model = ObservedModel()
  var renders = 0
  func render() {
    withObservationTracking {
      renders += model.value
    } onChange: {
      self.renders += 1
    }
  }
}
@inline(never) func show() {
  let view = View()
  view.render()
  use(view)
}
for _ in 0..<2 { show() }
