#include "platform/sort.h"

static void sift_down(uintptr_t *words, uint32_t root, uint32_t count) {
  for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && words[child + 1] > words[child]) child++;
    if (words[root] >= words[child]) return;
    uintptr_t swapped = words[root];
    words[root] = words[child];
    words[child] = swapped;
  }
}

void undead_sort_words(uintptr_t *words, uint32_t count) {
  for (uint32_t root = count / 2; root-- > 0;) sift_down(words, root, count);
  for (uint32_t last = count; last-- > 1;) {
    uintptr_t largest = words[0];
    words[0] = words[last];
    words[last] = largest;
    sift_down(words, 0, last);
  }
}
