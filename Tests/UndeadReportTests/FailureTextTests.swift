import Testing

@testable import UndeadReport

@Suite struct FailureTextTests {
  @Test func leakInItsFirstLines() throws {
    let leak = try #require(try Scenario.pair().report().leaks.first)
    #expect(
      FailureText.text(leak, directory: "/app") == """
        leak: retain cycle of App.Owner and App.Child, 2 times  (6 objects, 288 bytes)
            App.Owner
              .child → App.Child
              .owner → App.Owner  ↺
              ^^^^^^
          allocated  in App.makePair() at main.swift:12
          with it    2 × Swift.__StringStorage (128 bytes)
          advice     `owner` of App.Child seems to refer back to what holds it: declare it `weak` (`unowned` if it never
                     outlives that object)
        """)
  }

  @Test func suspectSaysThatItIsOne() throws {
    let suspect = Suspect(
      kind: .timer, signature: "0", totalBytes: 48,
      objects: [LeakedObject(type: "App.Carousel", address: "0x1", size: 48)],
      retainPath: [
        PathStep(root: .init(kind: "global", name: "timers"), type: "CFRunLoopTimer", field: "context.info"),
        PathStep(type: "App.Carousel", field: ""),
      ])
    #expect(
      FailureText.text(suspect) == """
        suspect: App.Carousel held only by a timer that it holds itself  (48 bytes)
            [global] timers
            CFRunLoopTimer
              .context.info → App.Carousel
          allocated  at an unknown place: no backtrace was recorded
        """)
  }
}
