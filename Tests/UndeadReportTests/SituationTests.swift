import Foundation
import Testing

@testable import UndeadReport

/// The table of advice, and what texts show of long names.
@Suite struct SituationTests {
  @Test func everySituationHasOneName() {
    let tables = [
      Situation.unreferenced, Situation.cycles, Situation.suspects, Situation.outlived, Situation.zombies,
    ]
    let programs = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Checks/Advice")
    for table in tables {
      #expect(Set(table.map(\.name)).count == table.count)
      for situation in table {
        let program = programs.appending(path: "\(situation.name).swift").path
        #expect(FileManager.default.fileExists(atPath: program), "an advice that no program follows: \(situation.name)")
      }
    }
  }

  private static func remedy(_ captures: String?, in function: String = "App.View.body()") -> String {
    let closure = Frame(symbol: "closure #1 in \(function)", file: "/app/a.swift", line: 1, module: "app")
    return Advice.remedy(
      Reference(type: "App.Model", field: "action", closure: closure, captures: captures), "App.Model")
  }

  @Test func capturesAreNamedAsTheSourceHasThem() {
    #expect(Self.remedy("self") == "capture it weakly (`[weak self]`)")
    #expect(Self.remedy("loader") == "capture it weakly (`[weak loader]`)")
    #expect(Self.remedy("variable loader").hasPrefix("declare it `weak` (`weak var loader`), or capture it weakly"))
    #expect(Self.remedy("self.model") == "capture it weakly (`[weak model = self.model]`)")
    #expect(Self.remedy(".model").contains("`[weak model = value.model]`"))
    // What is a value cannot be captured weakly.
    #expect(!Self.remedy(CapturedNames.structSelf).contains("[weak self]"))
    #expect(!Self.remedy(CapturedNames.enumSelf).contains("[weak self]"))
  }

  @Test func bothCapturesAreNamed() throws {
    let closure = Frame(symbol: "closure #1 in App.Flow.push()", file: "/app/a.swift", line: 1, module: "app")
    var facts = LeakFacts()
    facts.isCycle = true
    facts.references = [Reference(type: "App.Flow", field: "onFinish", closure: closure, captures: "step")]
    facts.alsoCaptured = ["self"]
    let text = try #require(Advice.text(for: facts))
    #expect(text.contains("(`[weak step]`), and likewise `self`"))
  }

  @Test func elementsOfFoundationsCollectionsAreRemoved() throws {
    let list = Reference(
      type: "App.Library", field: "cache", fieldType: "Foundation.NSCache<Foundation.NSString, App.Book>")
    let head = Reference(type: "Foundation.NSCache<Foundation.NSString, App.Book>", field: "_head")
    let entry = Reference(type: "Foundation.NSCacheEntry<Foundation.NSString, App.Book>", field: "value")
    let text = try #require(Self.cycle(list, head, entry))
    #expect(text.hasPrefix("`cache` of App.Library, a Foundation.NSCache, has App.Library as an element"))
    let parent = Reference(type: "App.Book", field: "parent")
    #expect(try #require(Self.cycle(list, head, entry, parent)).hasPrefix("`parent` of App.Book"))
  }

