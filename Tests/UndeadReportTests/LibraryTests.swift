import Foundation
import Testing

@testable import UndeadReport

/// Leaks in which objects of a dependency take part: the user's own line is reported, and nothing that they cannot change.
@Suite struct LibraryTests {
  private typealias Function = SyntheticHeap.Function
  private static let checkout = "/app/.build/checkouts/swift-nio/Sources/NIO"

  private static func library(_ symbol: String, _ line: Int) -> Function {
    .app(symbol, "\(checkout)/Channel.swift", line)
  }

  /// Two objects of a dependency that hold each other, made by a function of the user's.
  private static func addChannel(_ heap: inout SyntheticHeap, _ next: String, in function: Function?) {
    let made = [
      library("NIOCore.Context.init() -> NIOCore.Context", 5),
      library("NIOCore.Channel.__allocating_init() -> NIOCore.Channel", 9),
    ]
    let stack = made + (function.map { [$0, Scenario.main] } ?? [])
    let channel = heap.object("NIOCore.Channel", at: stack)
    let context = heap.object("NIOCore.Context", at: [made[0]])
    heap.link(channel, next, context)
    heap.link(context, "prev", channel)
  }

  private static let router = Function.app("AppTests.Router.init() -> AppTests.Router", "/app/Tests/Router.swift", 39)

