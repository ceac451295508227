// What the vector registers of a stopped thread hold.
#include "platform/memory/own_data.h"
#include "world/world.h"
#include <assert.h>
#include <cpuid.h>

// XSAVE areas in the standard format: Intel SDM vol. 1, 13.4. Where the parts lie the processor shows (CPUID leaf 0DH): the
// vectors of AVX and AVX-512, tiles, the further general registers of APX. Those of x87 and SSE are in the old area.
enum { XSTATE_BV_OFFSET = 512, XSAVE_HEADER_END = 576, PARTS = 63, FIRST_EXTENDED = 2, PART_PKRU = 9 };
static struct {
  uint32_t offset, bytes;
} parts[PARTS] = {{32, 128}, {160, 256}};

// Asked for those that the processor has only: in a virtual machine each question takes microseconds.
void undead_learn_vectors(void) {
  uint32_t bytes, offset, c, d, low, high;
  if (parts[FIRST_EXTENDED].bytes || !__get_cpuid_count(0xD, 0, &low, &bytes, &c, &high)) return;
  for (uint32_t i = FIRST_EXTENDED; i < PARTS; i++) {
    if (i == PART_PKRU || !(((uint64_t)high << 32 | low) >> i & 1)) continue;
    __cpuid_count(0xD, i, bytes, offset, c, d);
    if (c & 1) continue;   // of the kernel only
    parts[i].offset = offset;
    parts[i].bytes = bytes;
  }
}

static uint32_t take_words(const uint8_t *area, uint32_t bytes, uintptr_t *to) {
  uint32_t count = 0;
  for (const uint64_t *word = (const void *)area; word < (const uint64_t *)(area + bytes); word++) {
    if (*word < 4096) continue;
    if (to) to[count] = *word;
    count++;
  }
  return count;
}

// The words of the parts in use; with `to` NULL only their number.
static uint32_t take_parts(const uint8_t *area, size_t size, uintptr_t *to) {
  uint64_t in_use = size >= XSAVE_HEADER_END ? *(const uint64_t *)(area + XSTATE_BV_OFFSET) : 3;
  uint32_t count = 0;
  for (uint32_t i = 0; i < PARTS; i++) {
    if (!(in_use >> i & 1) || !parts[i].bytes || parts[i].offset + (size_t)parts[i].bytes > size) continue;
    count += take_words(area + parts[i].offset, parts[i].bytes, to ? to + count : NULL);
  }
  return count;
}

void undead_take_vectors(undead_world *world, undead_stopped_thread *thread, const uint8_t *area, size_t size) {
  assert(((uintptr_t)area & 7) == 0);
  uint32_t count = take_parts(area, size, NULL);
  uint32_t first = __atomic_fetch_add(&world->vector_count, count, __ATOMIC_RELAXED);
  if (first + count > UNDEAD_MAX_VECTORS) {
    world->vectors_lost = true;
    return;
  }
  take_parts(area, size, world->vectors + first);
  thread->first_vector = first;
  thread->vector_count = count;
}
