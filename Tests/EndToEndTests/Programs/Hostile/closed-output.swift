// Standard output is closed.
// EXPECT silent
// SHELL exec $RUN >&-
import Glibc

for number in 0..<10_000 { print("line", number) }
