import Foundation
import Testing
import Undead
import UndeadTestSupport

@testable import UndeadProfile
@testable import UndeadService
@testable import UndeadServiceAnalysis

/// Answers about a process that records, each in a process of its own.
@Suite(.timeLimit(.minutes(10))) struct AnswersTests {
  @Test func profiles() async {
    await #expect(processExitsWith: .success) {
      let kept = (0..<100).map { _ in ServiceItem() }
      let profile = try decoded(try await get("/debug/pprof/heap?gc=1").bytes)
      let items = profile.sample.filter { $0.labels(profile)["type"]?.hasSuffix("ServiceItem") == true }
      #expect(items.reduce(0) { $0 + $1.value[0] } == 100)
      #expect(items.allSatisfy { $0.labels(profile)["service_name"] == "shop" })
      let functions = items[0].functions(profile)
      #expect(functions.contains { $0.contains("ServiceItem") })
      #expect(profile.mapping.contains { !profile.stringTable[Int($0.buildID)].isEmpty })
      let text = try await get("/debug/pprof/heap?debug=1")
      #expect(text.contentType.hasPrefix("text/plain"))
      #expect(text.string.hasPrefix("heap profile: ") && text.string.contains("@ heapprofile\n"))
      #expect(text.string.contains("MAPPED_LIBRARIES:"))
      let bare = try decoded(try await get("/debug/pprof/heap?labels=none").bytes)
      #expect(bare.sample.allSatisfy { Set($0.labels(bare).keys) == ["service_name"] })
      withExtendedLifetime(kept) {}
    }
  }

  @Test func differences() async {
    await #expect(processExitsWith: .success) {
      let box = ItemBox()
      box.items = (0..<100).map { _ in ServiceItem() }
      let request = Task { try await get("/debug/pprof/heap?seconds=2").bytes }
      try await waitForLook(after: 0)
      box.items.removeFirst(30)
      box.others = (0..<50).map { _ in OtherItem() }
      let profile = try decoded(try await request.value)
      func count(_ type: String) -> Int64 {
        profile.sample.filter { $0.labels(profile)["type"]?.hasSuffix(type) == true }.reduce(0) { $0 + $1.value[0] }
      }
      #expect(count("ServiceItem") == -30)
      #expect(count("OtherItem") == 50)
      #expect(profile.durationNanos > 0)
    }
  }

  @Test func zombies() async {
    await #expect(processExitsWith: .success) {
      #expect(try await get("/debug/undead/zombies", status: 503).string.contains("ZombieSniffer.start()"))
      var options = ZombieSniffer.Options()
      options.policy = .report
      try ZombieSniffer.start(options)
      #expect(try await get("/debug/undead/zombies").string.hasSuffix("undead: no zombies\n"))
      let holder = UnsafeHolder(OtherItem())
      takeAndDrop(holder.item)
      let text = try await get("/debug/undead/zombies").string
      #expect(text.contains("of freed UndeadServiceTests.OtherItem") && text.hasSuffix("undead: 1 zombie\n"), "\(text)")
      let json = try await get("/debug/undead/zombies?format=json")
      #expect(json.contentType == "application/json")
      let report = try JSONDecoder().decode(LeakReport.self, from: Data(json.bytes))
      #expect(report.zombies.count == 1 && report.zombies.first?.type == "UndeadServiceTests.OtherItem")
      #expect(!report.summary.complete && report.process.pid == Int(getpid()))
      #expect(try await get("/debug/undead/zombies?format=html").string.contains("OtherItem"))
    }
  }

  @Test func leaks() async {
    await #expect(processExitsWith: .success) {
      for _ in 0..<20 { leakAServiceItem() }
      let text = try await get("/debug/undead/report").string
      #expect(text.contains("retain cycle of") && text.contains("ServiceItem"))
      #expect(try await get("/debug/undead/report?format=json").string.contains("\"schemaVersion\" : 1"))
      #expect(try await get("/debug/undead/report?format=html").string.hasPrefix("<!doctype html>"))
      // The service itself is none of it.
      #expect(!text.contains("UndeadService.Gate") && !text.contains("SUSPECT"))
    }
  }

  @Test func heaps() async {
    await #expect(processExitsWith: .success) {
      let kept = (0..<100).map { _ in ServiceItem() }
      #expect(try await get("/debug/undead/heap").string.contains("ServiceItem"))
      #expect(try await get("/debug/undead/heap?type=ServiceItem").string.contains("held by"))
      #expect(try await get("/debug/undead/heap?type=NoSuchThing", status: 404).string.contains("no type"))
      #expect(try await get("/debug/undead/heap?format=json&top=3").string.contains("\"kind\" : \"heap\""))
      #expect(try await get("/debug/undead/tasks").string.contains("undead: "))
      #expect(try await get("/debug/undead/tasks?format=json").string.contains("\"kind\" : \"tasks\""))
      let file = try await get("/debug/undead/heap?file=1&names=0").bytes
      #expect(Array(file.prefix(6)) == Array("UNDEAD".utf8))
      withExtendedLifetime(kept) {}
    }
  }

  @Test func withoutAnalysesTheFileIsAnsweredAndTheRestSaysSo() async {
    await #expect(processExitsWith: .success) {
      var configuration = UndeadDebugService.Configuration(labels: [:])
      configuration.pause = .zero
      let service = UndeadDebugService(configuration: configuration)
      for path in ["heap", "tasks", "growth", "report?format=html"] {
        let response = await service.respond(to: .init(target: "/debug/undead/\(path)")!)
        let text = String(decoding: try await response.body.bytes(), as: UTF8.self)
        #expect(response.status == 501 && text.contains("heap?file=1") && text.contains("UndeadServiceAnalysis"))
      }
      #expect(await service.respond(to: .init(target: "/debug/undead/heap?file=1&names=0")!).status == 200)
      #expect(await service.respond(to: .init(target: "/debug/undead/report")!).status == 200)
    }
  }

  @Test func largeHeapsAreNotAnalysedHere() async {
    await #expect(processExitsWith: .success) {
      var configuration = UndeadDebugService.Configuration(labels: [:], analyses: .inProcess)
      configuration.mostBlocks = 10
      configuration.pause = .zero
      let service = UndeadDebugService(configuration: configuration)
      for path in ["heap", "growth?seconds=1"] {
        let response = await service.respond(to: .init(target: "/debug/undead/\(path)")!)
        #expect(response.status == 507)
      }
      #expect(await service.respond(to: .init(target: "/debug/pprof/heap")!).status == 200)
    }
  }

  @Test func growth() async {
    await #expect(processExitsWith: .success) {
      #expect(try await get("/debug/undead/mark?name=warm%0Aup", method: "POST").string == "generation 1 begins\n")
      let box = ItemBox()
      box.items = (0..<100).map { _ in ServiceItem() }
      let born = try await get("/debug/undead/growth?since=1").string
      #expect(born.hasPrefix(#"Born after mark 1 'warm\u{A}up'"#))
      #expect(born.contains("ServiceItem"))
      #expect(try await get("/debug/undead/growth?since=never", status: 404).string.contains("no mark"))
      let json = try await get("/debug/undead/growth?since=1&format=json").string
      #expect(json.contains("\"kind\" : \"bornSince\""))
      let looks = service.gate.looks
      let request = Task { try await get("/debug/undead/growth?seconds=2").string }
      try await waitForLook(after: looks)
      box.items += (0..<2000).map { _ in ServiceItem() }
      let grown = try await request.value
      #expect(grown.contains("+2,000") && grown.contains("ServiceItem"))
    }
  }

  @Test func nothingIsLeftBehind() async {
    await #expect(processExitsWith: .success) {
      let folder = "/tmp/undead-\(UInt32.random(in: .min ... .max))"
      mkdir(folder, 0o700)
      defer { rmdir(folder) }
      var configuration = UndeadDebugService.Configuration(labels: [:], analyses: .inProcess)
      configuration.temporaryDirectory = folder
      configuration.pause = .zero
      let service = UndeadDebugService(configuration: configuration)
      let file = await service.respond(to: .init(target: "/debug/undead/heap?file=1&names=0")!)
      #expect(file.status == 200 && file.body.count > 1000)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
      let cancelled = Task { await service.respond(to: .init(target: "/debug/undead/growth?seconds=500")!) }
      while service.gate.looks == 1 { try await Task.sleep(for: .milliseconds(2)) }
      cancelled.cancel()
      #expect(await cancelled.value.status == 503)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
      #expect(rmdir(folder) == 0)
      #expect(await service.respond(to: .init(target: "/debug/pprof/heap")!).status == 500)
    }
  }

  @Test func whereNothingIsRecordedItIsSaidHowTo() async {
    await #expect(processExitsWith: .success) {
      LeakDetector.stop()
      for path in ["/debug/pprof/heap", "/debug/undead/report", "/debug/undead/heap", "/debug/undead/mark?name=a"] {
        let method = path.contains("mark") ? "POST" : "GET"
        let text = try await get(path, status: 503, method: method).string
        #expect(text.contains("UNDEAD=1") && text.contains("LeakDetector.start()"))
      }
      #expect(try await get("/debug/pprof/").string.contains("heap"))
    }
  }

  @Test func atMostSoMany() async {
    await #expect(processExitsWith: .success) {
      var configuration = UndeadDebugService.Configuration(labels: [:])
      configuration.mostRequests = 1
      let service = UndeadDebugService(configuration: configuration)
      let first = Task { await service.respond(to: .init(target: "/debug/pprof/heap?seconds=300")!) }
      while service.requestsUnderWay == 0 { try await Task.sleep(for: .milliseconds(2)) }
      #expect(await service.respond(to: .init(target: "/debug/undead/")!).status == 503)
      first.cancel()
      _ = await first.value
      #expect(await service.respond(to: .init(target: "/debug/undead/")!).status == 200)
    }
  }
}

