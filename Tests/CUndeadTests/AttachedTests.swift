import Foundation
import Testing
import UndeadTestSupport

/// Recording that begins in a program which opens the library late, as the tool makes a living program do.
@Suite(.timeLimit(.minutes(10))) struct AttachedTests {
  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

  /// Compiled in each way that makes calls of the allocator another kind of place.
  @Test(arguments: ["-O1 -Wl,-z,now", "-O1 -Wl,-z,lazy", "-O1 -no-pie -Wl,-z,lazy"])
  func allocationsAreRecordedInRounds(options: String) throws {
    let directory = try TemporaryDirectory()
    let programs = Self.sources.appendingPathComponent("Programs").path
    let headers = Self.sources.deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Sources/CUndead/include").path
    let output = directory.path("output")
    let command = """
      cd '\(directory.path)' && clang -shared -fPIC -O1 '\(programs)/late_library.c' -o late.so &&
      clang -g \(options) -I'\(headers)' '\(programs)/attached_program.c' -o program -lpthread &&
      ./program '\(try BuildProducts.preloadLibrary())' "$PWD/late.so" > output 2>&1
      """
    var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("UNDEAD") }
    variables["LD_PRELOAD"] = nil
    let pid = try ChildProgram.spawn(["/bin/sh", "-c", command], variables, output: .standardError)
    let deadline = Deadline(of: pid, command: command)
    var status: Int32 = 0
    #expect(waitpid(pid, &status, 0) == pid && status == 0)
    try deadline.check()
    #expect(try String(contentsOfFile: output, encoding: .utf8) == "right\n")
  }
}
