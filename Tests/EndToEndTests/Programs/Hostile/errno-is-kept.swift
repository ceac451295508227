// free keeps errno; a failing malloc sets it; nothing else touches it.
// EXPECT silent
import Glibc

@_silgen_name("malloc_usable_size") func usableSize(_ block: UnsafeMutableRawPointer?) -> Int

var wrong = 0
for size in [1, 24, 1000, 100_000, 40_000_000] {
  errno = 77
  let block = malloc(size)
  if errno != 77 { wrong += 1 }
  errno = 78
  free(block)
  if errno != 78 { wrong += 1 }
  errno = 79
  free(realloc(malloc(10), size))
  if errno != 79 { wrong += 1 }
}
var pointer: UnsafeMutableRawPointer?
errno = 80
print(posix_memalign(&pointer, 3, 10), errno)
print(posix_memalign(&pointer, 4096, 100), errno, UInt(bitPattern: pointer) % 4096)
free(pointer)
free(nil)
print(usableSize(nil), "wrong", wrong)
let zero = malloc(0)
print(zero != nil, usableSize(zero) >= 0)
free(zero)
