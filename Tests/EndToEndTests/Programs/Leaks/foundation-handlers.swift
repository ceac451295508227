// Handlers of Foundation objects that capture the owner of the object.
// EXPECT leak kind=retainCycle types=App.Copy fields=progress count=2
// EXPECT leak kind=retainCycle types=App.Tool fields=process count=2
// EXPECT leak kind=retainCycle types=App.Parser fields=decoder count=2
// EXPECT leak kind=retainCycle types=App.Worker fields=thread count=2
import Foundation

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
final class Worker {
  var thread: Thread?
  var rounds = 0
  init() { thread = Thread { self.rounds += 1 } }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func makeCopy() { use(Copy()) }
@inline(never) func makeTool() { use(Tool()) }
@inline(never) func makeParser() { use(Parser()) }
@inline(never) func makeWorker() { use(Worker()) }
for _ in 0..<2 {
  makeCopy()
  makeTool()
  makeParser()
  makeWorker()
}