private final class ServiceItem {
  var me: ServiceItem?
}

private final class OtherItem {
  var number = 1
}

@inline(never) @_optimize(none) private func takeAndDrop(_ item: OtherItem) { _ = [item] }

/// Its item is deallocated when the initializer returns.
private final class UnsafeHolder {
  unowned(unsafe) let item: OtherItem
  init(_ item: OtherItem) { self.item = item }
}

private final class ItemBox: @unchecked Sendable {
  var items: [ServiceItem] = []
  var others: [OtherItem] = []
}

private func leakAServiceItem() {
  let item = ServiceItem()
  item.me = item
}

private struct Answer {
  var contentType: String
  var bytes: [UInt8]
  var string: String { String(decoding: bytes, as: UTF8.self) }
}

private let service: UndeadDebugService = {
  var configuration = UndeadDebugService.Configuration(labels: ["service_name": "shop"], analyses: .inProcess)
  configuration.pause = .zero
  configuration.usesDebugInformation = false
  return UndeadDebugService(configuration: configuration)
}()

/// Of two looks, what comes after this is between them.
private func waitForLook(after looks: Int) async throws {
  while service.gate.looks == looks { try await Task.sleep(for: .milliseconds(2)) }
}

private func get(_ target: String, status: Int = 200, method: String = "GET") async throws -> Answer {
  let response = await service.respond(to: try #require(.init(method: method, target: target)))
  let bytes = try await response.body.bytes()
  #expect(response.status == status, "\(target): \(String(decoding: bytes.prefix(300), as: UTF8.self))")
  return Answer(contentType: response.contentType, bytes: bytes)
}

private func decoded(_ gzip: [UInt8]) throws -> ReadProfile {
  try ReadProfile(gunzip(gzip))
}

extension ReadProfile.Sample {
  fileprivate func labels(_ profile: ReadProfile) -> [String: String] {
    Dictionary(uniqueKeysWithValues: label.map { (profile.stringTable[Int($0.key)], profile.stringTable[Int($0.str)]) })
  }

  fileprivate func functions(_ profile: ReadProfile) -> [String] {
    locationID.flatMap { profile.location[Int($0) - 1].line }.map { line in
      profile.stringTable[Int(profile.function[Int(line.functionID) - 1].name)]
    }
  }
}
