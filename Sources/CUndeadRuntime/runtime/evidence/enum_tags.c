// Nothing in metadata says where an enum has its tag. But its witnesses write and read it: each case is written over two patterns, and the
// bits that come out the same are the tag. evidence_types.c asks, while the world is running.
#include "runtime/evidence/evidence_internal.h"
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"

enum { MOST_BYTES = 1024, WORDS = MOST_BYTES / 8 };

typedef unsigned (*get_tag)(const void *value, const void *type);
typedef void (*inject_tag)(void *value, unsigned tag, const void *type);

typedef struct {
  get_tag get;
  inject_tag inject;
  uintptr_t type;
  size_t words;
} tag_witnesses;

// Of one case: the bits that its tag decides, and what they are.
typedef struct {
  uint64_t fixed[WORDS + 8], value[WORDS + 8];
} tagged;

static bool find_witnesses(uintptr_t type, tag_witnesses *witnesses) {
  size_t size, stride;
  uint32_t flags;
  uintptr_t table = read_word(type + ABI_METADATA_VALUE_WITNESSES);
  if (!undead_type_layout(type, &size, &stride, &flags) || !(flags & ABI_WITNESS_HAS_ENUM) || size > MOST_BYTES) return false;
  uintptr_t get = read_word(table + ABI_WITNESS_GET_ENUM_TAG), inject = read_word(table + ABI_WITNESS_INJECT_TAG);
  if (!undead_is_executable(get) || !undead_is_executable(inject)) return false;
  *witnesses = (tag_witnesses){(get_tag)get, (inject_tag)inject, type, (size + 7) / 8};
  return true;
}

static bool write_case(const tag_witnesses *witnesses, unsigned number, tagged *found) {
  static _Alignas(64) uint64_t bytes[2][WORDS + 8];
  for (int i = 0; i < 2; i++) {
    memset(bytes[i], i ? 0xFF : 0, sizeof bytes[i]);
    witnesses->inject(bytes[i], number, (const void *)witnesses->type);
    if (witnesses->get(bytes[i], (const void *)witnesses->type) != number) return false;
  }
  for (size_t word = 0; word < witnesses->words; word++) {
    found->fixed[word] = ~(bytes[0][word] ^ bytes[1][word]);
    found->value[word] = bytes[0][word];
  }
  return true;
}

static bool is_payload(const undead_fields *cases, uint32_t i) { return cases->field[i].mangled.length != 0; }

// Whether this word, in the bits that all payloads leave to the tag, is another one in each of these cases.
static bool distinguishes(const tagged *of, const undead_fields *cases, size_t word, undead_enum_tags *tags) {
  uint64_t mask = UINT64_MAX;
  for (uint32_t i = 0; i < tags->count; i++) mask &= of[i].fixed[word];
  for (uint32_t i = tags->count; i < cases->count; i++)
    if (mask & ~of[i].fixed[word]) return false;
  for (uint32_t i = 0; i < tags->count; i++) {
    tags->values[i] = of[i].value[word] & mask;
    for (uint32_t k = 0; k < cases->count; k++)
      if (k != i && (of[k].value[word] & mask) == tags->values[i]) return false;
  }
  tags->offset = (uint32_t)word * 8;
  tags->mask = mask;
  return true;
}

bool undead_enum_tags_of(uintptr_t type, const undead_fields *cases, undead_enum_tags *tags) {
  static tagged of[UNDEAD_MOST_TAGGED_CASES];
  tag_witnesses witnesses;
  if (cases->count > UNDEAD_MOST_TAGGED_CASES || !find_witnesses(type, &witnesses)) return false;
  *tags = (undead_enum_tags){0};
  // Tags count the cases with payloads first, as the records do.
  while (tags->count < cases->count && is_payload(cases, tags->count)) tags->count++;
  for (uint32_t i = 0; i < cases->count; i++)
    if ((i >= tags->count && is_payload(cases, i)) || !write_case(&witnesses, i, &of[i])) return false;
  for (size_t word = 0; word < witnesses.words; word++)
    if (distinguishes(of, cases, word, tags)) return true;
  return false;
}
