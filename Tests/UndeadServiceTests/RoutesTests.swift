import Foundation
import Testing

@testable import UndeadService
@testable import UndeadServiceAnalysis

/// What is refused before anything is looked at.
@Suite struct RoutesTests {
  private let service = UndeadDebugService(configuration: .init(labels: [:], analyses: .inProcess))

  private func answer(_ target: String, method: String = "GET") async throws -> (status: Int, text: String) {
    let response = await service.respond(to: try #require(.init(method: method, target: target)))
    return (response.status, String(decoding: try await response.body.bytes(), as: UTF8.self))
  }

  @Test func indexes() async throws {
    let profiles = try await answer("/debug/pprof/")
    #expect(profiles.status == 200 && profiles.text.contains("<a href=\"heap\">"))
    let answers = try await answer("/debug/undead/")
    #expect(answers.status == 200 && answers.text.contains("<a href=\"growth\">"))
    #expect(try await answer("/debug/pprof").status == 301)
  }

  @Test func whatIsNotThere() async throws {
    #expect(try await answer("/debug/pprof/profile").status == 404)
    #expect(try await answer("/").status == 404)
    #expect(try await answer("/debug/pprof/heap/").status == 404)
    #expect(try await answer("/debug/pprof/heap", method: "POST").status == 405)
    let post = await service.respond(to: try #require(.init(method: "POST", target: "/debug/pprof/heap")))
    #expect(post.header("allow") == "GET, HEAD")
  }

  @Test(arguments: ["GET", "HEAD", "PUT", "OPTIONS", "get", "post"]) func onlyAPostMarks(method: String) async throws {
    let response = await service.respond(to: try #require(.init(method: method, target: "/debug/undead/mark?name=a")))
    #expect(response.status == 405 && response.header("Allow") == "POST")
  }

  @Test func headDoesNoWork() async throws {
    let response = await service.respond(to: .init(method: "HEAD", path: "/debug/pprof/heap"))
    #expect(response.status == 200 && response.body.count == 0 && response.contentLength == nil)
    #expect(response.contentType == "application/octet-stream")
    #expect(await service.respond(to: .init(method: "HEAD", path: "/x")).status == 404)
  }

  @Test(arguments: [
    "/debug/pprof/heap?seconds=0", "/debug/pprof/heap?seconds=601", "/debug/pprof/heap?seconds=x",
    "/debug/pprof/heap?seconds=1&debug=1", "/debug/pprof/heap?labels=size", "/debug/undead/report?format=xml",
    "/debug/undead/tasks?format=html", "/debug/undead/heap?by=colour", "/debug/undead/heap?top=0",
    "/debug/undead/heap?type=A&format=html",
    "/debug/undead/growth?seconds=-1", "/debug/undead/growth?since=a&format=html", "/debug/undead/mark",
    "/debug/undead/mark?name=", "/debug/undead/zombies?format=xml",
  ]) func wrongQueries(target: String) async throws {
    let (status, text) = try await answer(target, method: target.contains("/mark") ? "POST" : "GET")
    #expect(status == 400)
    #expect(text.contains("give") || text.contains("leave out"), "\(text)")
  }
}
