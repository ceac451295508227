import CUndead
import Foundation
import Testing

@testable import Undead

/// What a test leaves alive needs no look at the process, what it leaks does: each test in a process of its own.
@Suite(.timeLimit(.minutes(20))) struct SurvivorProofTests {
  @Test func whatGlobalsHoldNeedsNoLook() async {
    await #expect(processExitsWith: .success) {
      cache["first"] = [Item()]
      learnTypes()
      for number in 0..<20 {
        #expect(!mayHaveLeaks { Store.shared.fill() })
        #expect(!mayHaveLeaks { cache["\(number)"] = [Item()] })
        #expect(!mayHaveLeaks { newest = Item() })
      }
    }
  }

  /// Types that no look has met: of what is held, of what holds it, and of several objects of one type.
  @Test func typesAreLearnedWithoutALook() async {
    await #expect(processExitsWith: .success) {
      let leaked = mayHaveLeaks {
        newest = Item()
        leakACycle()
      }
      let held = mayHaveLeaks { Store.shared.others = (0..<3).map { _ in Wrapper(Other()) } }
      #expect(leaked)
      #expect(!held)
    }
  }

  /// A word that names no type is not what an object begins with, in an image of the toolchain's either. The runtime's tables
  /// of types begin with bytes that may look like an address of memory that is not there.
  @Test func memoryOfLibrariesIsNoObject() async {
    await #expect(processExitsWith: .success) {
      let type = unsafeBitCast(NSObject.self as AnyClass, to: UInt.self)
      let madeHere = unsafeBitCast(Generic<Item>.self as AnyClass, to: UInt.self)
      let function = UInt(bitPattern: dlsym(nil, "swift_retain"))
      for (word, isObject) in [(type, true), (madeHere, true), (function, false), (0x18_0000_5008, false)] {
        let data = NSMutableData()
        let scope = Scope { data.length = 64 }
        data.mutableBytes.storeBytes(of: word, as: UInt.self)
        #expect(undead_scope_has_survivors(scope.scope.number, scope.mark) == isObject)
      }
    }
  }

  /// Each place where a block may begin is looked at.
  @Test func survivorsAtAllPlaces() async {
    await #expect(processExitsWith: .success) {
      var kept: [Item] = []
      var places: Set<UInt> = []
      // Nothing is freed meanwhile, so in the end they come one behind the other, three granules each.
      while places.count < 16, kept.count < 4096 {
        let scope = Scope { newest = Item() }
        #expect(undead_scope_has_survivors(scope.scope.number, scope.mark))
        guard let newest else { break }
        kept.append(newest)
        places.insert(address(of: newest) / 16 % 16)
      }
      #expect(places.count == 16)
    }
  }

  @Test func whatTheCallerHoldsNeedsNoLook() async {
    await #expect(processExitsWith: .success) {
      learnTypes()
      let item = Item()
      let scope = Scope { item.next = Item() }
      let (held, alone) = (scope.mayHaveLeaks(heldBy: item), scope.mayHaveLeaks(heldBy: nil))
      #expect(!held)
      #expect(alone)
      withExtendedLifetime(item) {}
    }
  }

  @Test func oneThatNobodyHoldsNeedsALook() async {
    await #expect(processExitsWith: .success) {
      learnTypes()
      let alone = mayHaveLeaks {
        Store.shared.fill()
        leakACycle()
      }
      #expect(alone)
      // It refers to what is alive, which does not refer to it.
      #expect(mayHaveLeaks { leakACycle(to: Store.shared.items[0]) })
    }
  }

  /// What keeps nothing alive proves nothing: weak and unmanaged references, numbers, elements that were removed.
  @Test func wordsThatHoldNothingProveNothing() async {
    await #expect(processExitsWith: .success) {
      learnTypes()
      #expect(mayHaveLeaks { Store.shared.seen = cycle() })
      #expect(mayHaveLeaks { Store.shared.number = address(of: cycle()) })
      #expect(mayHaveLeaks { globalNumber = address(of: cycle()) })
      let removed = mayHaveLeaks {
        Store.shared.items.append(cycle())
        Store.shared.items.removeLast()
      }
      #expect(removed)
    }
  }

  @Test func whatWasHeldIsLeakedLater() async {
    await #expect(processExitsWith: .success) {
      learnTypes()
      let scope = Scope { newest = cycle() }
      let before = scope.mayHaveLeaks(heldBy: nil)
      newest = nil
      let after = scope.mayHaveLeaks(heldBy: nil)
      #expect(!before)
      #expect(after)
      // What hangs off it is lost, too, though each of them is held by another object.
      let holder = Holder()
      #expect(mayHaveLeaks { holder.leakWith(Item()) })
    }
  }

  /// What only fires or waits holds an object by may make it a suspect.
  @Test func whatOnlyFiresOrWaitsNeedsALook() async {
    await #expect(processExitsWith: .success) {
      observe()
      schedule()
      learnTypes()
      #expect(mayHaveLeaks { observe() })
      #expect(mayHaveLeaks { schedule() })
      let center = Scope { observe() }
      #expect(center.mayHaveLeaks(heldBy: NotificationCenter.default))
    }
  }

  /// Chains that are cut and made anew while they are read, and blocks that go away meanwhile.
  @Test func chainsThatChange() async {
    await #expect(processExitsWith: .success) {
      learnTypes()
      let done = Flag()
      let thread = Thread {
        while !done.isSet {
          Store.shared.swapItems()
          bytes = [UInt8](repeating: 1, count: 1 << 20)
          boxes = (0..<64).map { _ in Item() }
        }
      }
      thread.start()
      for _ in 0..<300 {
        let scope = Scope { leakACycle() }
        #expect(scope.mayHaveLeaks(heldBy: nil))
        _ = mayHaveLeaks { newest = Item() }
      }
      done.set()
      while !thread.isFinished { usleep(1000) }
    }
  }
}

