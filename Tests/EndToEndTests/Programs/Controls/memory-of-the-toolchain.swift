// Memory that the program can do nothing about: what is in use needs no note, and what is lost is explained.
// CASE kept-continuations
// EXPECT silent
// ARGS continuations
// CASE empty-files-of-proc
// EXPECT note Foundation on Linux loses its buffer
// ARGS files
import Foundation

// libdispatch keeps up to 1,024 used continuations for each thread, in a list.
func keepContinuations() {
  let group = DispatchGroup()
  let queue = DispatchQueue(label: "many", attributes: .concurrent)
  for _ in 0..<20_000 { queue.async(group: group) {} }
  group.wait()
}

func readEmptyFiles() {
  let children = "/proc/self/task/\(getpid())/children"
  for _ in 0..<100 { precondition(FileManager.default.contents(atPath: children) == Data()) }
}

switch CommandLine.arguments[1] {
case "continuations": keepContinuations()
case "files": readEmptyFiles()
default: fatalError()
}
