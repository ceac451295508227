public final class Parent {
  var child: Child?
  public init() {}
}

public final class Child {
  var parent: Parent?
}

/// Makes two objects that hold each other; what it returns is never the same for two callers.
@inline(never)
public func makeCycle(_ name: String) -> Int {
  let parent = Parent()
  let child = Child()
  parent.child = child
  child.parent = parent
  return name.count
}

/// Is no longer on its caller's stack when it makes them.
public func makeCycleLater(_ name: String) async -> Int {
  await Task.yield()
  return makeCycle(name)
}

/// An actor whose task waits for ever for something that only it could bring about.
public actor Waiter {
  private var task: Task<Void, Never>?
  private var continuation: CheckedContinuation<Void, Never>?

  public init() {}

  public func wait() {
    task = Task {
      await withCheckedContinuation { self.continuation = $0 }
      self.task = nil
    }
  }
}
