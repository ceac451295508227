// A handler that keeps its context after the channel was closed.
// KEPT BY its context
// ADVICE the handler keeps its context in `context` of App.Echo, and the context keeps the handler
// FIX set it to nil in `handlerRemoved(context:)`
import NIOCore

final class Echo: ChannelHandler {
  private var context: ChannelHandlerContext?
  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) {
    #if FIXED
      self.context = nil
    #endif
  }
}
@inline(never) func run() {
  let pipeline = ChannelPipeline()
  pipeline.addHandler(Echo())
  pipeline.close()
}
run()
