import Testing

@testable import UndeadReport

/// The texts about what nothing refers to, whole.
@Suite struct TextUnreferencedTests {
  @Test func task() throws {
    #expect(
      try Scenario.task().text() == """
        LEAK 1 of 1  suspended task that nobody can resume, 3 times  (6 objects, 4.0 KB)

            Task
              async frame → App.Mailbox

          waits in   App.Mailbox.next() at /app/main.swift:85
          allocated  in App.spawn() at /app/main.swift:80
          with it    3 × App.Mailbox (96 bytes), 3 × async frames (3.0 KB)
          advice     the task waits in App.Mailbox.next() for a continuation, and nothing can resume it any more: resume
                     it exactly once on every path, also when its owner goes away

          stack of the allocation:
            #0  App.spawn() at /app/main.swift:80
            #1  main at /app/main.swift:90

        undead: 1 leak (6 objects, 4.0 KB)

        """)
  }

  @Test func rawMemory() throws {
    #expect(
      try Scenario.rawMemory().text(stacks: false) == """
        LEAK 1 of 1  raw memory that nothing refers to  (2 objects, 4.0 KB)

            raw memory
              +16 → App.Item

          allocated  in App.buffer() at /app/main.swift:95
          with it    1 × App.Item (32 bytes)
          advice     memory taken by hand (UnsafeMutablePointer.allocate or the like) is never given back: call
                     deallocate() on every path, deinitialize(count:) before it if it holds objects

        undead: 1 leak (2 objects, 4.0 KB)

        """)
  }

  @Test func foundationTimer() throws {
    #expect(
      try Scenario.foundationTimer().text(stacks: false) == """
        LEAK 1 of 1  Foundation.Timer that nothing refers to  (3 objects, 112 bytes)

            Foundation.Timer
              .block → closure #1 in App.Clock.start() at /app/main.swift:110
                  captures self → App.Clock

          allocated  in App.Clock.start() at /app/main.swift:110
          with it    1 × App.Clock (32 bytes), 1 × closure context (captures App.Clock) (32 bytes)
          advice     Foundation's Timer on Linux never releases its block, not even after invalidate(): capture `self`
                     weakly in the block, so that only the timer is lost

        undead: 1 leak (3 objects, 112 bytes)

        """)
  }

  @Test func shared() throws {
    #expect(
      try Scenario.shared().text() == """
        LEAK 1 of 2  App.First that nothing refers to  (2 objects, 1.0 KB)

          allocated  in App.one() at /app/main.swift:120
          with it    1 × App.Tail (1.0 KB)
          advice     nothing refers to it, yet it was retained: memory that held it was deallocated or overwritten
                     without deinitialize(count:) (UnsafeMutablePointer), or Unmanaged.passRetained has no release(), or
                     C code did not give it back (takeRetainedValue); if its address is in a file, or stored in other
                     bits, LeakDetector.markHeldOutside(_:) says so

          stack of the allocation:
            #0  App.one() at /app/main.swift:120
            #1  main at /app/main.swift:90

        LEAK 2 of 2  App.Second that nothing refers to  (3 objects, 96 bytes)

          it holds another cycle, which leaks also without it:
            App.Right
              .left → App.Left
              .right → App.Right  ↺

          allocated  in App.two() at /app/main.swift:121
          with it    1 × App.Left (32 bytes), 1 × App.Right (32 bytes)
          advice     nothing refers to it, yet it was retained: memory that held it was deallocated or overwritten
                     without deinitialize(count:) (UnsafeMutablePointer), or Unmanaged.passRetained has no release(), or
                     C code did not give it back (takeRetainedValue); if its address is in a file, or stored in other
                     bits, LeakDetector.markHeldOutside(_:) says so

          stack of the allocation:
            #0  App.two() at /app/main.swift:121
            #1  main at /app/main.swift:90

        undead: 2 leaks (5 objects, 1.1 KB)

        """)
  }

  @Test func heldByForeignBlock() throws {
    #expect(
      try Scenario.heldByForeignBlock().text(stacks: false) == """
        LEAK 1 of 1  App.Job that nothing refers to  (1 object, 32 bytes)

          allocated  in App.submit() at /app/main.swift:140
          advice     only an unreachable block of C code (malloc block) refers to it: the code that lost that block, for
                     example a dispatch block that never ran, did not release the object

        undead: 1 leak (1 object, 32 bytes)

        """)
  }
}
