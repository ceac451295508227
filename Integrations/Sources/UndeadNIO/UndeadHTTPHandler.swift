import NIOCore
import NIOHTTP1
import UndeadService

/// Answers HTTP requests in a channel of SwiftNIO, behind its HTTP/1 handlers.
///
/// One request a connection: it is closed after the answer. Bodies of requests are passed over.
public final class UndeadHTTPHandler: ChannelInboundHandler {
  public typealias InboundIn = HTTPServerRequestPart
  public typealias OutboundOut = HTTPServerResponsePart

  /// Says whether who asks may; called for each request before anything else.
  public typealias Authorization = @Sendable (UndeadDebugService.Request) async -> Bool

  private let service: UndeadDebugService
  private let isAllowed: Authorization
  private var head: HTTPRequestHead?
  private var answering: Task<Void, Never>?

  /// - Parameter isAllowed: who is refused gets status 401, with a question for a name and a password.
  public init(service: UndeadDebugService, isAllowed: @escaping Authorization) {
    self.service = service
    self.isAllowed = isAllowed
  }

  public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): if self.head == nil { self.head = head }
    case .body: break
    case .end:
      guard let head, answering == nil else { return }
      let answer = Answering(channel: context.channel, service: service, isAllowed: isAllowed)
      answering = Task { await answer.answer(head) }
    }
  }

  public func channelInactive(context: ChannelHandlerContext) {
    // Nobody waits for the answer any more.
    answering?.cancel()
    context.fireChannelInactive()
  }

  public func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}

@available(*, unavailable)
extension UndeadHTTPHandler: Sendable {}

/// Answers one request of a channel.
private struct Answering: Sendable {
  let channel: any Channel
  let service: UndeadDebugService
  let isAllowed: UndeadHTTPHandler.Authorization

  func answer(_ head: HTTPRequestHead) async {
    try? await write(response(head), isHead: head.method == .HEAD)
    try? await channel.close()
  }

  /// nil for who may not ask.
  private func response(_ head: HTTPRequestHead) async -> UndeadDebugService.Response? {
    let headers = head.headers.map { UndeadDebugService.Header(name: $0.name, value: $0.value) }
    guard
      let request = UndeadDebugService.Request(method: head.method.rawValue, target: head.uri, headers: headers),
      await isAllowed(request)
    else { return nil }
    return await service.respond(to: request)
  }

  private func write(_ answer: UndeadDebugService.Response?, isHead: Bool) async throws {
    var headers: HTTPHeaders = ["Connection": "close"]
    guard let answer else {
      headers.add(name: "WWW-Authenticate", value: "Basic realm=\"undead\"")
      headers.add(name: "Content-Length", value: "0")
      try await write(.head(.init(version: .http1_1, status: .unauthorized, headers: headers)))
      return try await write(.end(nil))
    }
    headers.add(name: "Content-Type", value: answer.contentType)
    if let length = answer.contentLength { headers.add(name: "Content-Length", value: "\(length)") }
    for header in answer.headers { headers.add(name: header.name, value: header.value) }
    try await write(
      .head(.init(version: .http1_1, status: .init(statusCode: answer.status), headers: headers)))
    if !isHead {
      // Each piece is read when the one before has gone out.
      for try await piece in answer.body { try await write(.body(.byteBuffer(ByteBuffer(bytes: piece)))) }
    }
    try await write(.end(nil))
  }

  private func write(_ part: HTTPServerResponsePart) async throws {
    try await channel.writeAndFlush(part)
  }
}
