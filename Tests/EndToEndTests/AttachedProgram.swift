import Foundation
import Testing
import UndeadTestSupport

/// A program that scripts start, ask and attach to.
enum AttachedProgram {
  /// What the scripts have in common. The program's standard input is descriptor 7.
  static let words = """
    start() {
      # The program opens them in this order, and `out` may be that of one before.
      mkfifo in; : > out; "$@" < in > out & program=$!
      exec 7> in
      until grep -q ready out; do kill -0 $program || exit 90; sleep 0.01; done
    }
    ask() {
      before=$(wc -l < out); echo "$*" >&7
      until [ "$(wc -l < out)" -gt "$before" ]; do kill -0 $program || { echo gone; return; }; sleep 0.01; done
      tail -1 out
    }
    """

  /// Ends the program by the end of its input, and shows its status and what it said last.
  static let ended = """
    ended() { exec 7>&-; wait $program; echo "status $?"; tail -1 out; }
    """

  static let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Programs").path

  /// Folders with what was compiled, which stay until the end of the process: each is made once, by the first who asks.
  static func folders<Build: CaseIterable & Hashable & Sendable>(
    of builds: Build.Type, _ compile: @escaping @Sendable (Build) -> String
  ) -> [Build: Task<String, any Error>] {
    Dictionary(
      uniqueKeysWithValues: Build.allCases.map { build in
        (
          build,
          Task {
            let folder = try TemporaryDirectory.untilExit().path
            let compiled = try await runShell("cd \(quoted(folder)) && \(compile(build))")
            try #require(compiled.ending == .exit(0), "\(compiled.errors)")
            return folder
          }
        )
      })
  }

  /// Runs a script in a folder of its own, with links to what was compiled.
  static func run(
    _ compiled: Task<String, any Error>, tool: String, words: String, _ script: String
  ) async throws -> (outcome: Outcome, directory: TemporaryDirectory) {
    let compiled = try await compiled.value
    return try await Tool.gate.pass {
      let directory = try TemporaryDirectory()
      let outcome = try await runShell(
        """
        cd \(quoted(directory.url.path)) && ln -s \(quoted(compiled))/* .; tool=\(quoted(tool))
        \(Self.words)
        \(words)
        \(script)
        """)
      return (outcome, directory)
    }
  }

  /// Makes `killed.so`, which kills the tool that has it preloaded.
  static let killed = "clang -O1 -shared -fPIC \(quoted(sources))/Support/killed.c -o killed.so"
}