  @Test func theUsersLineIsToldAndNoWeakReferenceIsAskedFor() throws {
    var heap = SyntheticHeap()
    Self.addChannel(&heap, "next", in: Self.router)
    #expect(
      try heap.text() == """
        LEAK 1 of 1  objects of swift-nio that were never ended: NIOCore.Channel and NIOCore.Context  (2 objects, 64 bytes)

            NIOCore.Channel
              .next → NIOCore.Context
              .prev → NIOCore.Channel  ↺

          allocated  in AppTests.Router.init() -> AppTests.Router at /app/Tests/Router.swift:39
                     by NIOCore.Channel.init() (swift-nio)
          advice     these objects are swift-nio's and hold each other until they are ended; most likely what
                     AppTests.Router.init() made by NIOCore.Channel.init() is never ended: close, finish, shut down,
                     cancel or invalidate it

          stack of the allocation:
            #0  NIOCore.Context.init() -> NIOCore.Context at \(Self.checkout)/Channel.swift:5
            #1  NIOCore.Channel.__allocating_init() -> NIOCore.Channel at \(Self.checkout)/Channel.swift:9
            #2  AppTests.Router.init() -> AppTests.Router at /app/Tests/Router.swift:39
            #3  main at /app/main.swift:90

        undead: 1 leak (2 objects, 64 bytes)

        """)
  }

  @Test func whatOneLineStartedIsOneCause() throws {
    var heap = SyntheticHeap()
    for field in ["next", "following", "other"] { Self.addChannel(&heap, field, in: Self.router) }
    let other = Function.app("AppTests.Client.init() -> AppTests.Client", "/app/Tests/Client.swift", 7)
    Self.addChannel(&heap, "next", in: other)
    let report = try heap.report()
    #expect(report.leaks.count >= 3)
    let culprits = report.culprits
    #expect(culprits.count <= 2)
    #expect(culprits[0].title == "what AppTests.Router.init() -> AppTests.Router started in swift-nio")
    #expect(culprits[0].package == "swift-nio" && culprits[0].count == 3, "the biggest first")
    #expect(TextRenderer.render(report).contains("started in swift-nio, which was never ended, 3 times"))
    #expect(try JSONRenderer.parse(JSONRenderer.render(report)) == report)
  }

  /// Built from its own sources, too, where no dependency is to be seen. A closure of the user's is reported as ever.
  @Test(arguments: [true, false])
  func aPromiseThatIsNeverCompletedIsToldAsSuch(alone: Bool) throws {
    var heap = SyntheticHeap()
    let future = heap.object("NIOCore.EventLoopFuture<Swift.Int>", at: Scenario.site("App.fold()", 5))
    let context = heap.context("closure context (captures NIOCore.EventLoopFuture<Swift.Int>)")
    heap.link(future, "_callbacks.firstCallback.callback", context)
    if alone {
      heap.link(context, "captured", future)
    } else {
      let client = heap.object("App.Client")
      heap.link(context, "captured", client)
      heap.link(client, "future", future)
    }
    let advice = try #require(try heap.report().leaks[0].advice)
    #expect(advice.hasSuffix("succeed or fail it on every path") == alone)
  }

  /// A weak capture would let go of an object that the closure is still to be called for.
  @Test(arguments: [
    ("NIOCore.EventLoopFuture<()>", "_callbacks.firstCallback.callback", "succeed or fail that promise on every path"),
    ("NIOEmbedded.EmbeddedEventLoop", "scheduledTasks[0].task", "advance the loop or shut it down"),
  ])
  func whatIsStillToBeCalledIsToBeCalled(type: String, field: String, expected: String) throws {
    var heap = SyntheticHeap()
    let bag = heap.object("App.Bag", at: Scenario.site("App.send()", 5))
    let library = heap.object(type)
    heap.link(bag, "pending", library)
    heap.link(library, field, bag, closure: Scenario.closure("App.Bag.receive()", 8))
    let advice = try #require(try heap.report().leaks[0].advice)
    #expect(advice.contains("captures `self` strongly") && advice.contains(expected))
    #expect(!advice.contains("[weak"))
  }

  @Test func aBoxOfALibraryIsNotToBeEnded() throws {
    var heap = SyntheticHeap()
    let site = [Self.library("NIOConcurrencyHelpers.LockStorage.create() -> NIOConcurrencyHelpers.LockStorage", 5)]
    let bag = heap.object("App.Bag", at: Scenario.site("App.send()", 5))
    let box = heap.object("NIOConcurrencyHelpers.LockStorage<App.State>", at: site)
    heap.link(bag, "state._storage", box)
    heap.link(box, "header.task", bag)
    let advice = try #require(try heap.report().leaks[0].advice)
    #expect(advice.contains("`App.Bag.state._storage`") && !advice.contains("swift-nio"))
  }

  @Test func withoutAFunctionOfTheUsersItSaysSo() throws {
    var heap = SyntheticHeap()
    Self.addChannel(&heap, "next", in: nil)
    let advice = try #require(try heap.report().leaks[0].advice)
    #expect(advice.hasSuffix("what you started there and did not close, finish, shut down, cancel or invalidate"))
  }

  @Test func ofACycleWithTheUsersObjectsTheirsAreTold() throws {
    var heap = SyntheticHeap()
    let site = [Self.library("NIOCore.Channel.init() -> NIOCore.Channel", 5)]
    let channel = heap.object("NIOCore.Channel", at: site)
    let context = heap.object("NIOCore.Context", at: site)
    let handler = heap.object("App.Handler", at: Scenario.site("App.serve()", 12))
    heap.link(channel, "next", context)
    heap.link(context, "prev", channel)
    heap.link(context, "handler", handler)
    heap.link(handler, "channel", channel)
    let leak = try heap.report().leaks[0]
    // Though another one is shorter.
    #expect(leak.cycle?.map(\.type) == ["App.Handler", "NIOCore.Channel", "NIOCore.Context"])
    #expect(leak.cycle?.map(\.package) == [nil, "swift-nio", "swift-nio"])
    let advice = try #require(leak.advice)
    #expect(advice.contains("close, finish, shut down") && advice.contains("set `channel` of App.Handler to nil"))
    #expect(!advice.contains("weak"))
  }

  @Test func subscriptionsAreNotToldToBreakTheirOperators() throws {
    var heap = SyntheticHeap()
    let model = heap.object("App.Model", at: Scenario.site("App.show()", 12))
    let subject = heap.object("OpenCombine.PassthroughSubject<Swift.Int>")
    let sink = heap.object("OpenCombine.Subscribers.Sink<Swift.Int>")
    heap.link(model, "subject", subject)
    heap.link(subject, "downstream", sink)
    heap.link(sink, "receiveValue", model, closure: Scenario.closure("App.Model.start()", 8))
    let leak = try heap.report().leaks[0]
    let advice = try #require(leak.advice)
    #expect(advice.hasPrefix("the closure of the subscription captures `self` strongly"))
    #expect(advice.contains("[weak self]") && !advice.contains("downstream"))
  }

  /// Built from its own sources, where no dependency is to be seen: their names suggest a back reference.
  @Test(arguments: ["parent", "downstream", "outerSubscription"])
  func publishersAndSubscriptionsAreNotToldToHoldEachOtherWeakly(field: String) throws {
    var heap = SyntheticHeap()
    let subject = heap.object("OpenCombine.PassthroughSubject<Swift.Int>", at: Scenario.site("App.show()", 12))
    let conduit = heap.object("OpenCombine.PassthroughSubject<Swift.Int>.Conduit<App.S>")
    heap.link(subject, "downstreams.single", conduit)
    heap.link(conduit, field, subject)
    let advice = try #require(try heap.report().leaks[0].advice)
    #expect(advice.contains("never cancelled") && !advice.contains("weak"))
  }

  /// Nor what they put into a type of another module, though one of them has the name of a timer.
  @Test(arguments: ["Swift.Result<Swift.Int>.OCombine.Inner", "Foundation.Timer.OCombine.Inner"])
  func whatAnExtensionDeclaresBelongsToIt(type: String) throws {
    var heap = SyntheticHeap()
    let subscriber = heap.object("App.Subscriber", at: Scenario.site("App.show()", 12))
    let inner = heap.object("(extension in OpenCombine):\(type)<App.Subscriber>")
    heap.link(subscriber, "history[0]", inner)
    heap.link(inner, "downstream", subscriber)
    let advice = try #require(try heap.report().leaks[0].advice)
    #expect(advice.hasPrefix("a publisher or subscription holds its owner, which leads to it by `history`"))
  }

  @Test func whatRefersToItselfIsToBeSetToNil() throws {
    var heap = SyntheticHeap()
    let inner = heap.object("OpenCombine.Publishers.PrefixUntilOutput.Inner", at: Scenario.site("App.show()", 12))
    heap.link(inner, "termination.inner", inner)
    let advice = try #require(try heap.report().leaks[0].advice)
    #expect(advice.hasPrefix("`termination.inner` refers to the object itself: set it to nil"))
  }

  @Test func filesTellWhoseCodeItIs() {
    let packages = Packages(SymbolTable(), program: "/app/.build/debug/App")
    #expect(packages.package(ofFile: "/app/.build/checkouts/swift-nio/Sources/NIOCore/A.swift") == "swift-nio")
    // What everybody uses is no program's own, wherever its sources lie.
    let vendored = Frame(
      symbol: "NIOCore.ByteBuffer._Storage.reallocated() -> ()", file: "/app/nio/B.swift", line: 1, module: "app")
    #expect(packages.package(of: vendored) == "swift-nio")
    #expect(Packages(SymbolTable(), program: "/x/swift-nio/.build/debug/test").package(of: vendored) == nil)
    #expect(packages.package(ofFile: "/x/DerivedData/A/SourcePackages/checkouts/GRDB/Sources/A.swift") == "GRDB")
    #expect(packages.package(ofFile: "/app/Sources/App/A.swift") == nil)
    // A folder that has the name is no cache of a package manager.
    #expect(packages.package(ofFile: "/home/me/checkouts/mine/Sources/A.swift") == nil)
    let scratch = Packages(SymbolTable(), program: "/tmp/out/x86_64-unknown-linux-gnu/release/App")
    #expect(scratch.package(ofFile: "/tmp/out/checkouts/swift-nio/Sources/NIOCore/A.swift") == "swift-nio")
    // A package that is worked on in a checkout is the user's own there, what it fetched itself is not.
    let inside = Packages(SymbolTable(), program: "/app/.build/checkouts/mine/.build/debug/Tests.xctest")
    #expect(inside.package(ofFile: "/app/.build/checkouts/mine/Sources/Mine/A.swift") == nil)
    #expect(inside.package(ofFile: "/app/.build/checkouts/mine/.build/checkouts/other/Sources/O/A.swift") == "other")
  }

  @Test func modulesWithoutFilesOfTheirOwnAreKnownByThose() {
    var symbols = SymbolTable()
    func frame(_ symbol: String, _ file: String? = nil) -> Frame {
      Frame(symbol: symbol, file: file, line: file == nil ? nil : 3, module: "App")
    }
    symbols[1] = [frame("NIOCore.Channel.read() -> ()", "\(Self.checkout)/Channel.swift")]
    symbols[2] = [frame("(extension in App):NIOCore.Channel.mine() -> ()", "/app/Sources/App/A.swift")]
    let packages = Packages(symbols, program: "/app/.build/debug/App")
    #expect(packages.package(ofType: "NIOCore.Context<App.Thing>") == "swift-nio")
    #expect(packages.package(ofType: "App.Thing") == nil && packages.package(ofType: "Task") == nil)
    #expect(packages.package(of: frame("closure #1 in NIOCore.Channel.x() -> ()")) == "swift-nio")
    #expect(packages.package(of: frame("(extension in App):NIOCore.Channel.y() -> ()")) == nil)
  }

  /// All but those that no program links, and not what only begins like one.
  @Test func modulesOfThisPackageAreKnown() throws {
    let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardized.path
    let others: Set = ["UndeadPreload", "UndeadTool", "UndeadToolElsewhere"]
    let modules = try FileManager.default.contentsOfDirectory(atPath: sources).filter { $0.hasPrefix("Undead") }
    #expect(modules.count > others.count)
    for module in modules {
      #expect(OwnLibraries.declare("\(module).Type") != others.contains(module), "\(module)")
    }
    #expect(!OwnLibraries.declare("UndeadGame.Player") && !OwnLibraries.declare("Und.Player"))
  }
}
