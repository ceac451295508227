// Somebody ends the forked copy in which a snapshot is made, as the kernel does when memory is short: nothing more is tried
// then, and nothing is made up. No scan fails whose copy is let alone.
// EXPECT silent
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
    ((try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/children", encoding: .utf8)) ?? "")
      .split(separator: " ").map(String.init)
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
typealias Scan = @convention(c) (Bool, Bool, UnsafeRawPointer?, UnsafeMutableRawPointer) -> Void
if let symbol = dlsym(nil, "undead_test_scan") {
  let scan = unsafeBitCast(symbol, to: Scan.self)
  // undead_test_scan_counts: what leaked is the first, the error the second; 1 is a copy that was killed.
  let counts = UnsafeMutablePointer<UInt32>.allocate(capacity: 256)
  var leaks: UInt32 = 0
  var ended: UInt32 = 0
  var otherErrors: UInt32 = 0
  for _ in 0..<5 {
    scan(true, false, nil, counts)
    leaks += counts[0]
    if counts[1] == 1 { ended += 1 } else if counts[1] != 0 { otherErrors += 1 }
  }
  counts.deallocate()
  if leaks > 0 || ended > killed || otherErrors > 0 {
    fputs("\(leaks) leaks, \(ended) ended copies of \(killed) killed, \(otherErrors) other errors\n", stderr)
  }
}
print("asked")
exit(0)
