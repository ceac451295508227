// Blocks that the program fills at once, as buffers are: fill BYTES ROUNDS; up to 64 of them live at a time.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **arguments) {
  size_t bytes = count > 1 ? strtoul(arguments[1], NULL, 10) : 16384;
  long rounds = count > 2 ? atol(arguments[2]) : 400000;
  static char *kept[64];
  long sum = 0;
  for (long round = 0; round < rounds; round++) {
    char **place = &kept[round * 7 % 64];
    free(*place);
    *place = malloc(bytes + (size_t)(round % 8) * 64);
    memset(*place, (int)round, bytes);
    sum += (*place)[bytes / 2];
  }
  printf("%ld\n", sum);
  return 0;
}
