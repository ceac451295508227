import Synchronization
import Testing
import UndeadTesting

/// Questions about the whole process: only objects of types that no other test uses.
@Suite(.serialized) struct HeapGrowthTests {
  final class Entry: Sendable {}
  static let entries = Mutex<[Entry]>([])

  @Test func whatBecomesMoreEachTime() {
    withKnownIssue {
      assertNoHeapGrowth { Self.entries.withLock { $0.append(Entry()) } }
    } matching: {
      // Other tests may make objects at the same time.
      $0.comments.first?.rawValue.contains("growth: more") == true
    }
    #expect(Self.entries.withLock { $0.count } == 7)
  }

  @Test func objectsThatAreAlive() {
    final class Counted {}
    let objects = [Counted(), Counted()]
    assertLiveObjects(of: Counted.self, atMost: 2)
    withKnownIssue {
      assertLiveObjects(of: Counted.self, atMost: 1)
    } matching: {
      $0.comments.first?.rawValue.contains("2 objects of") == true
    }
    withExtendedLifetime(objects) {}
  }
}
