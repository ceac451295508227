// Fifty megabytes through standard input and output.
// EXPECT silent
// SHELL head -c 50000000 /dev/zero | tr '\0' 'a' | $RUN | cksum
import Glibc

var bytes = [UInt8](repeating: 0, count: 70_001)
while true {
  let count = read(0, &bytes, bytes.count)
  guard count > 0 else { break }
  var done = 0
  while done < count { done += write(1, Array(bytes[done..<count]), count - done) }
}