  @Test func localFunctionsHaveNoCaptureList() {
    let reference = { (symbol: String) in
      Reference(
        type: "App.Visitor", field: "visit",
        closure: Frame(symbol: symbol, file: "/app/a.swift", line: 1, module: "app"))
    }
    let text = Advice.remedy(reference("local(_:) in App.Visitor.start()"), "App.Visitor")
    #expect(text.hasPrefix("`local(_:)` is a local function, which has no capture list: use a closure"))
    #expect(
      !Advice.remedy(reference("closure #1 in local(_:) in App.Visitor.start()"), "App.Visitor").contains(
        "local function"))
    #expect(!Advice.remedy(reference("App.Visitor.start()"), "App.Visitor").contains("local function"))
  }

  @Test func aDelegateSaysMoreThanARouter() throws {
    let (router, delegate) = (
      Reference(type: "App.Program", field: "router"), Reference(type: "App.Router", field: "delegate")
    )
    #expect(try #require(Self.cycle(router, delegate)).hasPrefix("`delegate` of App.Router refers back"))
    #expect(try #require(Self.cycle(delegate, router)).hasPrefix("`delegate` of App.Router refers back"))
  }

  @Test func fieldsOfTheToolchainAreCalledWhatProgramsCallThem() {
    #expect(FieldName.shown("__dependencies[0]", of: "App.Download") == "dependencies[0]")
    #expect(FieldName.shown("_value", of: "Swift._AsyncStreamCriticalStorage<App.A>") == "unfolding")
    #expect(FieldName.shown("_value", of: "App.Cell") == "_value")
    let stream = "Swift.AsyncStream<App.A>._Storage"
    #expect(Reference(type: stream, field: "state", fieldType: "() -> ()").fieldName == "onTermination")
    #expect(Reference(type: stream, field: "state[0]").fieldName == "state[0]")
  }

  /// No such property can be declared `weak`; the compiler would say so.
  @Test func whatIsNoClassCannotBeWeak() {
    func advice(_ field: String, _ type: String) -> String? {
      Self.cycle(Reference(type: "App.Node", field: field, fieldType: type))
    }
    let optional = "Swift.Optional<App.Node>"
    let toNil = "set it to nil when the object is done"
    #expect(advice("other", optional) == "`other` refers to the object itself: \(toNil), or make it `weak`")
    #expect(advice("other", "Swift.Optional<\(optional)>") == "`other` refers to the object itself: \(toNil)")
    #expect(advice("cause", "Swift.Optional<Swift.Error>") == "`cause` refers to the object itself: \(toNil)")
    #expect(advice("_other.wrappedValue", optional) == "`other` refers to the object itself: \(toNil)")
    #expect(
      advice("state", "Synchronization.Mutex<\(optional)>")
        == "`state` refers to the object itself: give `state` another value when the object is done")
  }

  @Test func theSecondMethodOfAFunctionIsOneToo() {
    #expect(SymbolText.isMethodReference("implicit closure #4 in implicit closure #3 in App.Parser.init()"))
    #expect(!SymbolText.isMethodReference("implicit closure #1 in implicit closure #2 in App.Parser.init()"))
    #expect(!SymbolText.isMethodReference("implicit closure #2 in closure #1 in App.Parser.init()"))
  }

  @Test func collectionsAreNeitherWeakNorNil() throws {
    let edge = Reference(type: "App.Node", field: "neighbours[element]", fieldType: "Swift.Set<App.Node>")
    let text = try #require(Self.cycle(edge, edge, edge))
    #expect(
      text == "empty `neighbours` of App.Node when the objects are done, or keep weak references or identifiers in it")
  }

  @Test func aPointerToTheObjectItselfIsReleased() throws {
    let pointer = Reference(
      type: "App.Context", field: "raw", fieldType: "Swift.Optional<Swift.UnsafeMutableRawPointer>")
    #expect(try #require(Self.cycle(pointer)).contains("call release()"))
  }

  @Test func whatALocalCollectionHolds() {
    let root = PathStep.Root(kind: "stack", name: "stack of the main thread", references: 1, owned: 1)
    let path = [
      PathStep(root: root, type: "Swift._ContiguousArrayStorage<App.Node>", field: "[0]"),
      PathStep(type: "App.Node", field: ""),
    ]
    #expect(Advice.text(for: path)?.hasSuffix("let the call end, or remove the object from that collection") == true)
  }

  @Test(arguments: [
    ("closure #1 () -> () in App.run() -> ()", 0),
    ("closure #2 (Swift.Int, (A, B) -> C) async -> () in App.run() -> ()", 2),
    ("closure #1 (Swift.Dictionary<A, B>) -> () in App.run() -> ()", 1),
  ])
  func parametersOfClosuresAreCounted(symbol: String, count: Int) {
    #expect(CapturedNames.parameterCount(ofClosure: symbol) == count)
  }

  private static func cycle(_ references: Reference...) -> String? {
    var facts = LeakFacts()
    (facts.isCycle, facts.references) = (true, references)
    return Advice.text(for: facts)
  }

  @Test func whatCannotBeWeakOrNilIsNotSaidToBe() throws {
    let back = Reference(type: "App.Track", field: "player", fieldType: "App.Player")
    let payload = Reference(type: "App.Player", field: "state.playing", fieldType: "App.Track")
    let text = try #require(Self.cycle(payload, back))
    #expect(
      text.hasPrefix("make `App.Track.player` `weak` or `unowned` if it does not own its object, or give `state`"))
    let own = try #require(Self.cycle(Reference(type: "App.Node", field: "state.busy.0", fieldType: "App.Node")))
    #expect(own.contains("give `state` another value") && !own.contains("weak"))
    let nameless = try #require(
      Self.cycle(Reference(type: "App.A", field: "+80"), Reference(type: "App.B", field: "+16")))
    #expect(!nameless.contains("+80"))
    let path = [PathStep(type: "App.A", field: "+80", fieldType: nil), PathStep(type: "App.B", field: "")]
    #expect(Advice.text(for: path)?.contains("+80") == false)
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
    var call = Frame(
      symbol: "Pool.Connection.get() async -> Int", file: "/a/.build/checkouts/pool/a.swift", line: 3, module: "app")
    call.package = "pool"
    let wait = Frame(symbol: "Swift.withCheckedContinuation()", module: "libswift_Concurrency.so", system: true)
    #expect(Awaited(Backtrace(frames: [wait, call, frames[1]])) == .library)
    #expect(Awaited(Backtrace(frames: [wait, frames[1]])) == .continuation)
  }
}
