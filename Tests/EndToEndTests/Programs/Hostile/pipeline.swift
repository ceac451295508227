// In the middle of a pipeline; the rest of standard input belongs to the next command.
// EXPECT silent
// SHELL printf 'one\ntwo\nthree\n' | $RUN | sort -r
import Glibc

while let line = readLine() { print(line.uppercased()) }
