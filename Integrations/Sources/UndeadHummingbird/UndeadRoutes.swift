import HTTPTypes
import Hummingbird
import UndeadService

extension RouterMethods {
  /// Adds the routes of Undead, below `/debug/pprof` and `/debug/undead`.
  ///
  /// They tell names of types, functions and files to whoever may ask: add them to a group whose middleware says who.
  ///
  /// ```swift
  /// router.group().add(middleware: BasicAuthentication(user: "ops", password: secret)).addUndeadRoutes()
  /// ```
  ///
  /// - Parameters:
  ///   - service: answers; one for all servers of a process, so that one looks at a time.
  ///   - hosts: the names under which the server is asked. Without a middleware that asks for a password give
  ///     `.loopback(port:)` or `.named(_:)`: any page that a browser on this machine shows could read the answers otherwise.
  @discardableResult
  public func addUndeadRoutes(
    _ service: UndeadDebugService = UndeadDebugService(), hosts: UndeadDebugService.Hosts = .any
  ) -> Self {
    for path: RouterPath in ["debug/pprof", "debug/pprof/**", "debug/undead", "debug/undead/**"] {
      for method in [HTTPRequest.Method.get, .head, .post, .put, .delete, .patch] {
        on(path, method: method) { request, _ in await service.answer(request, hosts) }
      }
    }
    return self
  }
}

extension UndeadDebugService {
  /// Answers a request of Hummingbird.
  fileprivate func answer(_ request: Hummingbird.Request, _ hosts: Hosts) async -> Hummingbird.Response {
    var headers = request.headers.map { Header(name: $0.name.rawName, value: $0.value) }
    // Hummingbird has it apart, as HTTP/2 does.
    if let authority = request.head.authority { headers.append(Header(name: "Host", value: authority)) }
    let target = request.uri.string
    guard let question = Request(method: request.method.rawValue, target: target, headers: headers) else {
      return Hummingbird.Response(status: .badRequest)
    }
    let answer = await respond(to: question, hosts: hosts)
    var fields = HTTPFields()
    fields[.contentType] = answer.contentType
    for header in answer.headers {
      guard let name = HTTPField.Name(header.name) else { continue }
      fields.append(HTTPField(name: name, value: header.value))
    }
    let status = HTTPResponse.Status(code: answer.status)
    guard request.method != .head else { return Hummingbird.Response(status: status, headers: fields) }
    let body = ResponseBody(contentLength: answer.contentLength) { writer in
      for try await piece in answer.body { try await writer.write(ByteBuffer(bytes: piece)) }
      try await writer.finish(nil)
    }
    return Hummingbird.Response(status: status, headers: fields, body: body)
  }
}
