#include "runtime/evidence/evidence.h"
#include "runtime/abi.h"
#include "runtime/evidence/evidence_internal.h"
#include <assert.h>
#include <string.h>

void undead_evidence_clear(undead_evidence_map *map) {
  // Most types are small, and a look at a process learns thousands of them.
  memset(map->byte, BYTE_RAW, map->written);
  map->written = 0;
  map->guard_count = map->buffer_count = 0;
  map->end = 0;
}

void undead_evidence_set(undead_evidence_map *map, size_t base, size_t size, uint8_t value) {
  if (base >= UNDEAD_EVIDENCE_BYTES) return;
  size_t end = size < UNDEAD_EVIDENCE_BYTES - base ? base + size : UNDEAD_EVIDENCE_BYTES;
  memset(map->byte + base, value, end - base);
  if (map->written < end) map->written = end;
}

void undead_evidence_pad(undead_evidence_map *map, size_t base, size_t size) {
  undead_evidence_set(map, base, size, BYTE_PADDING);
}

void undead_evidence_reference(undead_evidence_map *map, size_t base, uint8_t value) {
  if (base % 8) value = BYTE_RAW;
  undead_evidence_set(map, base, 8, value);
}

void undead_evidence_add_buffer(undead_evidence_map *map, size_t base) {
  uint32_t i = map->buffer_count;
  if (base % 8 || base > UNDEAD_EVIDENCE_BYTES || i == UNDEAD_MOST_BUFFERS) return;
  for (; i > 0 && map->buffers[i - 1] > base; i--) map->buffers[i] = map->buffers[i - 1];
  map->buffers[i] = (uint32_t)base;
  map->buffer_count++;
}

static undead_guard *guard_of_word(undead_evidence_map *map, size_t word) {
  for (uint32_t i = 0; i < map->guard_count; i++)
    if (map->guards[i].word == word) return &map->guards[i];
  return NULL;
}

static bool add_guard(undead_evidence_map *map, const undead_guard *guard) {
  uint32_t i = map->guard_count;
  if (i == UNDEAD_MOST_GUARDS) return false;
  for (; i > 0 && map->guards[i - 1].word > guard->word; i--) map->guards[i] = map->guards[i - 1];
  map->guards[i] = *guard;
  map->guard_count++;
  return true;
}

// Both guards must look at one word, whose values without a payload follow one another.
static bool widen(undead_guard *known, const undead_guard *more) {
  if (known->guard != more->guard || known->mask != more->mask) return false;
  uint64_t step = known->mask & -known->mask;
  if (more->first == known->last + step) known->last = more->last;
  else if (more->last + step == known->first) known->first = more->first;
  else return false;
  return true;
}

// An existential without a value has a small number for its type, which says all that is to be known of its buffer.
static bool is_type_of_buffer(const undead_evidence_map *map, size_t word, size_t guard) {
  for (uint32_t i = 0; i < map->buffer_count; i++)
    if (word >= map->buffers[i] && word < map->buffers[i] + ABI_EXISTENTIAL_BUFFER_BYTES)
      return guard == map->buffers[i] + ABI_EXISTENTIAL_TYPE;
  return false;
}

static void remove_guards(undead_evidence_map *map, size_t word) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < map->guard_count; i++)
    if (map->guards[i].word != word) map->guards[kept++] = map->guards[i];
  map->guard_count = kept;
}

void undead_evidence_choose(undead_evidence_map *map, size_t word, const undead_guard *guards, uint32_t count) {
  remove_guards(map, word);
  bool fits = word + 8 <= UNDEAD_EVIDENCE_BYTES && map->guard_count + count <= UNDEAD_MOST_GUARDS;
  for (uint32_t i = 0; fits && i < count; i++) add_guard(map, &guards[i]);
  undead_evidence_set(map, word, 8, fits && count ? BYTE_CHOSEN : BYTE_RAW);
}

uint32_t undead_evidence_choices(const undead_evidence_map *map, size_t word, const undead_guard *also, uint32_t choice, undead_guard *guards,
                                 uint32_t most) {
  const undead_guard text = {.guard = (uint32_t)word, .mask = 1ull << 63, .within = true};
  uint32_t count = 0, last = UINT32_MAX;
  uint8_t value = map->byte[word];
  for (size_t at = word; at < word + 8; at++)
    if (at >= UNDEAD_EVIDENCE_BYTES || map->byte[at] != value) return 0;
  if (value != BYTE_COUNTED && value != BYTE_TEXT && value != BYTE_GUARDED && value != BYTE_CHOSEN) return 0;
  if (value == BYTE_COUNTED || value == BYTE_TEXT) guards[count++] = *also;
  if (value == BYTE_TEXT) guards[count++] = text;
  for (uint32_t i = 0; value != BYTE_COUNTED && value != BYTE_TEXT && i < map->guard_count; i++) {
    if (map->guards[i].word != word) continue;
    if (count + 2 > most) return 0;
    bool begins = map->guards[i].choice != last;
    last = map->guards[i].choice;
    if (begins) {
      guards[count] = *also;
      guards[count++].choice = last;
    }
    guards[count++] = map->guards[i];
  }
  for (uint32_t i = 0; i < count; i++) {
    guards[i].word = (uint32_t)word;
    guards[i].choice += choice;
  }
  return count;
}

