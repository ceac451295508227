import Testing

@testable import UndeadReport

/// Whole texts: what a user sees is the contract.
@Suite struct TextReportTests {
  @Test func pair() throws {
    #expect(
      try Scenario.pair().text() == """
        LEAK 1 of 1  retain cycle of App.Owner and App.Child, 2 times  (6 objects, 288 bytes)

            App.Owner
              .child → App.Child
              .owner → App.Owner  ↺

          allocated  in App.makePair() at /app/main.swift:12
          with it    2 × Swift.__StringStorage (128 bytes)
          advice     `owner` of App.Child refers back to what holds it: declare it `weak` (`unowned` if it never outlives
                     that object)
            #0  App.makePair() at /app/main.swift:12
            #1  main at /app/main.swift:90

        undead: 1 leak (6 objects, 288 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func ownClosure() throws {
    #expect(
      try Scenario.ownClosure().text() == """
        LEAK 1 of 1  retain cycle of App.Player  (2 objects, 64 bytes)

            App.Player
              .onEnd → closure #1 in App.Player.start() at /app/main.swift:24
                  captures self → App.Player  ↺

          allocated  in App.play() at /app/main.swift:20
          advice     closure stored in `onEnd` captures `self` strongly: capture it weakly (`[weak self]`)
            #0  App.play() at /app/main.swift:20
            #1  main at /app/main.swift:90

        undead: 1 leak (2 objects, 64 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func directClosure() throws {
    #expect(
      try Scenario.directClosure().text() == """
        LEAK 1 of 1  retain cycle of App.Player  (1 object, 32 bytes)

            App.Player
              .onEnd → closure #1 in App.Player.start() at /app/main.swift:24
                  captures self → App.Player  ↺

          allocated  in App.play() at /app/main.swift:20
          advice     closure stored in `onEnd` captures `self` strongly: capture it weakly (`[weak self]`)
            #0  App.play() at /app/main.swift:20
            #1  main at /app/main.swift:90

        undead: 1 leak (1 object, 32 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func lazyClosure() throws {
    #expect(
      try Scenario.lazyClosure().text() == """
        LEAK 1 of 1  retain cycle of App.View  (1 object, 32 bytes)

            App.View
              .render → closure #1 in App.View.render.getter at /app/main.swift:34
                  captures self → App.View  ↺

          allocated  in App.show() at /app/main.swift:30
          advice     the closure in the lazy property `render` captures `self` strongly and is kept: capture it weakly
                     (`[weak self]`)
            #0  App.show() at /app/main.swift:30
            #1  main at /app/main.swift:90

        undead: 1 leak (1 object, 32 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func delegate() throws {
    #expect(
      try Scenario.delegate().text() == """
        LEAK 1 of 1  retain cycle of App.Screen and App.Loader  (2 objects, 96 bytes)

            App.Screen
              .loader → App.Loader
              .delegate → App.Screen  ↺

          allocated  in App.open() at /app/main.swift:44
          advice     `delegate` of App.Loader refers back to what holds it: declare it `weak` (`unowned` if it never
                     outlives that object)
            #0  App.open() at /app/main.swift:44
            #1  main at /app/main.swift:90

        undead: 1 leak (2 objects, 96 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func children() throws {
    #expect(
      try Scenario.children().text() == """
        LEAK 1 of 1  retain cycle of App.Node and App.Leaf  (5 objects, 208 bytes)

            App.Node
              .children[0] → App.Leaf
              .parent → App.Node  ↺

          allocated  in App.grow() at /app/main.swift:50
          with it    2 × App.Leaf (64 bytes)
          advice     `parent` of App.Leaf refers back to what holds it: declare it `weak` (`unowned` if it never outlives
                     that object)
            #0  App.grow() at /app/main.swift:50
            #1  main at /app/main.swift:90

        undead: 1 leak (5 objects, 208 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func actor() throws {
    #expect(
      try Scenario.actor().text() == """
        LEAK 1 of 1  retain cycle of App.IndexActor and App.StoreActor  (2 objects, 64 bytes)

            App.IndexActor
              .store → App.StoreActor
              .index → App.IndexActor  ↺

          allocated  in App.open() at /app/main.swift:61
          advice     an actor is counted like a class: make one of these references `weak`: `App.IndexActor.store`,
                     `App.StoreActor.index`
            #0  App.open() at /app/main.swift:61
            #1  main at /app/main.swift:90

        undead: 1 leak (2 objects, 64 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func dictionary() throws {
    #expect(
      try Scenario.dictionary().text() == """
        LEAK 1 of 1  retain cycle of App.Cache  (2 objects, 160 bytes)

            App.Cache
              .entries[value] → App.Cache  ↺

          allocated  in App.warm() at /app/main.swift:70
          advice     `entries` holds the very object that it belongs to: remove it from there before the last use, or
                     keep it weakly
            #0  App.warm() at /app/main.swift:70
            #1  main at /app/main.swift:90

        undead: 1 leak (2 objects, 160 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func indirectEnum() throws {
    #expect(
      try Scenario.indirectEnum().text() == """
        LEAK 1 of 1  retain cycle of App.Tree  (2 objects, 64 bytes)

            App.Tree
              .top.split.left → App.Tree  ↺

          allocated  in App.plant() at /app/main.swift:72
          advice     `top.split.left` refers to the object itself: make it `weak`, or set it to nil when the object is
                     done
            #0  App.plant() at /app/main.swift:72
            #1  main at /app/main.swift:90

        undead: 1 leak (2 objects, 64 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func variable() throws {
    #expect(
      try Scenario.variable().text() == """
        LEAK 1 of 1  retain cycle of closure context (captures a variable) and box of () -> ()  (2 objects, 64 bytes)

            closure context (captures a variable)
              captured variable → box of () -> ()
              .value → closure #1 in App.recurse() at /app/main.swift:75
                  captures → closure context (captures a variable)  ↺

          allocated  at an unknown place: no backtrace was recorded
          advice     a closure captures the very variable that it is stored in: set the variable to nil after the last
                     call, or make it a local function

        undead: 1 leak (2 objects, 64 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func task() throws {
    #expect(
      try Scenario.task().text() == """
        LEAK 1 of 1  suspended task that nobody can resume, 3 times  (6 objects, 4080 bytes)

            Task
              async frame → App.Mailbox

          waits in   App.Mailbox.next() at /app/main.swift:85
          allocated  in App.spawn() at /app/main.swift:80
          with it    3 × async frames (3072 bytes), 3 × App.Mailbox (96 bytes)
          advice     the task waits in App.Mailbox.next() for a continuation that nobody can resume any more: resume it
                     exactly once on every path, also when its owner goes away
            #0  App.spawn() at /app/main.swift:80
            #1  main at /app/main.swift:90

        undead: 1 leak (6 objects, 4080 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func taskCycle() throws {
    #expect(
      try Scenario.taskCycle().text() == """
        LEAK 1 of 1  retain cycle of App.Feed and Task  (3 objects, 368 bytes)

            App.Feed
              .worker → Task
              +16 → closure #1 in App.Feed.start() at /app/main.swift:88
                  captures self → App.Feed  ↺

          waits in   closure #1 in App.Feed.start() at /app/main.swift:88
          allocated  in App.subscribe() at /app/main.swift:86
          advice     the task that `worker` leads to captures its owner and never ends: capture `self` weakly in the
                     task, and cancel it when the owner goes away
            #0  App.subscribe() at /app/main.swift:86
            #1  main at /app/main.swift:90

        undead: 1 leak (3 objects, 368 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func rawMemory() throws {
    #expect(
      try Scenario.rawMemory().text() == """
        LEAK 1 of 1  raw memory that nothing refers to  (2 objects, 4128 bytes)

            raw memory
              +16 → App.Item

          allocated  in App.buffer() at /app/main.swift:95
          with it    1 × App.Item (32 bytes)
          advice     memory taken by hand (UnsafeMutablePointer.allocate or the like) is never given back: call
                     deallocate() on every path, deinitialize(count:) before it if it holds objects
            #0  App.buffer() at /app/main.swift:95
            #1  main at /app/main.swift:90

        undead: 1 leak (2 objects, 4128 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func passRetained() throws {
    #expect(
      try Scenario.passRetained().text() == """
        LEAK 1 of 1  App.Context that nothing refers to  (2 objects, 48 bytes)

          allocated  in App.register() at /app/main.swift:100
          with it    1 × App.Log (16 bytes)
          advice     nothing refers to it, yet it was retained: most likely Unmanaged.passRetained without a release(),
                     or a context handed to C code that never gave it back (takeRetainedValue)
            #0  App.register() at /app/main.swift:100
            #1  main at /app/main.swift:90

        undead: 1 leak (2 objects, 48 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func foundationTimer() throws {
    #expect(
      try Scenario.foundationTimer().text() == """
        LEAK 1 of 1  Foundation.Timer that nothing refers to  (3 objects, 112 bytes)

            Foundation.Timer
              ._fire → closure #1 in App.Clock.start() at /app/main.swift:110
                  captures self → App.Clock

          allocated  in App.Clock.start() at /app/main.swift:110
          with it    1 × App.Clock (32 bytes), 1 × closure context (captures App.Clock) (32 bytes)
          advice     Foundation's Timer on Linux never releases its block, not even after invalidate(): capture `self`
                     weakly in the block, so that only the timer is lost
            #0  App.Clock.start() at /app/main.swift:110
            #1  main at /app/main.swift:90

        undead: 1 leak (3 objects, 112 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func shared() throws {
    #expect(
      try Scenario.shared().text() == """
        LEAK 1 of 2  App.First that nothing refers to  (2 objects, 1032 bytes)

          allocated  in App.one() at /app/main.swift:120
          with it    1 × App.Tail (1000 bytes)
          advice     nothing refers to it, yet it was retained: most likely Unmanaged.passRetained without a release(),
                     or a context handed to C code that never gave it back (takeRetainedValue)
            #0  App.one() at /app/main.swift:120
            #1  main at /app/main.swift:90

        LEAK 2 of 2  App.Second that nothing refers to  (3 objects, 96 bytes)

          it holds another cycle, which leaks also without it:
            App.Right
              .left → App.Left
              .right → App.Right  ↺

          allocated  in App.two() at /app/main.swift:121
          with it    1 × App.Left (32 bytes), 1 × App.Right (32 bytes)
          advice     nothing refers to it, yet it was retained: most likely Unmanaged.passRetained without a release(),
                     or a context handed to C code that never gave it back (takeRetainedValue)
            #0  App.two() at /app/main.swift:121
            #1  main at /app/main.swift:90

        undead: 2 leaks (5 objects, 1128 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func shortest() throws {
    #expect(
      try Scenario.shortest().text() == """
        LEAK 1 of 1  retain cycle of App.Step4, App.Step2 and 1 more type  (6 objects, 224 bytes)

            App.Step4
              .shortcut → App.Step2
              .next → App.Step3
              .next → App.Step4  ↺

          allocated  in App.walk() at /app/main.swift:134
          with it    1 × App.Step0 (32 bytes), 1 × App.Step1 (32 bytes), 1 × App.Step5 (32 bytes), 1 × C memory (32 bytes)
          advice     make one of these references `weak` or `unowned`, or set it to nil when the objects are done:
                     `App.Step4.shortcut`, `App.Step2.next`, `App.Step3.next`
            #0  App.walk() at /app/main.swift:134
            #1  main at /app/main.swift:90

        undead: 1 leak (6 objects, 224 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func heldByForeignBlock() throws {
    #expect(
      try Scenario.heldByForeignBlock().text() == """
        LEAK 1 of 1  App.Job that nothing refers to  (1 object, 32 bytes)

          allocated  in App.submit() at /app/main.swift:140
          advice     only an unreachable block of C code (malloc block) refers to it: whoever lost that block, for
                     example a dispatch block that never ran, did not release the object
            #0  App.submit() at /app/main.swift:140
            #1  main at /app/main.swift:90

        undead: 1 leak (1 object, 32 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func weakReference() throws {
    #expect(
      try Scenario.weakReference().text() == """
        LEAK 1 of 2  retain cycle of App.Owner and App.Child, 2 times  (6 objects, 288 bytes)

            App.Owner
              .child → App.Child
              .owner → App.Owner  ↺

          allocated  in App.makePair() at /app/main.swift:12
          with it    2 × Swift.__StringStorage (128 bytes)
          advice     `owner` of App.Child refers back to what holds it: declare it `weak` (`unowned` if it never outlives
                     that object)
            #0  App.makePair() at /app/main.swift:12
            #1  main at /app/main.swift:90

        LEAK 2 of 2  App.Observer that nothing refers to  (1 object, 32 bytes)

          allocated  in App.watch() at /app/main.swift:150
          advice     nothing refers to it, yet it was retained: most likely Unmanaged.passRetained without a release(),
                     or a context handed to C code that never gave it back (takeRetainedValue)
            #0  App.watch() at /app/main.swift:150
            #1  main at /app/main.swift:90

        undead: 2 leaks (7 objects, 320 bytes), 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func known() throws {
    #expect(
      try Scenario.known().text() == """
        KNOWN LEAKS of the toolchain, which the program cannot help
          1 × AppTests.OwnerTests (208 bytes): XCTest never releases a test case and its run, nor what the stored properties of the test case hold
          1 × Foundation.Timer (48 bytes): Foundation's Timer on Linux is never released after it fired or was invalidated; it holds no object of the program
          1 × Foundation.Cache (32 bytes): allocated by the toolchain's libraries for themselves: no function of the program took part

        undead: no leaks, 0 suspects, 3 known, 0 suppressed

        """)
  }

  @Test func cyclesBelowTestCase() throws {
    #expect(
      try Scenario.cyclesBelowTestCase().text() == """
        LEAK 1 of 1  retain cycle of AppTests.OwnerTests and App.Subject  (4 objects, 240 bytes)

            AppTests.OwnerTests
              .subject → App.Subject
              .delegate → AppTests.OwnerTests  ↺

          it holds another cycle, which leaks also without it:
            App.Model
              .onChange → closure #1 in App.Model.init() at /app/main.swift:167
                  captures self → App.Model  ↺

          allocated  in main at /app/main.swift:160
          with it    1 × XCTest.XCTestCaseRun (80 bytes), 1 × App.Model (32 bytes)
          advice     `delegate` of App.Subject refers back to what holds it: declare it `weak` (`unowned` if it never
                     outlives that object)
            #0  main at /app/main.swift:160
            #1  main at /app/main.swift:90

        undead: 1 leak (4 objects, 240 bytes), 0 suspects, 0 known, 0 suppressed

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

          allocated  in App.Badge.make() at /app/main.swift:170
          advice     the block registered with NotificationCenter captures the object that keeps its token in `token`:
                     capture `self` weakly, and call removeObserver(_:) when the owner goes away
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

          allocated  in App.Clock.make() at /app/main.swift:170
          advice     the timer holds the object that holds it in `timer`, so deinit never runs and cannot stop it:
                     capture `self` weakly in its block, and call invalidate() when the owner goes away
            #0  App.Clock.make() at /app/main.swift:170
            #1  main at /app/main.swift:90

        SUSPECT 3 of 4  App.Poller held only by a waiting task that it holds itself  (32 bytes)

            [global] App.poller
            Task
              async frame → App.Poller
            and App.Poller holds that thing itself:
            App.Poller
              .task → the task

          waits in   App.Poller.run() at /app/main.swift:175
          allocated  in App.poll() at /app/main.swift:176
          advice     the task waits and holds the object that holds it in `task`: capture `self` weakly in the task, and
                     cancel it when the owner goes away
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

          allocated  in App.Watcher.make() at /app/main.swift:170
          advice     the handler of the dispatch source captures the object that holds the source in `source`: capture
                     `self` weakly, and call cancel() when the owner goes away
            #0  App.Watcher.make() at /app/main.swift:170
            #1  main at /app/main.swift:90

        undead: no leaks, 4 suspects, 0 known, 0 suppressed

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
        undead: no leaks found, but the check is incomplete, 0 suspects, 0 known, 0 suppressed

        """)
  }

  @Test func clean() throws {
    #expect(
      try SyntheticHeap().text() == """
        undead: no leaks, 0 suspects, 0 known, 0 suppressed

        """)
  }
}
