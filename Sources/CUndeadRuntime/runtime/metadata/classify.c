// What the first word of a block says it is: a Swift object, a box, a closure's context, or something else. A block of C may
// begin with any word, so each step checks that it may be read. Verdicts are kept until the memory map changes.
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "runtime/layout.h"
#include "runtime/metadata/memory_reader.h"
#include <string.h>

enum { CACHE_SIZE = 4096, MAX_CLASS_DEPTH = 64, MAX_ALIGN_MASK = 4095, MAX_METADATA_BYTES = 1 << 20, GENERATION_BITS = 28 };

typedef struct {
  uintptr_t isa;
  uint32_t min_size;   // smallest block that can hold an instance
  uint32_t kind : 4;
  uint32_t map : GENERATION_BITS;   // the memory map from which it was made: it holds as long as that one
} verdict;

// A verdict of which two threads wrote a half each belongs to neither.
typedef struct {
  uintptr_t key;       // the first word of the object, and what follows
  uint64_t answer;     // the rest of a verdict
} cached_verdict;

// Direct-mapped. In memory of its own, which is no root: the words that were asked about are often references to leaked objects.
static cached_verdict *cache;

static bool has_destroy_function(uintptr_t isa) {
  return undead_is_executable(word_at(isa + ABI_METADATA_DESTROY));
}

static bool is_class(uintptr_t isa, uint32_t *instance_size) {
  for (int depth = 0; isa; depth++, isa = word_at(isa + ABI_CLASS_SUPER)) {
    if (depth == MAX_CLASS_DEPTH || (isa & 7)) return false;
    if (!undead_is_readable(isa - 24, 24 + ABI_CLASS_HEADER_BYTES)) return false;
    if (ABI_KIND_READ(word_at(isa)) != ABI_KIND_CLASS || !has_destroy_function(isa)) return false;
    uintptr_t witnesses = word_at(isa + ABI_METADATA_VALUE_WITNESSES);
    if (!witnesses || (witnesses & 7) || !undead_is_readable(witnesses, ABI_WITNESS_BYTES)) return false;
    uintptr_t descriptor = word_at(isa + ABI_CLASS_DESCRIPTOR);
    if ((descriptor & 3) || !undead_is_readable(descriptor, ABI_CLASS_DESCRIPTOR_BYTES)) return false;
    if ((u32_at(descriptor) & ABI_CONTEXT_KIND_MASK) != ABI_CONTEXT_CLASS) return false;
    uint32_t size = u32_at(isa + ABI_CLASS_INSTANCE_SIZE), metadata_size = u32_at(isa + ABI_CLASS_SIZE);
    uint32_t align_mask = *(const uint16_t *)(isa + ABI_CLASS_ALIGN_MASK);
    if (size < ABI_OBJECT_HEADER || u32_at(isa + ABI_CLASS_ADDRESS_POINT) != 0) return false;
    if ((align_mask & (align_mask + 1)) || align_mask > MAX_ALIGN_MASK) return false;
    if (metadata_size < ABI_CLASS_HEADER_BYTES || metadata_size > MAX_METADATA_BYTES) return false;
    if (u32_at(isa + ABI_CLASS_CLASS_ADDRESS_POINT) > metadata_size) return false;
    if (depth == 0) *instance_size = size;
    else if (size > *instance_size) return false;
  }
  return true;
}

static bool is_context(uintptr_t isa) {
  uint32_t first = u32_at(isa + ABI_CONTEXT_FIRST_CAPTURE);
  uintptr_t captures = word_at(isa + ABI_CONTEXT_CAPTURES);
  return first <= MAX_METADATA_BYTES && (captures & 3) == 0 && (!captures || undead_is_readable(captures, 12));
}

static bool is_generic_box(uintptr_t isa) {
  uint32_t offset = u32_at(isa + ABI_BOX_VALUE_OFFSET);
  uintptr_t type = word_at(isa + ABI_BOX_TYPE);
  return offset >= ABI_OBJECT_HEADER && offset <= MAX_ALIGN_MASK + 1 && (type & 7) == 0
    && undead_is_readable(type + ABI_METADATA_VALUE_WITNESSES, 16)
    && undead_is_readable(word_at(type + ABI_METADATA_VALUE_WITNESSES), ABI_WITNESS_BYTES);
}

static verdict judge(uintptr_t isa) {
  verdict result = {.isa = isa, .min_size = ABI_OBJECT_HEADER, .kind = UNDEAD_KIND_OTHER};
  if (!undead_is_readable(isa + ABI_METADATA_DESTROY, 40)) return result;
  switch (ABI_KIND_READ(word_at(isa))) {
  case ABI_KIND_CLASS:
    if (is_class(isa, &result.min_size)) result.kind = UNDEAD_KIND_CLASS;
    break;
  case ABI_KIND_HEAP_LOCAL_VARIABLE:
    if (has_destroy_function(isa) && is_context(isa)) result.kind = UNDEAD_KIND_CONTEXT;
    break;
  case ABI_KIND_HEAP_GENERIC_LOCAL_VARIABLE:
    if (has_destroy_function(isa) && is_generic_box(isa)) result.kind = UNDEAD_KIND_GENERIC_BOX;
    break;
  case ABI_KIND_ERROR_OBJECT:
    result.min_size = ABI_ERROR_VALUE;
    if (has_destroy_function(isa)) result.kind = UNDEAD_KIND_ERROR;
    break;
  case ABI_KIND_TASK:
    result.min_size = ABI_TASK_RESUME_CONTEXT + 8;
    if (has_destroy_function(isa)) result.kind = UNDEAD_KIND_TASK;
    break;
  case ABI_KIND_JOB:
    if (has_destroy_function(isa)) result.kind = UNDEAD_KIND_JOB;
    break;
  default:
    break;
  }
  return result;
}

static verdict verdict_in(const cached_verdict *entry) {
  verdict found;
  uint64_t answer = __atomic_load_n(&entry->answer, __ATOMIC_RELAXED);
  found.isa = __atomic_load_n(&entry->key, __ATOMIC_RELAXED) ^ answer;
  memcpy(&found.min_size, &answer, sizeof answer);
  return found;
}

static void keep_verdict(cached_verdict *entry, const verdict *found) {
  uint64_t answer;
  memcpy(&answer, &found->min_size, sizeof answer);
  __atomic_store_n(&entry->key, found->isa ^ answer, __ATOMIC_RELAXED);
  __atomic_store_n(&entry->answer, answer, __ATOMIC_RELAXED);
}

undead_kind undead_classify(uintptr_t isa, uint64_t size) {
  if ((isa & 7) || isa < 4096 || isa >> UNDEAD_ADDRESS_BITS || size < ABI_OBJECT_HEADER) return UNDEAD_KIND_OTHER;
  if (!cache && !(cache = undead_map(CACHE_SIZE * sizeof *cache))) return UNDEAD_KIND_OTHER;
  cached_verdict *entry = &cache[(isa >> 3 ^ isa >> 15) & (CACHE_SIZE - 1)];
  verdict found = verdict_in(entry);
  uint32_t map = undead_maps_generation & ((1u << GENERATION_BITS) - 1);
  if (found.isa != isa || found.map != map) {
    found = judge(isa);
    found.map = map;
    keep_verdict(entry, &found);
  }
  return size >= found.min_size ? (undead_kind)found.kind : UNDEAD_KIND_OTHER;
}
