import Foundation
import Hummingbird
import HummingbirdTesting
import Testing
import UndeadService

@testable import ExampleServer

/// The routes in Hummingbird, behind a middleware that asks for a password.
@Suite(.timeLimit(.minutes(5))) struct HummingbirdTests {
  private let application = Application(router: ExampleServer.router(password: "secret"))
  private let allowed: HTTPFields = [.authorization: "Basic \(Data("ops:secret".utf8).base64EncodedString())"]

  @Test func withoutThePasswordNothingIsTold() async throws {
    try await application.test(.router) { client in
      for credentials in [nil, "ops:", "ops:secret2", "ops:Secret", "", ":"] {
        let headers: HTTPFields =
          credentials.map { [.authorization: "Basic \(Data($0.utf8).base64EncodedString())"] } ?? [:]
        for path in [
          "/debug/pprof/heap", "/debug/pprof/", "/debug/pprof", "/debug/undead/report", "/debug/undead/mark?name=a",
        ] {
          try await client.execute(uri: path, method: .get, headers: headers) { #expect($0.status == .unauthorized) }
        }
      }
      try await client.execute(uri: "/", method: .get) { #expect($0.status == .ok) }
    }
  }

  @Test func withoutARouteNothingIsThere() async throws {
    try await Application(router: ExampleServer.router(password: nil)).test(.router) { client in
      try await client.execute(uri: "/debug/pprof/heap", method: .get, headers: allowed) {
        #expect($0.status == .notFound)
      }
    }
  }

  @Test func answers() async throws {
    try await application.test(.live) { client in
      try await client.execute(uri: "/debug/pprof/", method: .get, headers: allowed) { response in
        #expect(response.status == .ok)
        #expect(String(buffer: response.body).contains("<a href=\"heap\">"))
      }
      try await client.execute(uri: "/debug/pprof", method: .get, headers: allowed) { response in
        #expect(response.status.code == 301 && response.headers[.location] == "/debug/pprof/")
      }
      try await client.execute(uri: "/debug/pprof/heap", method: .get, headers: allowed) { response in
        #expect(response.status == .ok && response.headers[.contentType] == "application/octet-stream")
        #expect(Array(response.body.readableBytesView.prefix(2)) == [0x1F, 0x8B])
      }
      try await client.execute(uri: "/debug/undead/heap?by=colour", method: .get, headers: allowed) { response in
        #expect(response.status == .badRequest)
      }
      try await client.execute(uri: "/debug/undead/report", method: .post, headers: allowed) { response in
        #expect(response.status == .methodNotAllowed && response.headers[.allow] == "GET, HEAD")
      }
      try await client.execute(uri: "/debug/pprof/heap", method: .head, headers: allowed) { response in
        #expect(response.status == .ok && response.body.readableBytes == 0)
      }
    }
  }
}
