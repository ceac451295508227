// Threads that are started and ended by the thousand, each of which allocates a little: threads THREADS BLOCKS
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { AT_ONCE = 4 };
static long blocks;

static __attribute__((noinline)) void *allocate(long index) {
  return malloc((size_t)(16 + index % 20 * 16));
}

static void *run(void *unused) {
  void *kept[16] = {0};
  for (long index = 0; index < blocks; index++) {
    free(kept[index % 16]);
    kept[index % 16] = allocate(index);
  }
  for (int index = 0; index < 16; index++) free(kept[index]);
  return unused;
}

int main(int count, char **arguments) {
  long threads = count > 1 ? atol(arguments[1]) : 20000;
  blocks = count > 2 ? atol(arguments[2]) : 20;
  for (long started = 0; started < threads; started += AT_ONCE) {
    pthread_t running[AT_ONCE];
    for (int index = 0; index < AT_ONCE; index++) pthread_create(&running[index], NULL, run, NULL);
    for (int index = 0; index < AT_ONCE; index++) pthread_join(running[index], NULL);
  }
  printf("%ld threads\n", threads);
  return 0;
}
