// Children of fork and of exec live and die as ever.
// EXPECT silent
import Foundation

class Item {
  var number = 1
  func read() -> Int { number }
}

@_silgen_name("fork") func forkProcess() -> pid_t

@inline(never) @_optimize(none) func work() -> Int { (0..<1000).reduce(0) { sum, _ in sum + Item().read() } }

print(work())
fflush(stdout)
let child = forkProcess()
if child == 0 {
  _exit(work() == 1000 ? 3 : 4)
}
var status: Int32 = 0
waitpid(child, &status, 0)
print(status >> 8 & 0xff)
let shell = Process()
shell.executableURL = URL(fileURLWithPath: "/bin/sh")
shell.arguments = ["-c", "exit 5"]
try shell.run()
shell.waitUntilExit()
print(shell.terminationStatus, work())
