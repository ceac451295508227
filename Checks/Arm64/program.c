// Makes and frees blocks in two threads, for the preloaded recorder: it must come through as it does alone.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) char *make(size_t size) { return memset(malloc(size), 1, size); }

static void *run(void *unused) {
  for (size_t i = 0; i < 1000; i++) free(make(100 + i));
  return unused;
}

int main(void) {
  enum { BLOCKS = 100 };
  char *blocks[BLOCKS];
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, NULL)) return 1;
  run(NULL);
  if (pthread_join(thread, NULL)) return 1;
  for (size_t i = 0; i < BLOCKS; i++) blocks[i] = realloc(make(100 + i), 5000);
  for (size_t i = 0; i < BLOCKS; i++)
    if (blocks[i][99] != 1) return 1;
  for (size_t i = 0; i < BLOCKS; i++) free(blocks[i]);
  puts("came through");
  return 3;
}
