import Foundation

// main list: the names of all cases, one a line. main NAME: brings it about, and waits.
var cases: [(String, () -> Void)] = []
for (name, body) in endless { cases += starts.map { start in ("never \(name) \(start.0)", { start.1(body) }) } }
cases += circles.map { ("never \($0.0)", $0.1) }
for (name, body) in ordinary { cases += starts.map { start in ("ends \(name) \(start.0)", { start.1(body) }) } }
cases += peaceful.map { ("ends \($0.0)", $0.1) }
cases += formsOfEndless.map { ("never \($0.0)", $0.1) } + formsOfOrdinary.map { ("ends \($0.0)", $0.1) }

let wanted = CommandLine.arguments.dropFirst().joined(separator: " ")
if wanted == "list" {
  for (name, _) in cases { print(name) }
  exit(0)
}
@inline(never) func begin() {
  for (name, body) in cases where name == wanted { body() }
}
begin()
// What was started comes to rest.
usleep(300_000)
print("ready")
fflush(stdout)
sleep(100)
