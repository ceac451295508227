// Who made a block: memory that begins with the address of a class need not be an object. Tables of types and their
// instances begin so, too.
#pragma once
#include "unwind/backtrace.h"
#include "world/images.h"
#include "platform/memory/spread.h"
#include <stdbool.h>
#include <stdint.h>

#define UNDEAD_MAKER_CACHE 1024u

typedef struct {
  undead_interval raw[2];       // what the runtime's functions take memory with
  undead_interval objects[3];   // those that make objects of classes of it; empty if they are not known
  struct {
    uint32_t backtrace;
    bool raw;
  } cache[UNDEAD_MAKER_CACHE];
  struct {
    uint32_t run;
    bool raw;
  } runs[UNDEAD_MAKER_CACHE];   // by the frames that decide, where many backtraces share them
} undead_makers;

// Finds the functions; with the world running.
void undead_makers_open(undead_makers *makers);

bool undead_find_maker(undead_makers *makers, uint32_t backtrace);   // what undead_is_made_raw says of one that is not in the cache

// Whether the next function has an answer for blocks with this backtrace. `makers` may be NULL.
static inline bool undead_knows_maker(const undead_makers *makers, uint32_t backtrace) {
  return makers && makers->raw[0].low && makers->objects[0].low && backtrace > UNDEAD_BACKTRACE_NONE;
}

static inline uint32_t undead_maker_slot(uint32_t backtrace) { return undead_spread32(backtrace) >> 22; }

// True if something else than the Swift runtime made the block with this backtrace, so that it is no object. False also
// where nothing tells.
static inline bool undead_is_made_raw(undead_makers *makers, uint32_t backtrace) {
  uint32_t slot = undead_maker_slot(backtrace);
  return makers->cache[slot].backtrace == backtrace ? makers->cache[slot].raw : undead_find_maker(makers, backtrace);
}

// Backtraces that were not asked about lately are read from memory: to be called a while before.
static inline void undead_makers_expect(const undead_makers *makers, uint32_t backtrace) {
  if (makers->cache[undead_maker_slot(backtrace)].backtrace != backtrace) undead_backtrace_prefetch(backtrace);
}
