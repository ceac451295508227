#include "undead_supported.h"
#if UNDEAD_SUPPORTED && defined(__aarch64__)
// What the vector registers of a stopped thread hold: 32 of 16 bytes (struct user_fpsimd_struct). Untested on hardware.
#include "world/world.h"
#include <assert.h>

enum { REGISTER_BYTES = 32 * 16 };

void undead_learn_vectors(void) {}

void undead_take_vectors(undead_world *world, undead_stopped_thread *thread, const uint8_t *area, size_t size) {
  assert(((uintptr_t)area & 7) == 0);
  const uint64_t *words = (const uint64_t *)area;
  uint32_t words_there = (uint32_t)((size < REGISTER_BYTES ? size : REGISTER_BYTES) / 8), count = 0;
  for (uint32_t i = 0; i < words_there; i++) count += words[i] >= 4096;
  uint32_t first = __atomic_fetch_add(&world->vector_count, count, __ATOMIC_RELAXED);
  if (first + count > UNDEAD_MAX_VECTORS) {
    world->vectors_lost = true;
    return;
  }
  uintptr_t *to = world->vectors + first;
  for (uint32_t i = 0; i < words_there; i++)
    if (words[i] >= 4096) *to++ = words[i];
  thread->first_vector = first;
  thread->vector_count = count;
}
#endif
