import NIOCore
import NIOPosix

/// Sends text to a server.
///
/// - Returns: what it says until it closes.
func ask(_ text: String, _ address: SocketAddress) async throws -> String {
  let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    .connect(to: address) { channel in
      channel.eventLoop.makeCompletedFuture {
        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
      }
    }
  return try await channel.executeThenClose { inbound, outbound in
    try await outbound.write(ByteBuffer(string: text))
    var all = ByteBuffer()
    for try await piece in inbound { all.writeImmutableBuffer(piece) }
    // Profiles are no text.
    return String(decoding: all.readableBytesView, as: Unicode.ASCII.self)
  }
}
