import Foundation

/// An object of 64 bytes or so, as servers have them by the thousand.
final class Session {
  let number: Int
  let pad = (0, 0, 0, 0)
  init(_ number: Int) { self.number = number }
}

final class Node {
  var other: Node?
  var children: [Node] = []
  var handler: (() -> Void)?
  let name: String
  init(_ name: String = "") { self.name = name }
}

final class Tree {
  let left, right: Tree?
  let value: Int
  init(depth: Int) {
    left = depth > 0 ? Tree(depth: depth - 1) : nil
    right = depth > 0 ? Tree(depth: depth - 1) : nil
    value = depth
  }
}

final class Link {
  let next: Link?
  let number: Int
  init(_ number: Int, _ next: Link?) { (self.number, self.next) = (number, next) }
  deinit {}
}

protocol Delegate: AnyObject {}
final class Owner: Delegate {
  var delegate: (any Delegate)?
  var table: [String: Owner] = [:]
  let bytes = [UInt8](repeating: 1, count: 200)
}

final class Box<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
}

/// What lives until the process ends.
nonisolated(unsafe) var objects: [AnyObject] = []
nonisolated(unsafe) var strings: [String] = []
nonisolated(unsafe) var table: [Int: [UInt8]] = [:]
nonisolated(unsafe) var names: [String: Int] = [:]
nonisolated(unsafe) var set: Set<String> = []
nonisolated(unsafe) var data: [Data] = []
nonisolated(unsafe) var log = Data()
nonisolated(unsafe) var closures: [() -> Int] = []
nonisolated(unsafe) var list: Link?
nonisolated(unsafe) var values = ContiguousArray<(Int, Int, Int)>()
nonisolated(unsafe) var nested: [String: [String: Int]] = [:]
nonisolated(unsafe) var mapped: [UnsafeMutableRawPointer] = []
let lock = NSLock()

func text(_ number: Int) -> String { "a text that is too long to be inline, and its number is \(number)" }

func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }

/// Makes `count` of something, of which one in `share` survives; none if that is 0. Those that do not lie between those that do.
func burst<Value>(_ count: Int, share: Int, keep: ([Value]) -> Void, _ make: (Int) -> Value) {
  var gone: [Value] = []
  var survivors: [Value] = []
  for number in 0..<count {
    let value = make(number)
    if share > 0 && number % share == 0 { survivors.append(value) } else { gone.append(value) }
  }
  lock.lock()
  keep(survivors)
  lock.unlock()
}

func drop<Value>(_ survivors: [Value]) {}
func keepObjects(_ survivors: [AnyObject]) { objects += survivors }
func keepStrings(_ survivors: [String]) { strings += survivors }
func keepBuffers(_ survivors: [[UInt8]]) { for one in survivors { table[table.count] = one } }
func keepData(_ survivors: [Data]) { data += survivors }
func keepClosures(_ survivors: [() -> Int]) { closures += survivors }
func keepNames(_ survivors: [String]) { for one in survivors { names[one] = 1 } }

/// Runs the work on so many threads, which then wait until the process ends.
func onThreads(_ count: Int, _ work: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  for _ in 0..<count {
    Thread.detachNewThread {
      work()
      done.signal()
      while true { sleep(1000) }
    }
  }
  for _ in 0..<count { done.wait() }
}

/// Waits for tasks that this thread does not run.
func runTasks(_ count: Int, _ work: @escaping @Sendable (Int) async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await withTaskGroup(of: Void.self) { group in for number in 0..<count { group.addTask { await work(number) } } }
    done.signal()
  }
  done.wait()
}
