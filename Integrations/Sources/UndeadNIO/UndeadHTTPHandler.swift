import NIOCore
import NIOHTTP1
import UndeadService

/// Answers HTTP requests in a channel of SwiftNIO, behind its HTTP/1 handlers.
///
/// One request a connection: it is closed after the answer. A request must come within ten seconds, without a body, and each
/// piece of the answer must be taken within thirty: else the connection is closed.
public final class UndeadHTTPHandler: ChannelInboundHandler {
  public typealias InboundIn = HTTPServerRequestPart
  public typealias OutboundOut = HTTPServerResponsePart

  /// Says whether who asks may; called for each request before anything else.
  public typealias Authorization = @Sendable (UndeadDebugService.Request) async -> Bool

  private let service: UndeadDebugService
  private let hosts: UndeadDebugService.Hosts
  private let isAllowed: Authorization
  private let headTime: TimeAmount
  private var head: HTTPRequestHead?
  private var hasBody = false
  private var answering: Task<Void, Never>?
  private var deadline: Scheduled<Void>?

  /// - Parameters:
  ///   - hosts: the names under which the server is asked; see `UndeadDebugService.Hosts`.
  ///   - isAllowed: who is refused gets status 401, with a question for a name and a password.
  public convenience init(
    service: UndeadDebugService, hosts: UndeadDebugService.Hosts = .any, isAllowed: @escaping Authorization
  ) {
    self.init(service: service, hosts: hosts, headTime: .seconds(10), isAllowed: isAllowed)
  }

  /// - Parameter headTime: in which a request must have come.
  init(
    service: UndeadDebugService, hosts: UndeadDebugService.Hosts, headTime: TimeAmount,
    isAllowed: @escaping Authorization
  ) {
    self.service = service
    self.hosts = hosts
    self.headTime = headTime
    self.isAllowed = isAllowed
  }

  public func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { limitTime(context) }
  }

  public func channelActive(context: ChannelHandlerContext) {
    limitTime(context)
    context.fireChannelActive()
  }

  private func limitTime(_ context: ChannelHandlerContext) {
    guard deadline == nil else { return }
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: headTime) { channel.close(promise: nil) }
  }

  public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): if self.head == nil { self.head = head }
    case .body:
      // Nothing here has one: who sends it does not get to send for long.
      if !hasBody, answering == nil { answer(context, hasBody: true) }
      hasBody = true
    case .end: if !hasBody, answering == nil { answer(context, hasBody: false) }
    }
  }

  private func answer(_ context: ChannelHandlerContext, hasBody: Bool) {
    guard let head else { return }
    deadline?.cancel()
    let answer = Answering(
      channel: context.channel, service: service, hosts: hosts, hasBody: hasBody, isAllowed: isAllowed)
    answering = Task { await answer.answer(head) }
  }

  public func channelInactive(context: ChannelHandlerContext) {
    // Nobody waits for the answer any more.
    answering?.cancel()
    deadline?.cancel()
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
  let hosts: UndeadDebugService.Hosts
  let hasBody: Bool
  let isAllowed: UndeadHTTPHandler.Authorization

  func answer(_ head: HTTPRequestHead) async {
    try? await write(response(head), isHead: head.method == .HEAD)
    try? await channel.close()
  }

  private func response(_ head: HTTPRequestHead) async -> UndeadDebugService.Response {
    let headers = head.headers.map { UndeadDebugService.Header(name: $0.name, value: $0.value) }
    guard !hasBody else { return .init(413, text: "a request has no body here\n") }
    guard
      let request = UndeadDebugService.Request(method: head.method.rawValue, target: head.uri, headers: headers)
    else { return .init(400, text: "the path of the request is not valid\n") }
    // A name that is not the server's is refused before a password is asked for: it would be that of another site.
    if let problem = service.refusal(of: request, hosts: hosts) { return problem }
    guard await isAllowed(request) else {
      return .init(
        401, text: "say who you are\n", headers: [.init(name: "WWW-Authenticate", value: "Basic realm=\"undead\"")])
    }
    return await service.respond(to: request, hosts: hosts)
  }

  private func write(_ answer: UndeadDebugService.Response, isHead: Bool) async throws {
    var headers: HTTPHeaders = ["Connection": "close"]
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
    // A client that does not read would keep the answer, and the file of the heap, without end.
    let deadline = channel.eventLoop.scheduleTask(in: .seconds(30)) { [channel] in channel.close(promise: nil) }
    defer { deadline.cancel() }
    try await channel.writeAndFlush(part)
  }
}
