// PACKAGE OpenCombine
/// Stands for OpenCombine: the names of its types, and who holds whom.
public protocol Subscriber: AnyObject { func receive(_ value: Int) }

public final class AnyCancellable {
  private var body: (() -> Void)?
  fileprivate init(_ body: @escaping () -> Void) { self.body = body }

  public func cancel() {
    body?()
    body = nil
  }

  deinit { cancel() }
}

public final class Sink: Subscriber {
  private let body: (Int) -> Void
  fileprivate init(_ body: @escaping (Int) -> Void) { self.body = body }
  public func receive(_ value: Int) { body(value) }
}

public enum Subscribers {
  public final class Assign<Root: AnyObject>: Subscriber {
    private let object: Root
    private let keyPath: ReferenceWritableKeyPath<Root, Int>

    fileprivate init(_ object: Root, _ keyPath: ReferenceWritableKeyPath<Root, Int>) {
      self.object = object
      self.keyPath = keyPath
    }

    public func receive(_ value: Int) { object[keyPath: keyPath] = value }
  }
}

public final class PassthroughSubject {
  private var downstreams: [Subscriber] = []
  public init() {}

  public func subscribe(_ subscriber: Subscriber) { downstreams.append(subscriber) }

  public func sink(_ body: @escaping (Int) -> Void) -> AnyCancellable { attach(Sink(body)) }

  public func assign<Root: AnyObject>(to keyPath: ReferenceWritableKeyPath<Root, Int>, on object: Root)
    -> AnyCancellable
  {
    attach(Subscribers.Assign(object, keyPath))
  }

  public func complete() { downstreams = [] }

  private func attach(_ subscriber: Subscriber) -> AnyCancellable {
    subscribe(subscriber)
    return AnyCancellable { [weak self, weak subscriber] in self?.downstreams.removeAll { $0 === subscriber } }
  }
}
