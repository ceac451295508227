#include "record/sample_table.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/spread.h"

#define FIRST_SLOTS 256u

// Open addressing; at most three of four slots are in use.
static undead_sample *slots;
static uint32_t slot_count, used;

static uint32_t home(uintptr_t block, uint32_t count) {
  return (uint32_t)(undead_spread(block >> 4) >> 40) & (count - 1);
}

// The slot of `block`, or the free one where it belongs.
static undead_sample *sample_slot_of(undead_sample *table, uint32_t count, uintptr_t block) {
  uint32_t at = home(block, count);
  while (table[at].block && table[at].block != block) at = (at + 1) & (count - 1);
  return &table[at];
}

static bool grow(void) {
  uint32_t count = slot_count ? slot_count * 2 : FIRST_SLOTS;
  undead_sample *larger = undead_map(count * sizeof *larger), *old = slots;
  if (!larger) return false;
  for (uint32_t i = 0; i < slot_count; i++)
    if (old[i].block) *sample_slot_of(larger, count, old[i].block) = old[i];
  uint32_t old_count = slot_count;
  slots = larger;
  slot_count = count;
  if (old) undead_unmap(old, old_count * sizeof *old);
  return true;
}

bool undead_samples_add(const undead_sample *sample, uint32_t most) {
  if (used >= most || (used + 1 > slot_count / 4 * 3 && !grow())) return false;
  undead_sample *slot = sample_slot_of(slots, slot_count, sample->block);
  used += !slot->block;
  *slot = *sample;
  return true;
}

bool undead_samples_remove(uintptr_t block, undead_sample *removed) {
  if (!slot_count) return false;
  undead_sample *slot = sample_slot_of(slots, slot_count, block);
  if (!slot->block) return false;
  *removed = *slot;
  // Those behind it move up, so that no search ends before it finds them.
  uint32_t hole = (uint32_t)(slot - slots), mask = slot_count - 1;
  for (uint32_t at = (hole + 1) & mask; slots[at].block; at = (at + 1) & mask) {
    uint32_t wanted = home(slots[at].block, slot_count);
    if (((at - wanted) & mask) < ((at - hole) & mask)) continue;
    slots[hole] = slots[at];
    hole = at;
  }
  slots[hole] = (undead_sample){0};
  used--;
  return true;
}

const undead_sample *undead_samples_find(uintptr_t block) {
  if (!slot_count) return NULL;
  const undead_sample *slot = sample_slot_of(slots, slot_count, block);
  return slot->block ? slot : NULL;
}

undead_sample *undead_samples_next(const undead_sample *after) {
  for (uint32_t at = after ? (uint32_t)(after - slots) + 1 : 0; at < slot_count; at++)
    if (slots[at].block) return &slots[at];
  return NULL;
}

uint32_t undead_samples_count(void) { return used; }
uint64_t undead_samples_bytes(void) { return slot_count * sizeof *slots; }

void undead_samples_forget_all(void) {
  for (uint32_t i = 0; i < slot_count; i++) slots[i] = (undead_sample){0};
  used = 0;
}

uint32_t undead_sample_id(uintptr_t block) {
  const undead_sample *sample = undead_samples_find(block);
  return sample ? sample->id : 0;
}
