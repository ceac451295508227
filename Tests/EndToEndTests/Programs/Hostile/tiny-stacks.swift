// Threads with the smallest stack that there is, which allocate a little.
// EXPECT silent
import Glibc

var attributes = pthread_attr_t()
pthread_attr_init(&attributes)
pthread_attr_setstacksize(&attributes, 16_384)
for _ in 0..<50 {
  var thread = pthread_t()
  pthread_create(
    &thread, &attributes,
    { _ in
      for size in 1..<100 { free(malloc(size * 17)) }
      return nil
    }, nil)
  pthread_join(thread, nil)
}
print("joined")
