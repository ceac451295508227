// malloc fails: the program sees NULL and ENOMEM, as without the tool, and goes on.
// EXPECT any
// SHELL ulimit -v 3000000; exec $RUN
import Glibc

errno = 0
var huge = malloc(1 << 40)
print(huge == nil, errno == ENOMEM)
var chunks = 0
var list: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
while let chunk = malloc(64 << 20) {
  chunk.storeBytes(of: UnsafeMutableRawPointer(list), as: UnsafeMutableRawPointer?.self)
  list = chunk.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  chunks += 1
}
print(errno == ENOMEM, chunks > 3)
errno = 0
print(calloc(1 << 32, 1 << 33) == nil, errno == ENOMEM)
while let block = list {
  list = block.pointee?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  free(block)
}
print(String(repeating: "alive ", count: 10))
