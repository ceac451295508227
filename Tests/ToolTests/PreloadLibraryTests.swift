import Foundation
import Testing
import UndeadSystem

@testable import UndeadTool

/// How the library gets into the program, and what of its environment stays.
@Suite(.timeLimit(.minutes(20))) struct PreloadLibraryTests {
  private let library = PreloadLibrary(path: "/opt/undead/libUndeadPreload.so")

  private func environment(_ entries: [String], _ settings: [String: String] = [:]) -> [String] {
    library.environment(from: entries.map { Array($0.utf8) }, settings: settings)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func comesAfterTheUsersOwn() {
    #expect(environment(["A=1"]) == ["A=1", "LD_PRELOAD=/opt/undead/libUndeadPreload.so"])
    #expect(
      environment(["LD_PRELOAD=liba.so libb.so:/c.so", "B=2"])
        == ["B=2", "LD_PRELOAD=liba.so:libb.so:/c.so:/opt/undead/libUndeadPreload.so"])
  }

  @Test func comesBeforeAnAllocator() throws {
    #expect(
      environment(["LD_PRELOAD=liba.so:libjemalloc.so.2:libb.so"])
        == ["LD_PRELOAD=liba.so:/opt/undead/libUndeadPreload.so:libjemalloc.so.2:libb.so"])
    let sandbox = try Sandbox()
    let malloc = "#include <stddef.h>\nvoid *malloc(size_t s) { return 0; }\n"
    try sandbox.compile(malloc, to: "libfast.so", "-shared", "-fPIC")
    let fast = sandbox.path("libfast.so")
    #expect(environment(["LD_PRELOAD=\(fast)"]) == ["LD_PRELOAD=/opt/undead/libUndeadPreload.so:\(fast)"])
  }

  @Test func replacesThatOfAnOuterTool() {
    #expect(
      environment(["LD_PRELOAD=/other/libUndeadPreload.so", "UNDEAD_SESSION=/outer"], ["UNDEAD_SESSION": "/inner"])
        == ["LD_PRELOAD=/opt/undead/libUndeadPreload.so", "UNDEAD_SESSION=/inner"])
  }

  @Test func keepsBytesThatAreNoText() {
    let odd: [UInt8] = Array("X=".utf8) + [0xFF, 0xFE]
    #expect(library.environment(from: [odd], settings: [:]).first == odd)
  }

  @Test func isLinkedWhereItsPathCannotBeExpressed() throws {
    let sandbox = try Sandbox()
    #expect(try library.usable(linkedFrom: sandbox.path("tmp")) == library)
    let linked = try PreloadLibrary(path: "/with blank/lib:x.so").usable(linkedFrom: sandbox.path("tmp"))
    #expect(SymbolicLink.target(linked.path) == "/with blank/lib:x.so")
    #expect(throws: ToolError.self) {
      try PreloadLibrary(path: "/with blank/lib.so").usable(linkedFrom: "/also with blank")
    }
  }
}
