import Foundation
import Testing

@testable import UndeadTool

/// What the files of a program tell before it runs.
@Suite(.timeLimit(.minutes(20))) struct PreflightTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private func obstacle(_ name: String, preloaded: String = "") throws -> String? {
    try Preflight(program: sandbox.path(name), preloaded: preloaded).obstacle
  }

  @Test func letsOrdinaryProgramsThrough() throws {
    try sandbox.compile("int main() { return 0; }", to: "plain")
    #expect(try obstacle("plain") == nil)
    try sandbox.compile("int main() { return 0; }", to: "fixed", "-no-pie")
    #expect(try obstacle("fixed") == nil)
  }

  @Test(arguments: [["-static"], ["-static-pie", "-fuse-ld=lld"]])
  func tellsStaticPrograms(_ options: [String]) throws {
    try sandbox.compile("int main() { return 0; }", to: "static", options)
    #expect(try #require(try obstacle("static")).contains("static executable"))
  }

  @Test func tellsSanitizers() throws {
    for (function, name) in [("__asan_init", "AddressSanitizer"), ("__tsan_init", "ThreadSanitizer")] {
      try sandbox.compile("void \(function)(void) {} int main() { return 0; }", to: "sanitized")
      #expect(try #require(try obstacle("sanitized")).contains("is built with \(name)"))
    }
  }

  /// The library in the program looks at them: only what is linked in is out of its reach.
  @Test func tellsOtherAllocators() throws {
    let malloc = "#include <stddef.h>\nvoid *malloc(size_t s) { return 0; }\n"
    try sandbox.compile(malloc, to: "libjemalloc.so.2", "-shared", "-fPIC")
    try sandbox.compile(
      "int main() { return 0; }", to: "linked", "-Wl,--no-as-needed", sandbox.path("libjemalloc.so.2"))
    #expect(try obstacle("linked") == nil)

    try sandbox.compile(malloc + "int main() { return 0; }", to: "own")
    #expect(try #require(try obstacle("own")).contains("allocator of its own"))
    // The package, linked into the program, defines malloc as well.
    try sandbox.compile(malloc + "void undead_scan(void) {} int main() { return 0; }", to: "ours")
    #expect(try obstacle("ours") == nil)

    try sandbox.compile("int main() { return 0; }", to: "plain")
    try sandbox.compile(malloc, to: "libfast.so", "-shared", "-fPIC")
    #expect(try obstacle("plain", preloaded: sandbox.path("libfast.so")) == nil)
    #expect(try obstacle("plain", preloaded: "libasan.so.8") != nil)
  }

  @Test func tellsOtherProcessors() throws {
    var program = Data("\u{7F}ELF\u{2}\u{1}\u{1}".utf8) + Data(count: 57)
    program[16] = 2
    program[18] = 243
    try program.write(to: sandbox.directory.appending(path: "foreign"))
    #expect(try #require(try obstacle("foreign")).contains("RISC-V"))
    program[4] = 1
    program[18] = 3
    try program.write(to: sandbox.directory.appending(path: "small"))
    #expect(try #require(try obstacle("small")).contains("32-bit x86"))
  }

  @Test func tellsPrivilegedPrograms() throws {
    // Text that no other test has: the file is changed.
    try sandbox.compile("int main() { return 0; } // to be privileged", to: "privileged")
    // Only root can make a program that belongs to somebody else.
    guard getuid() == 0, chown(sandbox.path("privileged"), 12345, 12345) == 0 else { return }
    chmod(sandbox.path("privileged"), 0o4755)
    #expect(try #require(try obstacle("privileged")).contains("setuid"))
    chmod(sandbox.path("privileged"), 0o755)
    #expect(try obstacle("privileged") == nil)
  }

  @Test func followsTheInterpretersOfScripts() throws {
    try sandbox.compile("int main() { return 0; }", to: "static", "-static")
    try sandbox.write("#! \(sandbox.path("static")) -x\n", to: "script", mode: 0o755)
    try sandbox.write("#!\(sandbox.path("script"))\n", to: "outer", mode: 0o755)
    let preflight = try Preflight(program: sandbox.path("outer"), preloaded: "")
    #expect(preflight.executable == sandbox.path("static"))
    #expect(preflight.obstacle != nil)
    try sandbox.write("#!/no/such/interpreter\n", to: "broken", mode: 0o755)
    let error = #expect(throws: ToolError.self) { try obstacle("broken") }
    #expect(error?.message.contains("/no/such/interpreter") == true)
    #expect(error?.status == 64)
    try sandbox.write("#!\(sandbox.path("loop"))\n", to: "loop", mode: 0o755)
    #expect(throws: ToolError.self) { try obstacle("loop") }
    try sandbox.write("echo no first line\n", to: "bare", mode: 0o755)
    #expect(try obstacle("bare") == nil)
  }
}