// What was counted of itself is counted if this guard agrees, too.
static uint8_t choose_also(undead_evidence_map *map, const undead_guard *guard) {
  undead_guard guards[UNDEAD_MOST_CHOICES];
  uint32_t count = undead_evidence_choices(map, guard->word, guard, 0, guards, UNDEAD_MOST_CHOICES);
  undead_evidence_choose(map, guard->word, guards, count);
  return map->byte[guard->word];
}

void undead_evidence_end_guards(undead_evidence_map *map) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < map->guard_count; i++) {
    uint8_t value = map->byte[map->guards[i].word];
    if (value == BYTE_GUARDED || value == BYTE_CHOSEN) map->guards[kept++] = map->guards[i];
  }
  map->guard_count = kept;
}

static uint8_t guarded(undead_evidence_map *map, const undead_guard *guard) {
  switch (map->byte[guard->word]) {
  case BYTE_COUNTED:
    return add_guard(map, guard) ? BYTE_GUARDED : BYTE_RAW;
  case BYTE_GUARDED:
    if (widen(guard_of_word(map, guard->word), guard)) return BYTE_GUARDED;
    return choose_also(map, guard);
  case BYTE_TEXT: case BYTE_CHOSEN:
    return choose_also(map, guard);
  case BYTE_BUFFER:
    return is_type_of_buffer(map, guard->word, guard->guard) ? BYTE_BUFFER : BYTE_RAW;
  default:
    return map->byte[guard->word];
  }
}

void undead_evidence_guard_all(undead_evidence_map *map, size_t base, size_t size, const undead_guard *guard) {
  for (size_t word = (base + 7) & ~7ul; word + 8 <= base + size && word + 8 <= UNDEAD_EVIDENCE_BYTES; word += 8) {
    undead_guard of_word = *guard;
    of_word.word = (uint32_t)word;
    if (word != guard->guard) undead_evidence_set(map, word, 8, guarded(map, &of_word));
  }
}

void undead_evidence_distrust(undead_evidence_map *map, size_t base, size_t size) {
  for (size_t at = base; at < base + size && at < UNDEAD_EVIDENCE_BYTES; at++) {
    uint8_t value = map->byte[at];
    if (value == BYTE_COUNTED || value == BYTE_GUARDED || value == BYTE_TEXT || value == BYTE_BUFFER || value == BYTE_CHOSEN)
      map->byte[at] = BYTE_RAW;
  }
}

// What a byte is if it is one thing in this case of an enum and another in that one. Where a case uses it not, it may
// hold what another one left.
uint8_t undead_evidence_merge(uint8_t one, uint8_t other) {
  if (one == other) return one == BYTE_GUARDED || one == BYTE_BUFFER || one == BYTE_TEXT || one == BYTE_CHOSEN ? BYTE_RAW : one;
  bool weak_one = one == BYTE_NUMBER || one == BYTE_PADDING || one == BYTE_NONE;
  bool weak_other = other == BYTE_NUMBER || other == BYTE_PADDING || other == BYTE_NONE;
  if (!weak_one || !weak_other) return BYTE_RAW;
  if (one == BYTE_PADDING) return other;
  if (other == BYTE_PADDING) return one;
  return BYTE_NUMBER;
}

static undead_evidence of_bytes(uint8_t value) {
  static const undead_evidence evidence[] = {
    [BYTE_RAW] = UNDEAD_EVIDENCE_RAW, [BYTE_COUNTED] = UNDEAD_EVIDENCE_COUNTED, [BYTE_NUMBER] = UNDEAD_EVIDENCE_NUMBER,
    [BYTE_NONE] = UNDEAD_EVIDENCE_NONE, [BYTE_TEXT] = UNDEAD_EVIDENCE_TEXT, [BYTE_GUARDED] = UNDEAD_EVIDENCE_GUARDED,
    [BYTE_BUFFER] = UNDEAD_EVIDENCE_BUFFER, [BYTE_PADDING] = UNDEAD_EVIDENCE_NUMBER, [BYTE_CHOSEN] = UNDEAD_EVIDENCE_RAW,
  };
  assert(value <= BYTE_PADDING);
  return evidence[value];
}

undead_evidence undead_evidence_word(const undead_evidence_map *map, size_t offset) {
  if (offset % 8 || offset + 8 > UNDEAD_EVIDENCE_BYTES) return UNDEAD_EVIDENCE_RAW;
  uint8_t found = BYTE_PADDING;
  for (size_t at = offset; at < offset + 8; at++) {
    uint8_t value = map->byte[at];
    if (value == BYTE_PADDING || value == found) continue;
    // Parts of several fields: numbers, or unknown.
    if (found != BYTE_PADDING) return UNDEAD_EVIDENCE_RAW;
    found = value;
  }
  return of_bytes(found);
}