/// A scope whose body has run.
private struct Scope {
  let scope: AllocationScope
  let mark: UInt32

  init(_ body: () -> Void) {
    mark = undead_scope_mark()
    scope = AllocationScope.outsideOfAll { AllocationScope("scope") }
    scope.run(body)
  }

  func mayHaveLeaks(heldBy holder: AnyObject?) -> Bool {
    undead_clear_stack()
    // Else it would be no question.
    precondition(undead_scope_has_survivors(scope.number, mark))
    return undead_scope_may_have_leaks(scope.number, mark, holder.map { Unmanaged.passUnretained($0).toOpaque() })
  }
}

private func mayHaveLeaks(_ body: () -> Void) -> Bool {
  Scope(body).mayHaveLeaks(heldBy: nil)
}

/// Types are learned by looks at the whole process.
private func learnTypes() {
  Store.shared.fill()
  newest = Item()
  _ = try? LeakDetector.checkForLeaks()
}

private class Item {
  var next: Item?
  var other: Item?
}

private final class Generic<Element> { var element: Element? }

private final class Other { var next: Item? = Item() }

private final class Wrapper {
  let other: Other
  init(_ other: Other) { self.other = other }
}

nonisolated(unsafe) private var cache: [String: [Item]] = [:]
nonisolated(unsafe) private var newest: Item?
nonisolated(unsafe) private var globalNumber: UInt = 0
nonisolated(unsafe) private var bytes: [UInt8] = []
nonisolated(unsafe) private var boxes: [Item] = []

private final class Store: @unchecked Sendable {
  static let shared = Store()
  var items: [Item] = []
  var others: [Wrapper] = []
  var spare: [Item] = []
  weak var seen: Item?
  var number: UInt = 0

  func fill() {
    items.reserveCapacity(1000)
    items.append(Item())
    items[items.count - 1].next = Item()
  }

  func swapItems() { swap(&items, &spare) }
}

private final class Holder {
  @inline(never) @_optimize(none)
  func leakWith(_ item: Item) {
    let lost = cycle()
    lost.other = item
  }
}

private final class Observer: @unchecked Sendable {
  var token: (any NSObjectProtocol)?
  var timer: Timer?
}

@inline(never) @_optimize(none) private func observe() {
  let observer = Observer()
  observer.token = NotificationCenter.default.addObserver(forName: Notification.Name("proof"), object: nil, queue: nil)
  {
    [observer] _ in _ = observer
  }
}

@inline(never) @_optimize(none) private func schedule() {
  let observer = Observer()
  observer.timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { [observer] _ in _ = observer }
}

@inline(never) @_optimize(none) private func cycle() -> Item {
  let first = Item()
  first.next = Item()
  first.next?.next = first
  return first
}

private func address(of item: Item) -> UInt { UInt(bitPattern: Unmanaged.passUnretained(item).toOpaque()) }

@inline(never) @_optimize(none) private func leakACycle(to other: Item? = nil) {
  cycle().other = other
}

private final class Flag: @unchecked Sendable {
  private let lock = NSLock()
  private var value = false
  var isSet: Bool { lock.withLock { value } }
  func set() { lock.withLock { value = true } }
}
