import Foundation
import Hummingbird

/// Lets nobody through who does not know one name and one password.
struct BasicAuthentication<Context: RequestContext>: RouterMiddleware {
  private let expected: [UInt8]

  init(user: String, password: String) {
    expected = Array("\(user):\(password)".utf8)
  }

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    guard isAllowed(request.headers[.authorization]) else {
      return Response(status: .unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"undead\""])
    }
    return try await next(request, context)
  }

  private func isAllowed(_ header: String?) -> Bool {
    guard let header, header.lowercased().hasPrefix("basic "),
      let given = Data(base64Encoded: String(header.dropFirst(6)))
    else { return false }
    // As many steps whatever is wrong, so that nothing can be learned from the time.
    var difference = given.count ^ expected.count
    for place in expected.indices {
      difference |= Int(expected[place] ^ (given.isEmpty ? 0 : given[given.startIndex + place % given.count]))
    }
    return difference == 0
  }
}
