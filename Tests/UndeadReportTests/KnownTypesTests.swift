import Testing
import UndeadTestSupport

@testable import UndeadReport

/// A type or function of the user's whose name resembles one of the toolchain's is not taken for it.
@Suite struct KnownTypesTests {
  @Test func timersAreThoseOfFoundation() {
    for type in ["Foundation.Timer", "CFRunLoopTimer"] { #expect(KnownTypes.isTimer(type)) }
    for type in [
      "MyFoundation.TimerHost", "Foundation.TimerHost", "App.CFRunLoopTimerBox",
      "(extension in M):Foundation.Timer.Publisher",
    ] {
      #expect(!KnownTypes.isTimer(type), "\(type)")
    }
  }

  @Test func centersAreThoseOfFoundation() {
    for type in [
      "FoundationEssentials.NotificationCenter", "Foundation.NotificationCenter", "Foundation.NSNotificationReceiver",
      "FoundationEssentials.NotificationCenter._NSNotificationObserverToken",
    ] {
      #expect(KnownTypes.isNotificationCenter(type), "\(type)")
    }
    for type in [
      "App.NotificationCenter", "App.NSNotificationLog", "Foundation.NSNotification", "MyFoundation.NotificationCenter",
      "Foundation.NotificationCenterLog", "(extension in App):Foundation.NotificationCenter.Box",
    ] {
      #expect(!KnownTypes.isNotificationCenter(type), "\(type)")
    }
  }

  @Test func whatATaskWaitsForIsAFunctionOfTheLibrary() {
    #expect(KnownTypes.isStream(function: "Swift.AsyncStream.Iterator.next()"))
    #expect(KnownTypes.isStream(function: "closure #1 in Swift.AsyncThrowingStream._Storage.next(_:)"))
    for symbol in [
      "App.AsyncStreamReader.next()", "App.read(Swift.AsyncStream<Swift.Int>) async -> ()",
      "(extension in App):Swift.AsyncStream.first() async -> A",
    ] {
      #expect(!KnownTypes.isStream(function: symbol), "\(symbol)")
    }
    #expect(KnownTypes.isContinuation(function: "Swift.withCheckedThrowingContinuation(isolation:function:_:)"))
    #expect(
      KnownTypes.isContinuation(function: "Swift.withUnsafeContinuation<A>(isolation: Swift.Optional<A>) async -> B"))
    for symbol in ["App.ContinuationQueue.with(_:)", "App.wait(with: Swift.CheckedContinuation<(), Swift.Never>)"] {
      #expect(!KnownTypes.isContinuation(function: symbol), "\(symbol)")
    }
  }

  @Test func functionsAreNotWhatIsGenericOverOne() {
    for type in [
      "() -> ()", "@Sendable () async throws -> Swift.Int", "Swift.Optional<() -> ()>",
      "Swift.Array<(App.A<App.B>) -> ()>",
      "Swift.Dictionary<Swift.String, Swift.Array<() -> ()>>", "(App.Signal<Swift.Int>) -> ()",
    ] {
      #expect(TypeName.isFunction(type), "\(type)")
    }
    for type in [
      "App.Signal<() -> ()>", "Swift.Optional<App.Signal<(Swift.Int) -> ()>>", "App.Owner", "MySwift.Box<() -> ()>",
    ] {
      #expect(!TypeName.isFunction(type), "\(type)")
    }
  }

  @Test func genericTypesAreFoundByTheirWholeName() {
    #expect(TypeName.mentions("Swift.Unmanaged", in: "Swift.Optional<Swift.Unmanaged<App.Owner>>"))
    #expect(TypeName.mentions("Swift.Unmanaged", in: "Swift.Unmanaged<App.Owner>"))
    for type in ["App.Unmanaged<App.Owner>", "MySwift.Unmanaged<App.Owner>", "Swift.UnmanagedBox<A>", ""] {
      #expect(!TypeName.mentions("Swift.Unmanaged", in: type), "\(type)")
    }
  }

  // MARK: Advice

  private static func held(by type: String) -> String? {
    Advice.text(for: [
      PathStep(root: .init(kind: "global", name: "App.shared"), type: type, field: "host"),
      PathStep(type: "App.Owner", field: ""),
    ])
  }

  @Test func adviceForPathsThroughTypesOfTheUser() throws {
    for type in [
      "MyFoundation.TimerHost", "App.CFRunLoopTimerBox", "App.NotificationCenterLog", "App.NSNotificationLog",
    ] {
      #expect(try #require(Self.held(by: type)).hasPrefix("set `host` of \(type) to nil"), "\(type)")
    }
    #expect(try #require(Self.held(by: "Foundation.Timer")).hasPrefix("a timer holds it"))
    #expect(
      try #require(Self.held(by: "FoundationEssentials.NotificationCenter")).hasPrefix("a block registered with"))
  }

  private static func cycle(_ first: String, _ field: String, _ second: String, _ back: String, _ type: String? = nil)
    throws
    -> String
  {
    var heap = SyntheticHeap()
    let owner = heap.object(first, at: Scenario.site("App.show()", 12))
    let other = heap.object(second)
    heap.link(owner, field, other, type: type ?? "")
    heap.link(other, back, owner)
    return try #require(try heap.report().leaks.first?.advice)
  }

  @Test func adviceForCyclesOfTypesOfTheUser() throws {
    #expect(try !Self.cycle("App.Host", "a", "App.CFRunLoopTimerBox", "b").contains("Foundation"))
    #expect(try !Self.cycle("App.Observation", "a", "Foundation.Progress", "b").contains("removeObserver"))
    #expect(try !Self.cycle("App.VoiceActor", "a", "App.Studio", "b").contains("is counted like a class"))
    #expect(try !Self.cycle("App.Host", "a", "App.B", "b", "App.Unmanaged<App.B>").contains("Unmanaged reference"))
    #expect(try !Self.cycle("App.Host", "a", "App.Signal", "b", "App.Signal<() -> ()>").contains("closure"))
    #expect(try !Self.cycle("App.Assign<App.A>", "a", "OpenCombine.Inner", "b").contains("assign(to:on:)"))
    #expect(
      try Self.cycle("App.Host", "a", "OpenCombine.Subscribers.Assign<App.A, App.B>", "b").contains("assign(to:on:)"))
  }
}
