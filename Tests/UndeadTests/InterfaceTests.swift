import Foundation
import Testing
import Undead
import UndeadReport

/// The interface inside of a process: each test in a process of its own, since recording concerns all of it.
@Suite(.timeLimit(.minutes(20))) struct InterfaceTests {
  @Test func aTestProgramRecordsUntilItIsStopped() async {
    await #expect(processExitsWith: .success) {
      #expect(Undead.isActive)
      #expect(Undead.inactiveReason == nil)
      Undead.stop()
      #expect(!Undead.isActive)
      #expect(Undead.inactiveReason?.contains("stopped") == true)
      #expect(throws: UndeadError.self) { try Undead.snapshot() }
    }
  }

  @Test func findsACycle() async {
    await #expect(processExitsWith: .success) {
      try Undead.start()
      #expect(Undead.isActive)
      for _ in 0..<50 { leakACycle() }
      let report = try Undead.checkForLeaks()
      let leak = try #require(report.leaks.first { $0.objects.contains { $0.type.hasSuffix("LeakedNode") } })
      #expect(leak.kind == .retainCycle)
      #expect(leak.count >= 45)
      #expect(leak.cycle?.first?.field == "next")
      Undead.stop()
      #expect(!Undead.isActive)
    }
  }

  @Test func whatOlderObjectsHoldIsNoLeak() async {
    await #expect(processExitsWith: .success) {
      Undead.stop()
      let holder = UnsafeMutablePointer<Holder>.allocate(capacity: 1)
      holder.initialize(to: Holder())
      try Undead.start()
      for _ in 0..<100 { holder.pointee.add() }
      for _ in 0..<50 { leakACycle() }
      let types = try Undead.checkForLeaks().leaks.flatMap { $0.objects.map(\.type) }
      #expect(types.contains { $0.hasSuffix("LeakedNode") })
      #expect(!types.contains { $0.contains("HeldItem") })
      #expect(holder.pointee.count == 100)
    }
  }

  /// The runtime aborts if it is asked for such a type without the parameter.
  @Test func aHeapWithAClosureThatCapturesAProtocolTypeOfAParameter() async {
    await #expect(processExitsWith: .success) {
      try Undead.start()
      let kept = keep(HolderOf(7) as any ValueHolder<Int>)
      let path = "\(NSTemporaryDirectory())/undead-\(getpid()).undead"
      defer { unlink(path) }
      try Undead.writeHeap(to: path)
      #expect(access(path, F_OK) == 0)
      withExtendedLifetime(kept) {}
    }
  }

  @Test func aHeapTakesThePlaceOfNothingButAFile() async {
    await #expect(processExitsWith: .success) {
      try Undead.start()
      let path = "\(NSTemporaryDirectory())/undead-\(getpid())"
      defer { unlink(path) }
      #expect(mkfifo(path, 0o600) == 0)
      #expect {
        try Undead.writeHeap(to: path)
      } throws: {
        "\($0)".contains("something else has its name: \(path)")
      }
      #expect(throws: UndeadError.self) { try Undead.writeHeap(to: NSTemporaryDirectory()) }
      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_mode & S_IFMT == S_IFIFO)
      unlink(path)
      try Undead.writeHeap(to: path)
      #expect(try Snapshot(contentsOfFile: path).metadata("heap") == "1")
      #expect(access(path + ".partial", F_OK) != 0)
    }
  }

  @Test func writesAFile() async {
    await #expect(processExitsWith: .success) {
      try Undead.start()
      leakACycle()
      let path = "\(NSTemporaryDirectory())/undead-\(getpid()).undead"
      defer { unlink(path) }
      try Undead.writeSnapshot(toFile: path)
      #expect(try Snapshot(contentsOfFile: path).metadata("trigger") == "api")
      #expect(throws: UndeadError.self) { try Undead.writeSnapshot(toFile: "/nowhere/at/all") }
    }
  }

  @Test func marksGenerations() async {
    await #expect(processExitsWith: .success) {
      try Undead.start()
      #expect(Undead.markGeneration("first") == 1)
      #expect(Undead.markGeneration("") == 2)
      Undead.stop()
      #expect(Undead.markGeneration("third") == nil)
      #expect(Undead.inactiveReason != nil)
    }
  }

  @Test func manySnapshots() async {
    await #expect(processExitsWith: .success) {
      try Undead.start()
      for _ in 0..<100 { _ = try Undead.snapshot() }
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
