// Handlers at exit run in their order and may allocate, print and free.
// EXPECT silent
import Glibc

final class Log {
  nonisolated(unsafe) static var lines: [String] = []
}
setvbuf(stdout, nil, _IOFBF, 1 << 16)
for _ in 0..<40 {
  atexit {
    Log.lines.append("line of handler \(Log.lines.count) that is on the heap")
    print(Log.lines.count)
  }
}
print("end of main")
