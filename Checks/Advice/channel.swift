// A channel that is never closed, with a handler that leads to it.
// KEPT BY the channel
// ADVICE a channel holds its handlers until it is closed
// FIX close it
import NIOCore

final class Echo: ChannelHandler {
  private var pipeline: ChannelPipeline?
  func handlerAdded(context: ChannelHandlerContext) { pipeline = context.pipeline }
  func handlerRemoved(context: ChannelHandlerContext) {}
}
@inline(never) func run() {
  let pipeline = ChannelPipeline()
  pipeline.addHandler(Echo())
  #if FIXED
    pipeline.close()
  #endif
}
run()
