import Testing
import UndeadHeap
import UndeadHeapSamples
import UndeadReport
import UndeadService

/// What the types were called goes on to compile, and is the same.
@Suite struct OldNamesTests {
  @Test func theyAreOtherNamesOfTheSame() async throws {
    let names: any UserOfOldNames = OldNames()
    try await names.use()
  }
}

private protocol UserOfOldNames {
  func use() async throws
}

private struct OldNames: UserOfOldNames {
  @available(*, deprecated, message: "old names, on purpose")
  func use() async throws {
    let service: UndeadService = UndeadDebugService(configuration: UndeadService.Configuration(labels: [:]))
    let request = try #require(UndeadService.Request(method: "PUT", target: "/"))
    #expect(await service.respond(to: request).status == 405)
    #expect(UndeadService.SocketServer.self == UndeadDebugService.SocketServer.self)
    #expect(Heap.self == LoadedHeap.self)
  }
}
