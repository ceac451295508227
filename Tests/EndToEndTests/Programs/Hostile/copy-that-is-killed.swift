// Somebody ends the forked copy in which a snapshot is made, as the kernel does when memory is short: nothing more is tried
// then, and nothing is made up. No scan fails whose copy is let alone.
// EXPECT silent
// HEADER ../Support/scan.h
import Foundation

final class Node {
  var next: Node?
  init(_ next: Node?) { self.next = next }
}
nonisolated(unsafe) var list: Node?
for _ in 0..<300_000 { list = Node(list) }
nonisolated(unsafe) var killed: UInt32 = 0
nonisolated(unsafe) var last: pid_t = 0

func children(of process: String) -> [String] {
  let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
  return threads.flatMap { thread in
    let file = FileHandle(forReadingAtPath: "/proc/\(process)/task/\(thread)/children")
    return String(decoding: (try? file?.readToEnd()) ?? Data(), as: UTF8.self).split(separator: " ").map(String.init)
  }
}
var thread = pthread_t()
pthread_create(
  &thread, nil,
  { _ in
    while true {
      for helper in children(of: "self") {
        for copy in children(of: helper).compactMap(pid_t.init) where copy != last {
          last = copy
          // Before the scan can have failed.
          killed += 1
          kill(copy, SIGKILL)
        }
      }
    }
  }, nil)
var leaks: UInt32 = 0
var ended: UInt32 = 0
var otherErrors: UInt32 = 0
for _ in 0..<5 {
  let found = undead_test_result(true, false)
  leaks += found.leaked
  // 1 is a copy that was killed.
  if found.error == 1 { ended += 1 } else if found.error != 0 { otherErrors += 1 }
}
if leaks > 0 || ended > killed || otherErrors > 0 {
  fputs("\(leaks) leaks, \(ended) ended copies of \(killed) killed, \(otherErrors) other errors\n", stderr)
}
print("asked")
exit(0)
