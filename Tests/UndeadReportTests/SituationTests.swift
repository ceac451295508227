import Testing

@testable import UndeadReport

/// The table of advice, and what texts show of long names.
@Suite struct SituationTests {
  @Test func everySituationHasOneName() {
    for table in [Situation.unreferenced, Situation.cycles, Situation.suspects] {
      #expect(Set(table.map(\.name)).count == table.count)
    }
  }

  @Test func longGenericArgumentsAreLeftOut() {
    let long = "App.Box<Swift.Dictionary<Swift.String, (Swift.Int) -> Swift.Array<App.Element>>>.Node"
    #expect(TypeName.elided(long) == "App.Box<\u{2026}>.Node")
    #expect(TypeName.elided("App.Box<Swift.Int>.Node") == "App.Box<Swift.Int>.Node")
    #expect(TypeName.elided("a < b, and nothing that closes the bracket of this rather long text") != "")
  }

  @Test func workItemsAreCancelled() {
    let back = [
      Reference(type: "App.Poller", field: "item"), Reference(type: "Dispatch.DispatchWorkItem", field: "_block"),
    ]
    let text = Advice.text(for: .dispatchSource, holdsBack: back, suspended: nil)
    #expect(text?.hasPrefix("the work item in `item` is to run later") ?? false)
  }

  @Test func whatALibraryWaitsForIsNotTheUsersToResume() {
    let frames = [
      Frame(symbol: "AsyncAlgorithms.AsyncChannel.Iterator.next() async -> A?", module: "app"),
      Frame(symbol: "App.read() async -> ()", file: "/app/main.swift", line: 3, module: "app"),
    ]
    #expect(Awaited(Backtrace(frames: frames)) != .continuation)
  }
}
