// PACKAGE swift-nio
/// Stands for NIO: the names of its types, and who holds whom.
public final class EventLoopFuture<Value> {
  private var callbacks: [(Value) -> Void] = []
  private var value: Value?

  public func whenSuccess(_ callback: @escaping (Value) -> Void) {
    if let value { callback(value) } else { callbacks.append(callback) }
  }

  fileprivate func complete(_ value: Value) {
    guard self.value == nil else { return }
    self.value = value
    let waiting = callbacks
    callbacks = []
    for callback in waiting { callback(value) }
  }
}

public struct EventLoopPromise<Value> {
  public let futureResult = EventLoopFuture<Value>()
  public init() {}
  public func succeed(_ value: Value) { futureResult.complete(value) }
}

public protocol ChannelHandler: AnyObject {
  func handlerAdded(context: ChannelHandlerContext)
  func handlerRemoved(context: ChannelHandlerContext)
}

public final class ChannelHandlerContext {
  public let handler: ChannelHandler
  public unowned let pipeline: ChannelPipeline
  fileprivate init(_ handler: ChannelHandler, _ pipeline: ChannelPipeline) {
    self.handler = handler
    self.pipeline = pipeline
  }
}

public final class ChannelPipeline {
  private var contexts: [ChannelHandlerContext] = []
  public init() {}

  public func addHandler(_ handler: ChannelHandler) {
    let context = ChannelHandlerContext(handler, self)
    contexts.append(context)
    handler.handlerAdded(context: context)
  }

  public func close() {
    let old = contexts
    contexts = []
    for context in old { context.handler.handlerRemoved(context: context) }
  }
}
