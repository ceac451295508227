import Foundation
import Testing

@testable import Undead

/// References that no check can see, each test in a process of its own.
@Suite struct HeldOutsideTests {
  private final class Request {
    var next: Request?
    let number = 7
  }

  /// Where the addresses of the requests are, in bits that mean nothing to a check.
  private nonisolated(unsafe) static var hidden: [UInt] = []

  @inline(never) private static func lose(_ count: Int, marked: Bool) {
    for _ in 0..<count {
      let request = Request()
      request.next = Request()
      hidden.append(~UInt(bitPattern: Unmanaged.passRetained(request).toOpaque()))
      if marked { LeakDetector.markHeldOutside(request) }
    }
  }

  @inline(never) private static func object(_ index: Int) -> Request {
    Unmanaged<Request>.fromOpaque(UnsafeRawPointer(bitPattern: ~hidden[index])!).takeUnretainedValue()
  }

  @inline(never) private static func overwriteStack(_ depth: Int) -> Int {
    depth == 0 ? 0 : 1 + overwriteStack(depth - 1)
  }

  private static func leaked() throws -> Int {
    _ = overwriteStack(200)
    return try LeakDetector.checkForLeaks().leaks.filter { $0.objects[0].type.hasSuffix("Request") }.map(\.count)
      .reduce(0, +)
  }

  @Test func aMarkedObjectIsNoLeak() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      Self.lose(50, marked: true)
      #expect(try Self.leaked() == 0)
      Thread.detachNewThread { for index in 0..<50 { LeakDetector.unmarkHeldOutside(Self.object(index)) } }
      while DetectionSession.process.heldOutside.count > 0 { usleep(1000) }
      // A word on a stack may still name one or the other.
      #expect(try (45...50).contains(Self.leaked()))
    }
  }

  @Test func marksAreCounted() {
    let held = HeldOutside()
    let request = Request()
    held.mark(request)
    held.mark(request)
    held.unmark(request)
    #expect(held.count == 1)
    held.unmark(request)
    held.unmark(request)
    #expect(held.count == 0)
  }

  @Test func deadObjectsAreForgotten() {
    let held = HeldOutside()
    let living = (0..<10).map { _ in Request() }
    for request in living { held.mark(request) }
    for _ in 0..<10_000 { held.mark(Request()) }
    #expect(held.count <= 75)
    for request in living { held.unmark(request) }
    withExtendedLifetime(living) {}
    for _ in 0..<100 { held.mark(Request()) }
    #expect(held.count <= 65)
  }

  @Test func manyThreads() {
    let held = HeldOutside()
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<2000 {
        let request = Request()
        held.mark(request)
        held.unmark(request)
      }
    }
    #expect(held.count == 0)
  }
}
