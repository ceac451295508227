import Testing

@testable import UndeadReport

/// The texts about retain cycles, whole: what a user sees is the contract.
@Suite struct TextCycleTests {
  @Test func pair() throws {
    #expect(
      try Scenario.pair().text() == """
        LEAK 1 of 1  retain cycle of App.Owner and App.Child, 2 times  (6 objects, 288 bytes)

            App.Owner
              .child → App.Child
              .owner → App.Owner  ↺
              ^^^^^^

          allocated  in App.makePair() at /app/main.swift:12
          with it    2 × Swift.__StringStorage (128 bytes)
          advice     `owner` of App.Child seems to refer back to what holds it: declare it `weak` (`unowned` if it never
                     outlives that object)

          stack of the allocation:
            #0  App.makePair() at /app/main.swift:12
            #1  main at /app/main.swift:90

        undead: 1 leak (6 objects, 288 bytes)

        """)
  }

  @Test func ownClosure() throws {
    #expect(
      try Scenario.ownClosure().text(stacks: false) == """
        LEAK 1 of 1  retain cycle of App.Player  (2 objects, 64 bytes)

            App.Player
              .onEnd → closure #1 in App.Player.start() at /app/main.swift:24
              ^^^^^^
                  captures self → App.Player  ↺

          allocated  in App.play() at /app/main.swift:20
          advice     closure stored in `onEnd` captures `self` strongly: capture it weakly (`[weak self]`)

        undead: 1 leak (2 objects, 64 bytes)

        """)
  }

  @Test func directClosure() throws {
    #expect(
      try Scenario.directClosure().text(stacks: false) == """
        LEAK 1 of 1  retain cycle of App.Player  (1 object, 32 bytes)

            App.Player
              .onEnd → closure #1 in App.Player.start() at /app/main.swift:24
              ^^^^^^
                  captures self → App.Player  ↺

          allocated  in App.play() at /app/main.swift:20
          advice     closure stored in `onEnd` captures `self` strongly: capture it weakly (`[weak self]`)

        undead: 1 leak (1 object, 32 bytes)

        """)
  }

  @Test func lazyClosure() throws {
    #expect(
      try Scenario.lazyClosure().text(stacks: false) == """
        LEAK 1 of 1  retain cycle of App.View  (1 object, 32 bytes)

            App.View
              .render → closure #1 in App.View.render.getter at /app/main.swift:34
              ^^^^^^^
                  captures self → App.View  ↺

          allocated  in App.show() at /app/main.swift:30
          advice     the closure in the lazy property `render` captures `self` strongly and is kept: capture it weakly
                     (`[weak self]`)

        undead: 1 leak (1 object, 32 bytes)

        """)
  }

  @Test func delegate() throws {
    #expect(
      try Scenario.delegate().text(stacks: false) == """
        LEAK 1 of 1  retain cycle of App.Screen and App.Loader  (2 objects, 96 bytes)

            App.Screen
              .loader → App.Loader
              .delegate → App.Screen  ↺
              ^^^^^^^^^

          allocated  in App.open() at /app/main.swift:44
          advice     `delegate` of App.Loader refers back to what holds it: declare it `weak`

        undead: 1 leak (2 objects, 96 bytes)

        """)
  }

  @Test func children() throws {
    #expect(
      try Scenario.children().text(stacks: false) == """
        LEAK 1 of 1  retain cycle of App.Node and App.Leaf  (5 objects, 208 bytes)

            App.Node
              .children[0] → App.Leaf
              .parent → App.Node  ↺
              ^^^^^^^

          allocated  in App.grow() at /app/main.swift:50
          with it    2 × App.Leaf (64 bytes)
          advice     `parent` of App.Leaf seems to refer back to what holds it: declare it `weak` (`unowned` if it never
                     outlives that object)

        undead: 1 leak (5 objects, 208 bytes)

        """)
  }

  @Test func actor() throws {
    #expect(
      try Scenario.actor().text(stacks: false) == """
        LEAK 1 of 1  retain cycle of App.IndexActor and App.StoreActor  (2 objects, 64 bytes)

            App.IndexActor
              .store → App.StoreActor
              .index → App.IndexActor  ↺

          allocated  in App.open() at /app/main.swift:61
          advice     make the one of these references that does not own its object `weak` or `unowned`:
                     `App.IndexActor.store`, `App.StoreActor.index`

        undead: 1 leak (2 objects, 64 bytes)

        """)
  }

  @Test func dictionary() throws {
    #expect(
      try Scenario.dictionary().text(stacks: false) == """
        LEAK 1 of 1  retain cycle of App.Cache  (2 objects, 160 bytes)

            App.Cache
              .entries[value] → App.Cache  ↺
              ^^^^^^^^^^^^^^^

          allocated  in App.warm() at /app/main.swift:70
          advice     `entries` holds the very object that it belongs to: remove it from there before the last use, or
                     keep it weakly

        undead: 1 leak (2 objects, 160 bytes)

        """)
  }

  @Test func indirectEnum() throws {
    #expect(
      try Scenario.indirectEnum().text(stacks: false) == """
        LEAK 1 of 1  retain cycle of App.Tree  (2 objects, 64 bytes)

            App.Tree
              .top.split.left → App.Tree  ↺
              ^^^^^^^^^^^^^^^

          allocated  in App.plant() at /app/main.swift:72
          advice     `top.split.left` refers to the object itself: give `top` another value when the object is done

        undead: 1 leak (2 objects, 64 bytes)

        """)
  }

  @Test func variable() throws {
    #expect(
      try Scenario.variable().text() == """
        LEAK 1 of 1  retain cycle of closure context (captures a variable) and box of () -> ()  (2 objects, 64 bytes)

            closure context (captures a variable)
              captured variable → box of () -> ()
              .value → closure #1 in App.recurse() at /app/main.swift:75
              ^^^^^^
                  captures → closure context (captures a variable)  ↺

          allocated  at an unknown place: no backtrace was recorded
          advice     a closure captures the very variable that it is stored in: set the variable to nil after the last
                     call, or make it a local function

        undead: 1 leak (2 objects, 64 bytes)

        """)
  }

  @Test func taskCycle() throws {
    #expect(
      try Scenario.taskCycle().text(stacks: false) == """
        LEAK 1 of 1  retain cycle of App.Feed and Task  (3 objects, 368 bytes)

            App.Feed
              .worker → Task
              ^^^^^^^
              +16 → closure #1 in App.Feed.start() at /app/main.swift:88
                  captures self → App.Feed  ↺

          waits in   closure #1 in App.Feed.start() at /app/main.swift:88
          allocated  in App.subscribe() at /app/main.swift:86
          advice     the task that `worker` leads to holds its owner and has not ended: cancel it when the owner is done
                     (not in a deinit, which the task prevents), or capture `self` weakly in the task and let its loop
                     end

        undead: 1 leak (3 objects, 368 bytes)

        """)
  }

  @Test func shortest() throws {
    #expect(
      try Scenario.shortest().text(stacks: false) == """
        LEAK 1 of 1  retain cycle of App.Step4, App.Step2 and 1 more type  (6 objects, 224 bytes)

            App.Step4
              .shortcut → App.Step2
              .next → App.Step3
              .next → App.Step4  ↺

          allocated  in App.walk() at /app/main.swift:134
          with it    1 × App.Step0 (32 bytes), 1 × App.Step1 (32 bytes), 1 × App.Step5 (32 bytes), 1 × C memory (32 bytes)
          advice     `App.Step4.shortcut` is most likely the reference that does not own its object: make it `weak` or
                     `unowned`, or set it to nil when the objects are done

        undead: 1 leak (6 objects, 224 bytes)

        """)
  }
}
