import Foundation
import Testing
import Undead
import UndeadReport

/// The interface inside of a process: each test in a process of its own, since recording concerns all of it.
@Suite(.timeLimit(.minutes(20))) struct InterfaceTests {
  @Test func aTestProgramRecordsUntilItIsStopped() async {
    await #expect(processExitsWith: .success) {
      #expect(LeakDetector.isActive)
      #expect(LeakDetector.inactiveReason == nil)
      LeakDetector.stop()
      #expect(!LeakDetector.isActive)
      #expect(LeakDetector.inactiveReason?.contains("stopped") == true)
      #expect(throws: UndeadError.self) { try LeakDetector.snapshot() }
      #expect(performing: { try LeakDetector.checkForLeaks() }, throws: { ($0 as? UndeadError)?.code == .unavailable })
    }
  }

  @Test func findsACycle() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      #expect(LeakDetector.isActive)
      for _ in 0..<50 { leakACycle() }
      let report = try LeakDetector.checkForLeaks()
      let leak = try #require(report.leaks.first { $0.objects.contains { $0.type.hasSuffix("LeakedNode") } })
      #expect(leak.kind == .retainCycle)
      #expect(leak.count >= 45)
      #expect(leak.cycle?.first?.field == "next")
      LeakDetector.stop()
      #expect(!LeakDetector.isActive)
    }
  }

  @Test func aTaskAwaitsACheck() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      for _ in 0..<50 { leakACycle() }
      let held = Holder()
      held.add()
      let path = "\(NSTemporaryDirectory())/undead-\(getpid()).undead"
      defer { unlink(path) }
      let report = try await LeakDetector.checkForLeaks()
      let types = report.leaks.flatMap { $0.objects.map(\.type) }
      #expect(types.contains { $0.hasSuffix("LeakedNode") })
      #expect(!types.contains { $0.hasSuffix("HeldItem") })
      #expect(try await LeakDetector.snapshot().isComplete)
      try await LeakDetector.writeHeap(to: path)
      #expect(try Snapshot(contentsOfFile: path).metadata("heap") == "1")
      await #expect(throws: UndeadError.self) { try await LeakDetector.writeSnapshot(toFile: "/nowhere/at/all") }
      withExtendedLifetime(held) {}
    }
  }

  @Test func whatOlderObjectsHoldIsNoLeak() async {
    await #expect(processExitsWith: .success) {
      LeakDetector.stop()
      let holder = UnsafeMutablePointer<Holder>.allocate(capacity: 1)
      holder.initialize(to: Holder())
      try LeakDetector.start()
      for _ in 0..<100 { holder.pointee.add() }
      for _ in 0..<50 { leakACycle() }
      let types = try LeakDetector.checkForLeaks().leaks.flatMap { $0.objects.map(\.type) }
      #expect(types.contains { $0.hasSuffix("LeakedNode") })
      #expect(!types.contains { $0.contains("HeldItem") })
      #expect(holder.pointee.count == 100)
    }
  }

  /// The runtime aborts if it is asked for such a type without the parameter.
  @Test func aHeapWithAClosureThatCapturesAProtocolTypeOfAParameter() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      let kept = keep(HolderOf(7) as any ValueHolder<Int>)
      let path = "\(NSTemporaryDirectory())/undead-\(getpid()).undead"
      defer { unlink(path) }
      try LeakDetector.writeHeap(to: path)
      #expect(access(path, F_OK) == 0)
      withExtendedLifetime(kept) {}
    }
  }

  @Test func aHeapTakesThePlaceOfNothingButAFile() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      let folder = "\(NSTemporaryDirectory())/undead-\(getpid())"
      let path = folder + "/heap"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      #expect(mkfifo(path, 0o600) == 0)
      #expect {
        try LeakDetector.writeHeap(to: path)
      } throws: {
        "\($0)".contains("something else has its name: \(path)")
      }
      #expect(throws: UndeadError.self) { try LeakDetector.writeHeap(to: NSTemporaryDirectory()) }
      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_mode & S_IFMT == S_IFIFO)
      unlink(path)
      try LeakDetector.writeHeap(to: path)
      #expect(try Snapshot(contentsOfFile: path).metadata("heap") == "1")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["heap"])
    }
  }

  @Test func writesAFile() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      leakACycle()
      let path = "\(NSTemporaryDirectory())/undead-\(getpid()).undead"
      defer { unlink(path) }
      try LeakDetector.writeSnapshot(toFile: path)
      #expect(try Snapshot(contentsOfFile: path).metadata("trigger") == "api")
      #expect(
        performing: { try LeakDetector.writeSnapshot(toFile: "/nowhere/at/all") },
        throws: { ($0 as? UndeadError)?.code == .failed })
    }
  }

  @Test func marksGenerations() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      #expect(LeakDetector.markGeneration("first") == 1)
      #expect(LeakDetector.markGeneration("") == 2)
      LeakDetector.stop()
      #expect(LeakDetector.markGeneration("third") == nil)
      #expect(LeakDetector.inactiveReason != nil)
    }
  }

  @Test func manySnapshots() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      for _ in 0..<100 { _ = try LeakDetector.snapshot() }
    }
  }
}

/// Made before recording starts, with a buffer and a box of its own.
private final class Holder {
  private final class HeldItem {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  private var first: [HeldItem] = []
  private var others: [Int: HeldItem] = [:]
  var count: Int { first.count + others.count }

  init() {
    first.reserveCapacity(60)
    others.reserveCapacity(60)
  }

  func add() {
    if first.count < 50 { first.append(HeldItem(count)) } else { others[count] = HeldItem(count) }
  }
}

private final class LeakedNode {
  var next: LeakedNode?
}

@inline(never) @_optimize(none)
private func leakACycle() {
  let first = LeakedNode()
  let second = LeakedNode()
  first.next = second
  second.next = first
}

private protocol ValueHolder<Value> {
  associatedtype Value
  var value: Value { get }
}

private final class HolderOf<Value>: ValueHolder {
  let value: Value
  init(_ value: Value) { self.value = value }
}

@inline(never) private func keep<Value>(_ holder: any ValueHolder<Value>) -> () -> Any { { holder.value } }
