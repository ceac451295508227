/// Stands for a copy of CombineX among the sources of the program.
public final class Publisher {
  fileprivate var downstream: Subscription?
  public init() {}

  public func subscribe() -> Subscription {
    let subscription = Subscription(self)
    downstream = subscription
    return subscription
  }
}

public final class Subscription {
  private var upstream: Publisher?
  fileprivate init(_ upstream: Publisher) { self.upstream = upstream }

  public func cancel() {
    upstream?.downstream = nil
    upstream = nil
  }
}
