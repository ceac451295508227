// PACKAGE connection-pool
/// Stands for any library whose objects have to be ended.
public final class Connection {
  private init() {}

  public static func open() -> Connection {
    let connection = Connection()
    _ = Unmanaged.passRetained(connection)
    return connection
  }

  public func close() { Unmanaged.passUnretained(self).release() }
}

public protocol ClientDelegate: AnyObject {}

public final class Client {
  private var worker: Worker?
  private var handler: Link?
  public init() {}
  public func start() { worker = Worker(self) }
  public func attach(_ handler: ClientDelegate) { self.handler = Link(handler) }

  public func close() {
    worker = nil
    handler = nil
  }
}

final class Worker {
  private let client: Client
  init(_ client: Client) { self.client = client }
}

final class Link {
  private let handler: ClientDelegate
  init(_ handler: ClientDelegate) { self.handler = handler }
}
