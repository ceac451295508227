import Foundation
import Testing
import UndeadTestSupport

/// What a process is made of has one reader each: of its memory map, and of the program headers of files and images.
@Suite(.timeLimit(.minutes(20))) struct ReadersTests {
  @Test func headersOfFilesAndImagesAreTheSameAndDamageIsHarmless() throws {
    let id = "0123456789abcdef0123456789abcdef01234567"
    let program = try build(
      "segments", ["segments"], options: ["-fsanitize=address", "-Wl,--build-id=0x\(id)"])
    try Recorder.run(program, [program, id]).expectSuccess()
    // Of a longer one the start counts.
    let long = try build("segments", ["segments"], options: ["-Wl,--build-id=0x\(id)\(id)"])
    try Recorder.run(long, [long, "\(id)\(id.prefix(2))"]).expectSuccess()
  }

  @Test func theMapIsReadIntoTheBufferOfTheCaller() throws {
    let program = try build("maps", ["maps", "maps_lines", "holes", "hole_list", "memory", "readable", "sort"])
    try Recorder.run(program, [program]).expectSuccess()
  }

  @Test func nobodyElseReadsMemoryMaps() throws {
    let sources = InstrumentSources.Layer.platform.folder.deletingLastPathComponent()
    let files = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
    let readers = try files.filter { ["c", "h", "swift"].contains(($0 as NSString).pathExtension) }.filter { file in
      try String(contentsOf: sources.appending(path: file), encoding: .utf8).contains("/maps\"")
    }
    // Others include "platform/maps/maps.h", whose name does not end so.
    #expect(readers.sorted() == ["CUndeadPlatform/platform/maps/maps_lines.c", "UndeadSystem/MemoryMap.swift"])
  }

  private func build(_ name: String, _ files: [String], options: [String] = []) throws -> String {
    let program = try Recorder.temporaryPath(name)
    let fixture = Recorder.fixtures.appending(path: "platform/\(name).c").path
    let sources = InstrumentSources.Layer.platform.files(files)
    try Recorder.run(
      "clang", ["-O1", "-g"] + options + InstrumentSources.includeOptions + [fixture] + sources + ["-o", program]
    ).expectSuccess()
    return program
  }
}
