import Foundation
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

  /// Makes `killed.so`, which kills the tool that has it preloaded.
  static let killed: String = {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Programs/Support")
    return "clang -O1 -shared -fPIC \(quoted(sources.path))/killed.c -o killed.so"
  }()
}
