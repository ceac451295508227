// Arguments with odd characters, and the environment in its order.
// EXPECT silent
// ARGS --help -- "two words" "" --format json -x
// SHELL FIRST=1 ZZ=2 AA=3 exec $RUN
import Glibc

print(CommandLine.arguments.dropFirst())
var entry = environ
while let text = entry.pointee {
  let line = String(cString: text)
  if !line.hasPrefix("LD_PRELOAD=") && !line.hasPrefix("UNDEAD") && !line.hasPrefix("_=") { print(line) }
  entry += 1
}
