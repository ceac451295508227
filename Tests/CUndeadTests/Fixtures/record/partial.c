// Blocks that each have another stack, while backtraces may be partial, and while they may not. Linked with the sources of
// the instrument.
#include "check.h"
#include "record/mode.h"
#include "record/registry.h"
#include "unwind/backtrace.h"
#include "unwind/settings.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 4000, LEVELS = 12, SITE_FRAMES = 5, WALKED_FIRST = 64 };

// Lest the call before it becomes a jump.
#define KEEP_FRAME(value) __asm__ volatile("" : "+r"(value)::"memory")

static void *blocks[BLOCKS];

static __attribute__((noinline)) void *take(void) {
  void *block = malloc(40);
  KEEP_FRAME(block);
  return block;
}

static __attribute__((noinline)) void *hold(void) {
  void *block = take();
  KEEP_FRAME(block);
  return block;
}

static __attribute__((noinline)) void *own(void) {
  void *block = hold();
  KEEP_FRAME(block);
  return block;
}

static void *descend(uint32_t path, uint32_t level);

static __attribute__((noinline)) void *left(uint32_t path, uint32_t level) {
  void *block = descend(path, level);
  KEEP_FRAME(block);
  return block;
}

static __attribute__((noinline)) void *right(uint32_t path, uint32_t level) {
  void *block = descend(path, level);
  KEEP_FRAME(block);
  return block;
}

static __attribute__((noinline)) void *descend(uint32_t path, uint32_t level) {
  void *block = level == LEVELS ? own() : path >> level & 1 ? left(path, level + 1) : right(path, level + 1);
  KEEP_FRAME(block);
  return block;
}

static uint32_t id_of(const void *block) {
  const uint32_t *slot = undead_registry_slot((uintptr_t)block);
  return slot ? *slot & UNDEAD_WORD_BACKTRACE : 0;
}

static void check_blocks(bool hybrid) {
  uint32_t partial = 0, whole = 0;
  uintptr_t first[64], frames[64];
  CHECK(undead_backtrace_frames(id_of(blocks[0]), first, 64) > 2 * LEVELS);
  for (uint32_t i = 0; i < BLOCKS; i++) {
    uint32_t id = id_of(blocks[i]), count = undead_backtrace_frames(id, frames, 64);
    // take, hold, own and what called it; then left or right.
    CHECK(memcmp(frames, first, 4 * sizeof *frames) == 0);
    if (undead_backtrace_is_partial(id)) {
      partial++;
      CHECK(hybrid && i >= WALKED_FIRST && count == SITE_FRAMES);
    } else {
      whole += i >= WALKED_FIRST;
      CHECK(count > 2 * LEVELS);
    }
  }
  CHECK(whole > BLOCKS / 100);
  CHECK(partial > BLOCKS / 2 || !hybrid);
}

static void allocate(void) {
  for (uint32_t i = 0; i < BLOCKS; i++) blocks[i] = descend(i * 0x9E3779B1u >> 16, 0);
}

static void release(void) {
  for (uint32_t i = 0; i < BLOCKS; i++) free(blocks[i]);
}

int main(int count, char **arguments) {
  bool hybrid = count > 1 && strcmp(arguments[1], "hybrid") == 0;
  CHECK(undead_backtrace_hybrid == hybrid);
  allocate();
  check_blocks(hybrid);
  release();
  return failures != 0;
}
