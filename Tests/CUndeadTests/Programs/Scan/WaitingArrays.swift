// Threads that wait while elements of their arrays are behind the count.
import Dispatch
import Foundation

private let ready = DispatchSemaphore(value: 0)
private let never = DispatchSemaphore(value: 0)

private func wait() {
  ready.signal()
  never.wait()
}

@inline(never) private func waitWithRemovedElements(_ disguised: [UInt]) {
  var nodes: [Node] = []
  nodes.reserveCapacity(disguised.count)
  for word in disguised {
    nodes.append(Unmanaged<Node>.fromOpaque(UnsafeRawPointer(bitPattern: ~word)!).takeUnretainedValue())
  }
  nodes.removeAll(keepingCapacity: true)
  wait()
  withExtendedLifetime(nodes) {}
}

/// Memory of C that has the only references to nodes.
private func makeMemory() -> UnsafeMutableRawPointer {
  let memory = malloc(24)!
  memory.storeBytes(of: Unmanaged.passRetained(Node()).toOpaque(), as: UnsafeMutableRawPointer.self)
  return memory
}

/// What is appended is stored one after the other, and counted when all of it is there.
@inline(never) private func waitWithUncountedElements(_ count: Int) {
  var elements: [(Node, Shape, UnsafeMutableRawPointer)] = []
  elements.append(
    contentsOf: (0...count).lazy.map { index in
      if index == count { wait() }
      return (Node(), .pair(Node(), index), makeMemory())
    })
  withExtendedLifetime(elements) {}
}

/// Elements that are removed are counted until all of them are destroyed.
private final class Waiter { deinit { wait() } }
@inline(never) private func waitInRemoval(_ count: Int) {
  var elements: [(Waiter?, Node)] = (0..<count).map { _ in (nil, Node()) }
  elements[0].0 = Waiter()
  elements.removeAll(keepingCapacity: true)
  withExtendedLifetime(elements) {}
}

/// - Parameter disguised: Cycles that nobody holds any more.
func waitWithArrays(_ disguised: [UInt]) {
  let bodies: [@Sendable () -> Void] = [
    { waitWithRemovedElements(disguised) }, { waitWithUncountedElements(40) }, { waitInRemoval(40) },
  ]
  for body in bodies {
    Thread.detachNewThread(body)
    ready.wait()
  }
}
