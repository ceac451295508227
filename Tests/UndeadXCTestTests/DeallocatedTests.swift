import Dispatch
import Testing
import UndeadXCTest
import XCTest

@Suite(.serialized) @MainActor struct DeallocatedTests {
  @Test func anObjectThatDies() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      assertDeallocated { Owner() }
      var owner: Owner? = Owner()
      assertDeallocated(&owner)
      XCTAssertNil(owner)
      assertDeallocated { nil as Owner? }
    }
    #expect(failures == [])
  }

  @Test func anObjectThatLives() {
    var line = 0
    let failures = CaseRunner.failures { (_: XCTestCase) in
      line = #line + 1
      assertDeallocated(after: .zero) { () -> SendableOwner in
        let owner = SendableOwner()
        Registry.owners.withLock { $0.append(owner) }
        return owner
      }
    }
    #expect(failures.map(\.line) == [line])
    #expect(failures.first?.text.contains("UndeadXCTestTests.SendableOwner") == true)
  }

  /// The stack may still have a word of the object, which owns nothing.
  @Test func aVariableWhoseObjectIsInACycle() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      var owner: Owner? = Owner()
      let word = UInt(bitPattern: Unmanaged.passUnretained(owner!).toOpaque())
      owner?.item = Item()
      owner?.item?.owner = owner
      assertDeallocated(&owner, after: .zero)
      withExtendedLifetime(word) {}
    }
    #expect(failures.count == 1)
    #expect(failures.first?.text.contains("item") == true && failures.first?.text.contains("stack of") == false)
  }

  /// Another variable owns the owner itself, as its cycle does: both have to go.
  @Test func aVariableWhoseObjectAnotherVariableHas() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      let kept = Owner()
      var owner: Owner? = kept
      kept.item = Item()
      kept.item?.owner = kept
      assertDeallocated(&owner, after: .zero)
      withExtendedLifetime(kept) {}
    }
    #expect(failures.count == 1)
    let text = failures.first?.text ?? ""
    #expect(text.contains("is in a retain cycle, which keeps it as well:"), "\(text)")
    #expect(
      text.contains(".owner \u{2192} UndeadXCTestTests.Owner  \u{21BA}") && text.contains("a local variable"), "\(text)"
    )
  }

  /// The local variable owns the item alone: the cycle keeps the owner, and would keep it after the variable.
  @Test func aVariableWhoseObjectIsInACycleWithAnotherVariable() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      var owner: Owner? = Owner()
      let item = Item()
      owner?.item = item
      item.owner = owner
      assertDeallocated(&owner, after: .zero)
      withExtendedLifetime(item) {}
    }
    #expect(failures.count == 1)
    #expect(failures.first?.text.contains("retain cycle") == true, "\(failures)")
    #expect(failures.first?.text.contains(".owner \u{2192} UndeadXCTestTests.Owner  \u{21BA}") == true)
  }

  /// A word of the stack names the owner, too, and owns nothing.
  @Test func aVariableWhoseObjectALocalArrayHolds() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      var owner: Owner? = Owner()
      let word = UInt(bitPattern: Unmanaged.passUnretained(owner!).toOpaque())
      let owners = [owner!]
      assertDeallocated(&owner, after: .zero)
      withExtendedLifetime((owners, word)) {}
    }
    #expect(failures.count == 1)
    #expect(failures.first?.text.contains("[0] \u{2192} UndeadXCTestTests.Owner") == true, "\(failures)")
    #expect(failures.first?.text.contains("argument of a call that has not returned") == true)
  }

  @Test func anObjectThatAWaitingTaskHolds() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      let waits = DispatchSemaphore(value: 0)
      var task: Task<Void, Never>?
      assertDeallocated(after: .milliseconds(100)) { () -> SendableOwner in
        let owner = SendableOwner()
        task = Task.detached { await keep(owner, waits) }
        waits.wait()
        return owner
      }
      task?.cancel()
    }
    #expect(failures.count == 1)
    #expect(failures.first?.text.contains("task that waits in UndeadXCTestTests.keep(_:_:)") == true)
  }

  @Test func aVariableWhoseObjectLives() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      var owner: SendableOwner? = SendableOwner()
      let other = owner
      assertDeallocated(&owner, after: .zero)
      withExtendedLifetime(other) {}
    }
    #expect(failures.count == 1)
  }
}

private func keep(_ owner: SendableOwner, _ waits: DispatchSemaphore) async {
  waits.signal()
  try? await Task.sleep(for: .seconds(3600))
  withExtendedLifetime(owner) {}
}
