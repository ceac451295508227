import Foundation
import Testing
import UndeadReport

@testable import UndeadService

/// The smaller parts of the service.
@Suite struct PartsTests {
  @Test func labelsOfTheEnvironment() {
    func labels(_ environment: [String: String]) -> [String: String] {
      UndeadDebugService.Labels.fromEnvironment({ environment[$0] }, executable: "Server", host: "box")
    }
    #expect(labels([:]) == ["service_name": "Server", "host_name": "box"])
    #expect(
      labels(["HOSTNAME": "pod-1", "OTEL_SERVICE_NAME": "shop"]) == ["service_name": "shop", "host_name": "pod-1"])
    #expect(
      labels([
        "OTEL_RESOURCE_ATTRIBUTES":
          "service.name=cart , service.version=1.2%2C3,team=x,deployment.environment=prod,host.name=h,broken,k8s.pod.name=p%zz"
      ]) == [
        "service_name": "cart", "service_version": "1.2,3", "deployment_environment_name": "prod", "host_name": "h",
      ])
    #expect(
      labels(["OTEL_RESOURCE_ATTRIBUTES": "service.name=cart", "OTEL_SERVICE_NAME": "shop", "HOSTNAME": ""]) == [
        "service_name": "shop", "host_name": "box",
      ])
  }

  @Test func directoriesGo() throws {
    let parent = FileManager.default.temporaryDirectory.appending(path: "undead-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: parent) }
    do {
      let directory = try PrivateDirectory(in: parent)
      var status = stat()
      #expect(stat(directory.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
      try Data("x".utf8).write(to: URL(filePath: directory.file("a")))
      // What one process uses no other one takes away, whatever its age.
      utimes(directory.path, [timeval(tv_sec: 0, tv_usec: 0), timeval(tv_sec: 0, tv_usec: 0)])
      _ = try PrivateDirectory(in: parent)
      #expect(access(directory.file("a"), F_OK) == 0)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: parent).isEmpty)
    #expect(throws: UndeadServiceError.self) { try PrivateDirectory(in: "\(parent)/none") }
  }

  @Test func directoriesOfKilledProcessesGo() throws {
    let parent = FileManager.default.temporaryDirectory.appending(path: "undead-\(UUID().uuidString)").path
    let old = "\(parent)/undead-service-abcdef"
    try FileManager.default.createDirectory(atPath: old, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: parent) }
    try Data("x".utf8).write(to: URL(filePath: "\(old)/heap.undead"))
    do { _ = try PrivateDirectory(in: parent) }
    // It may be of a process that has not locked it yet.
    #expect(access(old, F_OK) == 0)
    utimes(old, [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)])
    do { _ = try PrivateDirectory(in: parent) }
    #expect(access(old, F_OK) != 0)
  }

  @Test func aFileIsReadToItsEnd() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "undead-\(UUID().uuidString)").path
    let bytes = (0..<150_000).map { UInt8(truncatingIfNeeded: $0) }
    try Data(bytes).write(to: URL(filePath: path))
    let body = UndeadDebugService.Body(try UndeadDebugService.OpenFile(takingNameOf: path))
    #expect(access(path, F_OK) != 0)
    #expect(body.count == bytes.count)
    #expect(try await body.bytes() == bytes)
  }
}
