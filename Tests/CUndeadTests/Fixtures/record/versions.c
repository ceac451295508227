// Which versions of the C library refuse alignments that are no power of two.
#include "record/hooks/libc_version.h"
#include <stdio.h>

int main(void) {
  static const char *const versions[] = {"2.26", "2.37", "2.37.9000", "2.38", "2.38.1", "2.40", "2.100", "3.0", "3"};
  for (unsigned i = 0; i < sizeof versions / sizeof *versions; i++)
    printf("%s %d\n", versions[i], undead_libc_refuses_alignments(versions[i]));
  return 0;
}
