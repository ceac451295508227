import Foundation
import Testing
import Undead

/// What called the enum that had the name of the module goes on to compile, and does the same.
@Suite(.timeLimit(.minutes(20))) struct OldNamesTests {
  @Test func theyAreOtherNamesOfTheSame() async {
    await #expect(processExitsWith: .success) {
      let names: any UserOfOldNames = OldNames()
      try names.use()
    }
  }
}

private protocol UserOfOldNames {
  func use() throws
}

private struct OldNames: UserOfOldNames {
  @available(*, deprecated, message: "old names, on purpose")
  func use() throws {
    #expect(Undead.isActive && Undead.inactiveReason == nil)
    Undead.stop()
    #expect(!LeakDetector.isActive && Undead.inactiveReason != nil)
    try Undead.start(sampleEvery: 1 << 20)
    Undead.stop()
    try Undead.start()
    #expect(LeakDetector.isActive)
    let object = NSObject()
    Undead.markHeldOutside(object)
    Undead.unmarkHeldOutside(object)
    #expect(Undead.markGeneration("request") == 1)
    #expect(LeakDetector.markGeneration("request") == 2)
    #expect(try Undead.snapshot().nodes.count >= 0)
    #expect(try Undead.checkForLeaks().summary.liveBlocks >= 0)
    #expect(try Undead.checkForLeaks(options: .init()).runLoops == nil)
    #expect(throws: UndeadError.self) { try Undead.writeSnapshot(toFile: "/nowhere/at/all") }
    #expect(throws: UndeadError.self) { try Undead.writeHeap(to: "/nowhere/at/all") }
  }
}
