import Foundation
import Testing

/// How the real library gets through a toolchain into test programs.
@Suite(.timeLimit(.minutes(20))) struct RelayTests {
  private let sandbox: Sandbox
  /// Says which of our variables it sees, then runs its arguments: in its place after `exec`, else as a child.
  private static let program = """
    #include <spawn.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>
    extern char **environ;
    int main(int count, char **arguments) {
      const char *names[] = {"LD_PRELOAD", "UNDEAD_SESSION", "UNDEAD_ONLY"};
      printf("%s:", strrchr(arguments[0], '/') + 1);
      for (int i = 0; i < 3; i++) printf(" %s", getenv(names[i]) ? names[i] : "-");
      printf("\\n");
      fflush(stdout);
      if (count < 3) return 0;
      if (strcmp(arguments[1], "exec") == 0) return execv(arguments[2], arguments + 2), 1;
      if (strcmp(arguments[1], "fork") == 0) {
        if (fork() == 0) execve(arguments[2], arguments + 2, environ), _exit(1);
      } else {
        pid_t pid;
        posix_spawn(&pid, arguments[2], 0, 0, arguments + 2, environ);
      }
      int status;
      wait(&status);
      return 0;
    }
    """

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installRealLibrary()
    for directory in ["toolchain", "build"] {
      try FileManager.default.createDirectory(
        at: sandbox.directory.appending(path: directory), withIntermediateDirectories: true)
    }
    try sandbox.compile(Self.program, to: "toolchain/swift")
    for name in ["toolchain/swift-test", "toolchain/swift-frontend", "build/AppTests.xctest", "build/helper"] {
      try FileManager.default.copyItem(atPath: sandbox.path("toolchain/swift"), toPath: sandbox.path(name))
    }
  }

  private func run(_ arguments: String...) throws -> (lines: [String], states: Int) {
    let session = sandbox.path("session")
    try FileManager.default.createDirectory(atPath: session, withIntermediateDirectories: true)
    let output = try sandbox.command(
      arguments,
      environment: [
        "LD_PRELOAD": sandbox.path("lib/undead/libUndeadPreload.so"), "UNDEAD_SESSION": session, "UNDEAD_ONLY": "tests",
      ])
    let files = try FileManager.default.contentsOfDirectory(atPath: session)
    return (output.out.split(separator: "\n").map(String.init), files.count { $0.hasSuffix(".state") })
  }

  private func path(_ name: String) -> String { sandbox.path(name) }

  @Test func hidesTheVariablesFromTheToolchainAndHandsThemToTests() throws {
    let result = try run(
      path("toolchain/swift"), "exec", path("toolchain/swift-test"), "spawn", path("build/AppTests.xctest"))
    #expect(result.lines == ["swift: - - -", "swift-test: - - -", "AppTests.xctest: LD_PRELOAD UNDEAD_SESSION -"])
    #expect(result.states == 1)
  }

  @Test func aForkedCopyHandsThemToTestsToo() throws {
    let result = try run(path("toolchain/swift-test"), "fork", path("build/AppTests.xctest"))
    #expect(result.lines.last == "AppTests.xctest: LD_PRELOAD UNDEAD_SESSION -")
  }

  @Test(arguments: ["spawn", "fork"])
  func compilersAndOtherToolsGetNothing(_ how: String) throws {
    for tool in ["toolchain/swift-frontend", "build/helper"] {
      let result = try run(path("toolchain/swift-test"), how, path(tool))
      #expect(result.lines.last?.hasSuffix(": - - -") == true)
      #expect(result.states == 0)
    }
  }

  @Test func whatTheTestsStartIsChecked() throws {
    let result = try run(
      path("toolchain/swift-test"), "spawn", path("build/AppTests.xctest"), "spawn", path("build/helper"))
    #expect(result.lines.last == "helper: LD_PRELOAD UNDEAD_SESSION -")
    #expect(result.states == 2)
  }

  @Test func wrappersOfSwiftPassThemOn() throws {
    let result = try run("/bin/sh", "-c", "exec \(path("toolchain/swift-test")) spawn \(path("build/AppTests.xctest"))")
    #expect(result.lines.last == "AppTests.xctest: LD_PRELOAD UNDEAD_SESSION -")
    #expect(result.states == 1)
  }
}
