import Foundation
import Testing
import UndeadReport

@testable import Undead

/// Which file of suppressions holds for all assertions of a process.
@Suite struct StandingSuppressionsTests {
  private let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

  init() throws {
    try FileManager.default.createDirectory(
      at: directory.appending(path: "package/Tests"), withIntermediateDirectories: true)
  }

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: directory.appending(path: name))
  }

  private func file(_ variable: String?, in folder: String) -> String? {
    StandingSuppressions.file(variable: variable, directory: directory.appending(path: folder).path)
  }

  @Test func thatOfThePackageUnlessAnotherIsNamed() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let expected = directory.appending(path: "package/.undead.supp").path
    #expect(file(nil, in: "package/Tests") == nil)
    try write("type:App.Cache\n", to: "package/.undead.supp")
    // No package is known yet.
    #expect(file(nil, in: "package/Tests") == nil)
    try write("", to: "package/Package.swift")
    #expect(file(nil, in: "package/Tests") == expected)
    #expect(file("", in: "package") == expected)
    #expect(file("none", in: "package") == nil)
    #expect(file("/other.supp", in: "package") == "/other.supp")
    let options = try StandingSuppressions.options(expected)
    #expect(options.suppressions.rules.map(\.pattern) == ["App.Cache"])
    try write("nonsense\n", to: "package/.undead.supp")
    #expect(throws: SuppressionError.self) { try StandingSuppressions.options(expected) }
  }
}
