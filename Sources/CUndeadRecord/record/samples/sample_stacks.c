#include "record/samples/sample_stacks.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/spread.h"
#include <assert.h>
#include <string.h>

#define FRAMES_OF_BUDGET 2u    // a half of it
#define ENTRIES_OF_BUDGET 4u   // a quarter
#define FIRST_INDEX 256u

static uint64_t budget;
static undead_sample_stack *entries, thrown_away;
static uint32_t entry_count, entry_limit, free_entries;   // those below `entry_count` that are not in use
static uint32_t *frames, frame_count, frame_limit;
static uint32_t *table, table_size;   // entry + 1 by hash
static uint32_t epoch = 1;

void undead_stacks_set_budget(uint64_t bytes) {
  if (!entries) budget = bytes;
}

static bool prepare_entries(void) {
  if (entries) return true;
  entry_limit = (uint32_t)(budget / ENTRIES_OF_BUDGET / sizeof *entries);
  frame_limit = (uint32_t)(budget / FRAMES_OF_BUDGET / sizeof *frames);
  if (!frames) frames = undead_map(frame_limit * sizeof *frames);
  if (!table && (table = undead_map(FIRST_INDEX * sizeof *table))) table_size = FIRST_INDEX;
  if (!frames || !table) return false;
  entries = undead_map(entry_limit * sizeof *entries);
  return entries != NULL;
}

static uint64_t hash_of(const uint32_t *from, uint32_t count) {
  uint64_t hash = count;
  for (uint32_t i = 0; i < count; i++) hash = undead_spread(hash ^ from[i]), hash ^= hash >> 29;
  return hash ? hash : 1;
}

static uint32_t *slot_for(uint32_t *in, uint32_t size, uint64_t hash, const uint32_t *wanted, uint32_t count) {
  for (uint32_t at = (uint32_t)hash & (size - 1);; at = (at + 1) & (size - 1)) {
    if (!in[at]) return &in[at];
    const undead_sample_stack *stack = &entries[in[at] - 1];
    if (wanted && stack->hash == hash && stack->count == count &&
        memcmp(&frames[stack->first], wanted, count * sizeof *wanted) == 0)
      return &in[at];
  }
}

static void fill_table(void) {
  memset(table, 0, table_size * sizeof *table);
  for (uint32_t i = 0; i < entry_count; i++)
    if (entries[i].hash) *slot_for(table, table_size, entries[i].hash, NULL, 0) = i + 1;
}

static bool grow_table(void) {
  uint32_t *larger = undead_map(table_size * 2 * sizeof *larger), *old = table;
  if (!larger) return false;
  table = larger;
  table_size *= 2;
  fill_table();
  undead_unmap(old, table_size / 2 * sizeof *old);
  return true;
}

static void throw_away(undead_sample_stack *stack) {
  thrown_away.count++;
  thrown_away.samples += stack->samples;
  thrown_away.sampled_bytes += stack->sampled_bytes;
  thrown_away.objects += stack->objects;
  thrown_away.bytes += stack->bytes;
  *stack = (undead_sample_stack){0};
  free_entries++;
}

// Frames move together, in the order in which they lie.
static void close_gaps(void) {
  uint32_t kept = 0;
  for (uint32_t at = 0; at < frame_count;) {
    // Behind the frames of a stack lies its number.
    uint32_t count = frames[at], entry = frames[at + 1];
    undead_sample_stack *stack = &entries[entry];
    if (stack->hash && stack->first == at + 2) {
      memmove(&frames[kept], &frames[at], (count + 2) * sizeof *frames);
      stack->first = kept + 2;
      kept += count + 2;
    }
    at += count + 2;
  }
  frame_count = kept;
}

// Throws away what no live sample needs and was not used in this epoch, or, if that is too little, at all.
static void end_epoch(uint32_t wanted) {
  for (int all = 0; all < 2; all++) {
    for (uint32_t i = 0; i < entry_count; i++)
      if (entries[i].hash && !entries[i].live && (all || entries[i].epoch != epoch)) throw_away(&entries[i]);
    close_gaps();
    bool entries_left = free_entries + (entry_limit - entry_count) > entry_limit / 8;
    if (entries_left && frame_limit - frame_count > frame_limit / 8 + wanted) break;
  }
  fill_table();
  epoch++;
}

static bool has_room(uint32_t count) {
  return frame_count + count + 2 <= frame_limit && (free_entries || entry_count < entry_limit);
}

static uint32_t take_entry(void) {
  if (!free_entries) return entry_count++;
  free_entries--;
  static uint32_t last;
  do last = last + 1 < entry_count ? last + 1 : 0;
  while (entries[last].hash);
  return last;
}

uint32_t undead_stacks_add(const uint32_t *wanted, uint32_t count) {
  if (!prepare_entries()) return UNDEAD_NO_STACK;
  uint64_t hash = hash_of(wanted, count);
  uint32_t known = *slot_for(table, table_size, hash, wanted, count);
  if (known) {
    entries[known - 1].epoch = epoch;
    return known - 1;
  }
  if (!has_room(count)) end_epoch(count);
  if (!has_room(count)) return UNDEAD_NO_STACK;
  if ((entry_count - free_entries + 1) * 2 > table_size && !grow_table()) return UNDEAD_NO_STACK;
  uint32_t number = take_entry();
  frames[frame_count] = count;
  frames[frame_count + 1] = number;
  memcpy(&frames[frame_count + 2], wanted, count * sizeof *wanted);
  entries[number] = (undead_sample_stack){.hash = hash, .first = frame_count + 2, .count = count, .epoch = epoch};
  frame_count += count + 2;
  *slot_for(table, table_size, hash, NULL, 0) = number + 1;
  return number;
}

undead_sample_stack *undead_stacks_at(uint32_t number) {
  assert(number < entry_count);
  return &entries[number];
}

uint32_t undead_stacks_end(void) { return entry_count; }

const uint32_t *undead_stacks_frames(const undead_sample_stack *stack) { return &frames[stack->first]; }
const undead_sample_stack *undead_stacks_thrown_away(void) { return &thrown_away; }

uint64_t undead_stacks_bytes(void) {
  return entry_count * sizeof *entries + (frame_count + table_size) * sizeof *frames;
}

void undead_stacks_forget_ids(void) {
  for (uint32_t i = 0; i < entry_count; i++) entries[i].id = 0;
}

void undead_stacks_forget_all(void) {
  if (!entries) return;
  memset(entries, 0, entry_count * sizeof *entries);
  entry_count = free_entries = frame_count = 0;
  fill_table();
}
