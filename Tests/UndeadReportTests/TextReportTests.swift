import Testing

@testable import UndeadReport

/// The texts about everything else in a report, whole.
@Suite struct TextReportTests {
  @Test func known() throws {
    #expect(
      try Scenario.known().text() == """
        KNOWN LEAKS of the toolchain, which the program cannot help
          1 × AppTests.OwnerTests (208 bytes): XCTest never releases a test case and its run, nor what the stored properties of the test case hold
          1 × Foundation.Timer (48 bytes): Foundation's Timer on Linux is never released after it fired or was invalidated; it holds no object of the program
          1 × Foundation.Cache (32 bytes): allocated by the toolchain's libraries for themselves: no function of the program took part

        undead: no leaks, 3 known

        """)
  }

  @Test func cyclesBelowTestCase() throws {
    #expect(
      try Scenario.cyclesBelowTestCase().text() == """
        LEAK 1 of 1  retain cycle of AppTests.OwnerTests and App.Subject  (4 objects, 240 bytes)

            AppTests.OwnerTests
              .subject → App.Subject
              .delegate → AppTests.OwnerTests  ↺
              ^^^^^^^^^

          it holds another cycle, which leaks also without it:
            App.Model
              .onChange → closure #1 in App.Model.init() at /app/main.swift:167
                  captures self → App.Model  ↺

          allocated  in main at /app/main.swift:160
          with it    1 × App.Model (32 bytes), 1 × XCTest.XCTestCaseRun (80 bytes)
          advice     `delegate` of App.Subject refers back to what holds it: declare it `weak`

          stack of the allocation:
            #0  main at /app/main.swift:160
            #1  main at /app/main.swift:90

        undead: 1 leak (4 objects, 240 bytes)

        """)
  }

  @Test func suspects() throws {
    #expect(
      try Scenario.suspects().text() == """
        SUSPECT 1 of 4  App.Badge held only by an observer registration that it holds itself  (32 bytes)

            [global] NotificationCenter.default
            Foundation.NSNotificationReceiver
              .handler → closure #1 in App.Badge.start() at /app/main.swift:171
                  captures self → App.Badge
            and App.Badge holds that thing itself:
            App.Badge
              .token → the registration
              ^^^^^^

          allocated  in App.Badge.make() at /app/main.swift:170
          advice     the block registered with NotificationCenter captures the object that keeps its token in `token`:
                     capture `self` weakly, and call removeObserver(_:) when the owner goes away

          stack of the allocation:
            #0  App.Badge.make() at /app/main.swift:170
            #1  main at /app/main.swift:90

        SUSPECT 2 of 4  App.Clock held only by a timer that it holds itself  (32 bytes)

            [global] main run loop
            Foundation.Timer
              .handler → closure #1 in App.Clock.start() at /app/main.swift:171
                  captures self → App.Clock
            and App.Clock holds that thing itself:
            App.Clock
              .timer → the timer
              ^^^^^^

          allocated  in App.Clock.make() at /app/main.swift:170
          advice     the run loop keeps the timer, and the timer the object that has it in `timer`, so deinit never runs
                     and cannot stop it: capture `self` weakly in its block, and call invalidate() when the owner goes
                     away

          stack of the allocation:
            #0  App.Clock.make() at /app/main.swift:170
            #1  main at /app/main.swift:90

        SUSPECT 3 of 4  App.Poller held only by a waiting task that it holds itself  (32 bytes)

            [global] App.poller
            Task
              async frame → App.Poller
            and App.Poller holds that thing itself:
            App.Poller
              .task → the task
              ^^^^^

          waits in   App.Poller.run() at /app/main.swift:175
          allocated  in App.poll() at /app/main.swift:176
          advice     the task waits in App.Poller.run(), and this call keeps the object that holds the task in `task`, as
                     after `guard let self` or in a method of it: use `self?` for one step at a time inside the loop, or
                     cancel the task when the owner is done (not in its deinit, which the task prevents)

          stack of the allocation:
            #0  App.poll() at /app/main.swift:176
            #1  main at /app/main.swift:90

        SUSPECT 4 of 4  App.Watcher held only by a dispatch source that it holds itself  (32 bytes)

            [global] _dispatch_mgr_q
            Dispatch.DispatchSource
              .handler → closure #1 in App.Watcher.start() at /app/main.swift:171
                  captures self → App.Watcher
            and App.Watcher holds that thing itself:
            App.Watcher
              .source → the dispatch source
              ^^^^^^^

          allocated  in App.Watcher.make() at /app/main.swift:170
          advice     the handler of the dispatch source captures the object that holds the source in `source`: capture
                     `self` weakly, and call cancel() when the owner goes away

          stack of the allocation:
            #0  App.Watcher.make() at /app/main.swift:170
            #1  main at /app/main.swift:90

        undead: no leaks, 4 suspects

        """)
  }

  @Test func incomplete() throws {
    #expect(
      try Scenario.incomplete().text() == """
        note: thread 77 could not be stopped
        note: the check is incomplete: leaks may be missing from this report
        note: the counts are too low: 5 more leaked blocks did not fit into the snapshot
        note: no backtrace for 1 allocation: the store was full
        note: not listed: 3 unreachable blocks of C code (300 bytes), of which only C tools can tell whether they are leaks
        undead: not known whether anything leaked: the check is incomplete

        """)
  }

  @Test func clean() throws {
    #expect(
      try SyntheticHeap().text() == """
        undead: no leaks

        """)
  }
}
