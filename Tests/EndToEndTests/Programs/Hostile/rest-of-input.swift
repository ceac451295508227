// The program reads three bytes of its input: the rest is there for who comes after it.
// EXPECT silent
// SHELL printf 'abcdefghi\n' | ($RUN; cat)
import Glibc

var bytes = [UInt8](repeating: 0, count: 3)
read(0, &bytes, 3)
print(bytes)
