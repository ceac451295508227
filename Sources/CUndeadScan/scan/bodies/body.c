#include "scan/bodies/body.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/sort.h"
#include "platform/memory/spread.h"
#include "platform/processor/words.h"
#include "record/block_source.h"
#include "runtime/abi.h"
#include "scan/bodies/held.h"
#include "world/given.h"
#include "world/images.h"
#include <assert.h>

// Sizes that malloc gives for a side table.
#define SIDE_TABLE_LEAST (ABI_SIDE_TABLE_COUNTS + 16u)
#define SIDE_TABLE_MOST 64

// A living object holds one unowned reference to itself. Bit 0 is set in all.
#define REFCOUNT_UNOWNED_MASK (ABI_REFCOUNT_UNOWNED_MASK << ABI_REFCOUNT_UNOWNED_SHIFT)
#define REFCOUNT_TWO_UNOWNED (2u << ABI_REFCOUNT_UNOWNED_SHIFT)

static uintptr_t side_table_of(uint64_t refcount) {
  // Two top bits set: the rest is the address of the side table; all ones is an immortal object.
  if (refcount >> ABI_REFCOUNT_SIDE_TABLE_SHIFT != ABI_REFCOUNT_SIDE_TABLE_TOP || refcount == UINT64_MAX || (uint32_t)refcount == UINT32_MAX) return 0;
  return refcount << ABI_REFCOUNT_SIDE_TABLE_SCALE;
}

// What has this as its side table, 0 if nothing has.
static uintptr_t side_table_user(const undead_heap *heap, uintptr_t block, size_t size) {
  if (size < SIDE_TABLE_LEAST || size > SIDE_TABLE_MOST) return 0;
  uintptr_t object = word_at(block);
  if (!undead_heap_starts(heap, object)) return 0;
  return side_table_of(word_at(object + ABI_OBJECT_REFCOUNT)) == block ? object : 0;
}

uintptr_t undead_side_table_owner(const undead_heap *heap, uintptr_t block, size_t size) {
  uintptr_t object = side_table_user(heap, block, size);
  // Records of the program that refer to each other in this way do not begin with a type.
  return object && undead_classify(word_at(object), undead_block_size(object)) ? object : 0;
}

static bool has_buffers(const uint8_t *words, size_t count) {
  for (size_t i = 0; words && i < count; i++)
    if (words[i] == UNDEAD_EVIDENCE_BUFFER) return true;
  return false;
}

bool undead_body_is_shareable(undead_bodies *bodies, uintptr_t block, size_t size) {
  const undead_layout *layout = size >= ABI_OBJECT_HEADER ? undead_body_layout(bodies, word_at(block)) : NULL;
  if (!layout || layout->kind == UNDEAD_KIND_OTHER) return !side_table_user(bodies->heap, block, size);
  if (layout->category == UNDEAD_CATEGORY_OBSERVER_TABLE || layout->buffer_count || layout->deciding.count) return false;
  for (int i = 0; i < 2; i++)
    if (has_buffers(layout->element_words[i], layout->strides[i] / 8)) return false;
  return !has_buffers(layout->words, layout->word_count);
}

uintptr_t undead_complement_target(const undead_heap *heap, uintptr_t word) {
  if (word >> UNDEAD_ADDRESS_BITS != UNDEAD_COMPLEMENT_TOP || !undead_heap_starts(heap, ~word)) return 0;
  return undead_is_dispatch_data(word_at(~word)) ? ~word : 0;
}

uintptr_t undead_entry_of_channel(const undead_bodies *bodies, uintptr_t block) {
  if (!bodies->io_class || undead_block_size(block) < ABI_IO_DESCRIPTOR + 4 || word_at(block) != bodies->io_class) return 0;
  uintptr_t entry = word_at(block + ABI_IO_ENTRY);
  // Both have the number of the descriptor.
  bool agrees = undead_heap_starts(bodies->heap, entry)
    && *(const uint32_t *)entry == *(const uint32_t *)(block + ABI_IO_DESCRIPTOR);
  return agrees ? entry : 0;
}

bool undead_is_deiniting(const undead_heap *heap, uintptr_t block) {
  uint64_t refcount = word_at(block + ABI_OBJECT_REFCOUNT);
  uintptr_t table = side_table_of(refcount);
  if (table) return undead_heap_starts(heap, table) && (word_at(table + ABI_SIDE_TABLE_COUNTS) & ABI_REFCOUNT_DEINITING);
  return (refcount & ABI_REFCOUNT_DEINITING) != 0;
}

uint64_t undead_strong_count(const undead_heap *heap, uintptr_t block) {
  uint64_t refcount = word_at(block + ABI_OBJECT_REFCOUNT);
  uintptr_t table = side_table_of(refcount);
  if (table && undead_heap_starts(heap, table)) refcount = word_at(table + ABI_SIDE_TABLE_COUNTS);
  else if (refcount >> 63) return 0;
  if ((uint32_t)refcount == UINT32_MAX || refcount & ABI_REFCOUNT_DEINITING) return 0;
  return (refcount >> ABI_REFCOUNT_EXTRA_SHIFT & ABI_REFCOUNT_EXTRA_MASK) + 1;
}

uint64_t undead_outside_count(const undead_heap *heap, uintptr_t block) {
  uint64_t counts = word_at(block + ABI_OBJECT_REFCOUNT), weak = 0;
  uintptr_t table = side_table_of(counts);
  if (table && undead_heap_starts(heap, table) && word_at(table) == block) {
    counts = word_at(table + ABI_SIDE_TABLE_COUNTS);
    weak = (uint32_t)word_at(table + ABI_SIDE_TABLE_WEAK);
  } else if (counts >> 63) {
    return 0;
  }
  uint64_t unowned = counts >> ABI_REFCOUNT_UNOWNED_SHIFT & ABI_REFCOUNT_UNOWNED_MASK;
  return (weak ? weak - 1 : 0) + (unowned ? unowned - 1 : 0);
}

// The second word looks like the reference count of a Swift object.
static bool has_refcount(const undead_heap *heap, uintptr_t block) {
  uint64_t refcount = word_at(block + ABI_OBJECT_REFCOUNT);
  uintptr_t table = side_table_of(refcount);
  if (table) return undead_heap_starts(heap, table) && word_at(table) == block;
  return refcount & 1 && (refcount & REFCOUNT_UNOWNED_MASK) != 0;
}

// An object in memory counts as one of its own unowned references; a deallocated one does not.
static bool has_unowned_references(const undead_heap *heap, uintptr_t block) {
  uint64_t refcount = word_at(block + ABI_OBJECT_REFCOUNT);
  uintptr_t table = side_table_of(refcount);
  if (table && undead_heap_starts(heap, table)) refcount = word_at(table + ABI_SIDE_TABLE_COUNTS);
  uint64_t least = undead_is_deiniting(heap, block) ? REFCOUNT_TWO_UNOWNED / 2 : REFCOUNT_TWO_UNOWNED;
  return (refcount & REFCOUNT_UNOWNED_MASK) >= least;
}

// True if the word can be what a weak or unowned reference holds: nothing, a side table, or an object that counts it.
static bool may_be_uncounted(const undead_heap *heap, uintptr_t block, uintptr_t word) {
  uintptr_t target = undead_heap_resolve(heap, word);
  // Where the keys and values of a dictionary begin lies in the dictionary itself.
  if (!target || target == block || !undead_classify(word_at(target), undead_block_size(target))) return true;
  return has_unowned_references(heap, target);
}

// Whether the fields hold what they would. Records of the program may begin like an object, too.
static bool fields_fit(undead_bodies *bodies, uintptr_t block) {
  const undead_layout *layout = undead_body_layout(bodies, word_at(block));
  size_t size = undead_block_size(block);
  for (uint32_t i = 0; layout && i < layout->skip_count && layout->skip[i] + 8 <= size; i++)
    if (!may_be_uncounted(bodies->heap, block, word_at(block + layout->skip[i]))) return false;
  return true;
}

static bool knows_maker_of(const undead_bodies *bodies, uintptr_t block) {
  return undead_knows_maker(bodies->makers, *undead_heap_word(bodies->heap, block) & UNDEAD_WORD_BACKTRACE);
}

// Any program may write the address of a class to the start of its own memory, but not those of contexts and tasks.
static bool is_object(undead_bodies *bodies, uintptr_t block, undead_kind kind) {
  // Blocks of a program that was not recorded were not cleared: one that its owner has not written to the start of begins
  // with what was there before, a dead object, of which nothing is true any more.
  if (undead_given() && undead_is_deiniting(bodies->heap, block)) return false;
  if (kind != UNDEAD_KIND_CLASS) return true;
  if (!has_refcount(bodies->heap, block)) return false;
  if (!knows_maker_of(bodies, block)) return fields_fit(bodies, block);
  if (!undead_is_made_raw(bodies->makers, *undead_heap_word(bodies->heap, block) & UNDEAD_WORD_BACKTRACE)) return true;
  return undead_owns_memory(block) && !undead_block_is_chosen((void *)block);   // an object on guarded pages
}

const undead_layout *undead_block_layout(undead_bodies *bodies, uintptr_t block, size_t size) {
  const undead_layout *layout = size >= ABI_OBJECT_HEADER ? undead_body_layout(bodies, word_at(block)) : NULL;
  if (!layout || !is_object(bodies, block, layout->kind)) return NULL;
  return layout->deciding.count ? undead_layout_in(layout, block, size) : layout;
}

static bool is_unsure_of(const undead_bodies *bodies, uintptr_t block, const undead_layout *layout) {
  return layout->kind == UNDEAD_KIND_CLASS && layout->skip_count && !knows_maker_of(bodies, block);
}

bool undead_is_unsure(undead_bodies *bodies, uintptr_t block, size_t size) {
  const undead_layout *layout = undead_block_layout(bodies, block, size);
  return layout && is_unsure_of(bodies, block, layout);
}

static uint32_t cache_slot(uintptr_t first_word) {
  return (uint32_t)(undead_spread(first_word >> 3) >> 54) & (UNDEAD_LAYOUT_CACHE - 1);
}

bool undead_is_held(const undead_bodies *bodies, uintptr_t block) {
  if (!bodies->held || bodies->held_count > UNDEAD_MOST_HELD) return true;
  return undead_place_of_word(bodies->held, bodies->held_count, block) < bodies->held_count;
}

const undead_layout *undead_body_layout(undead_bodies *bodies, uintptr_t first_word) {
  uint32_t slot = cache_slot(first_word);
  if (bodies->cache[slot].isa != first_word) {
    bodies->cache[slot].layout = first_word & 7 ? NULL : undead_layout_of(first_word);
    bodies->cache[slot].isa = first_word;
  }
  return bodies->cache[slot].layout;
}

bool undead_body_learn(undead_bodies *bodies, uintptr_t first_word) {
  // Lists and trees of C begin with the address of another block; no metadata lies at the start of one.
  if (undead_registry_knows(first_word) || undead_classify(first_word, UINT64_MAX) == UNDEAD_KIND_OTHER) return false;
  undead_layouts_add(&first_word, 1);
  bodies->cache[cache_slot(first_word)].isa = 0;
  return undead_body_layout(bodies, first_word) != NULL;
}

bool undead_is_inside_task(undead_bodies *bodies, uintptr_t block, uintptr_t address) {
  uintptr_t type = word_at(block);
  if (!bodies->stale->slab_isa) return false;
  if (type != bodies->stale->slab_isa) {
    const undead_layout *layout = undead_body_layout(bodies, type);
    if (!layout || layout->kind != UNDEAD_KIND_TASK) return false;
  }
  const undead_layout *begins = address % 8 ? NULL : undead_body_layout(bodies, word_at(address));
  return !begins || begins->kind != UNDEAD_KIND_TASK;
}

undead_kind undead_body_kind(undead_bodies *bodies, uintptr_t block, size_t size) {
  if (size < ABI_OBJECT_HEADER) return UNDEAD_KIND_OTHER;
  if (undead_side_table_owner(bodies->heap, block, size)) return UNDEAD_KIND_SIDE_TABLE;
  uintptr_t isa = word_at(block);
  uint32_t slot = (uint32_t)(undead_spread(isa + size) >> 56) & (UNDEAD_KIND_CACHE - 1);
  if (bodies->kinds[slot].isa != isa || bodies->kinds[slot].size != size) {
    bodies->kinds[slot].kind = undead_classify(isa, size);
    bodies->kinds[slot].isa = isa;
    bodies->kinds[slot].size = size;
  }
  undead_kind kind = bodies->kinds[slot].kind;
  return kind && has_refcount(bodies->heap, block) && is_object(bodies, block, kind) ? kind : UNDEAD_KIND_OTHER;
}

// Of a slab of task memory only the allocated part: the rest holds what ended calls left. `used` grows before memory is
// handed out, and shrinks when it was given back (StackAllocator.h).
static uintptr_t slab_end(uintptr_t slab, uintptr_t end) {
  uintptr_t used = slab + ABI_SLAB_HEADER + u32_at(slab + ABI_SLAB_USED);
  return u32_at(slab + ABI_SLAB_USED) <= u32_at(slab + ABI_SLAB_CAPACITY) && used < end ? (used + 7) & ~(uintptr_t)7 : end;
}

static void trim_task(const undead_bodies *bodies, uintptr_t block, undead_body *body) {
  if (body->high - block < ABI_TASK_FIRST_SLAB + 8) return;
  uintptr_t slab = word_at(block + ABI_TASK_FIRST_SLAB);
  if (slab <= block || slab % 8 || slab + ABI_SLAB_HEADER > body->high) return;
  if (word_at(slab) != bodies->stale->slab_isa) return;
  body->high = slab_end(slab, body->high);
  if (!undead_is_held(bodies, block) && slab < body->high) body->frames = slab;
}

static bool is_handler(const undead_bodies *bodies, uintptr_t block) {
  return undead_address_set_has(&bodies->handlers, block);
}

// Where a block in the sense of C ends, 0 if it is none: Block_copy() took as much as its descriptor says. Behind that malloc may
// have rounded up, and left words of who had the memory before.
static uintptr_t end_of_closure_of_c(const undead_bodies *bodies, uintptr_t block, size_t size) {
  const undead_c_block *header = (const undead_c_block *)block;
  if (!bodies->closure_of_c || size < ABI_BLOCK_HEADER || word_at(block) != bodies->closure_of_c) return 0;
  const undead_c_block_descriptor *descriptor = header->descriptor;
  if (!undead_is_readable((uintptr_t)descriptor, sizeof *descriptor)) return 0;
  bool fits = descriptor->size >= ABI_BLOCK_HEADER && descriptor->size <= size;
  return fits ? block + ((descriptor->size + 7) & ~(uintptr_t)7) : 0;
}

static void body_of_memory(const undead_bodies *bodies, uintptr_t block, size_t size, undead_body *body) {
  uintptr_t isa = bodies->stale->slab_isa, end = end_of_closure_of_c(bodies, block, size);
  if (undead_side_table_owner(bodies->heap, block, size)) {
    body->side_table = true;
    body->high = body->low;
  } else if (isa && size >= ABI_SLAB_HEADER && word_at(block) == isa) {
    body->high = slab_end(block, body->high);
    if (!undead_is_held(bodies, block) && body->low + ABI_SLAB_HEADER < body->high) body->frames = body->low + ABI_SLAB_HEADER;
  } else if (end) {
    body->high = end < body->high ? end : body->high;
  } else if (bodies->stale->cached_count && undead_stale_is_cached(bodies->stale, block)) {
    // The newest one leads to all the others, and to nothing else.
    body->low = block + ABI_CONTINUATION_NEXT;
    body->high = body->low + sizeof(uintptr_t);
  } else if (undead_stale_looks_like_continuation(block, size)
             && (is_handler(bodies, block) || undead_stale_is_continuation(bodies->stale, bodies->heap, block))) {
    undead_continuation_words words = undead_stale_continuation_words(block);
    body->high = words.end;
    // Queues of many link them, and a look at the counts for each would cost more than it finds.
    if (!bodies->exact) return;
    body->frames = words.data;
    body->loose_low = words.link;
    body->loose_high = words.function;
  }
}

// Text is no reference: the only word of a string's storage that may be one is that of its breadcrumbs. Where that is was
// decided when the storage was made.
static void trim_string(uintptr_t block, undead_body *body) {
  if (body->high - block < ABI_STRING_CODE_UNITS) return;
  uint64_t capacity = word_at(block + ABI_STRING_CAPACITY);
  uintptr_t place = block + ABI_STRING_CODE_UNITS + (capacity & ABI_STRING_CAPACITY_MASK);
  if (!(capacity & ABI_STRING_HAS_BREADCRUMBS)) body->high = body->low;
  else if (place % 8 == 0 && place >= body->low && place + 8 <= body->high) {
    body->low = place;
    body->high = place + 8;
  }
}

// Adds the words of existentials' buffers that their values leave unused: they hold what was on the stack when the
// existential was made. The type stands behind the value: a thread between the two is running, and has the object's
// address (scan/bodies/held.h).
static void skip_unused(undead_bodies *bodies, uintptr_t block, undead_body *body) {
  const undead_layout *layout = body->layout;
  uint32_t count = 0, weak = 0;
  if (layout->skip_count > UNDEAD_MOST_SKIPS / 2) return;
  for (uint32_t i = 0; i < layout->buffer_count && count < UNDEAD_MOST_SKIPS / 2 - 3; i++) {
    uintptr_t buffer = block + layout->buffers[i];
    if (buffer + ABI_EXISTENTIAL_TYPE + 8 > body->high) break;
    while (weak < layout->skip_count && layout->skip[weak] < layout->buffers[i])
      bodies->skips[count++] = layout->skip[weak++];
    size_t used = undead_buffer_use_of(word_at(buffer + ABI_EXISTENTIAL_TYPE)).bytes;
    for (size_t offset = (used + 7) & ~7ul; offset < ABI_EXISTENTIAL_BUFFER_BYTES; offset += 8)
      bodies->skips[count++] = (uint32_t)(layout->buffers[i] + offset);
  }
  while (weak < layout->skip_count) bodies->skips[count++] = layout->skip[weak++];
  assert(count <= UNDEAD_MOST_SKIPS);
  body->skip = bodies->skips;
  body->skip_count = count;
}

// A thread that only waits in such a frame may have left behind the count what it stored there long ago.
static void body_of_changing(undead_body *body, const undead_layout *layout, size_t size) {
  body->changing = true;
  undead_elements_of_changing(&body->elements, layout, body->block, size);
  if (body->elements.range_count) return;
  uintptr_t loose = (undead_elements_loose_from(layout, body->block, size) + 7) & ~(uintptr_t)7;
  if (loose < body->high) body->frames = loose;
}

void undead_body_settle(undead_body *body, size_t size) {
  if (!body->changing || (body->layout->storage != UNDEAD_STORAGE_ARRAY && body->layout->storage != UNDEAD_STORAGE_RING)) return;
  undead_elements_of(&body->elements, body->layout, body->block, size);
  body->frames = body->high;
}

void undead_body_of(undead_bodies *bodies, uintptr_t block, size_t size, undead_body *body) {
  *body = (undead_body){.block = block, .low = block, .high = block + (size & ~(size_t)7)};
  const undead_layout *layout = undead_block_layout(bodies, block, size);
  if (!layout || layout->kind == UNDEAD_KIND_OTHER) {
    body_of_memory(bodies, block, size, body);
    if (!body->frames) body->frames = body->high;
    return;
  }
  body->layout = layout;
  body->isa = layout->isa;
  body->low = block + ABI_OBJECT_HEADER;
  body->skip = layout->skip;
  body->skip_count = layout->skip_count;
  if (is_unsure_of(bodies, block, layout)) {
    bodies->met_unsure = true;
    body->unsure = bodies->doubts_unsure && !undead_address_set_has(&bodies->sure, block);
  }
  bool held = (layout->storage || layout->buffer_count) && !bodies->exact && undead_is_held(bodies, block);
  if (layout->buffer_count && !held) skip_unused(bodies, block, body);
  if (layout->storage && held) body_of_changing(body, layout, size);
  else if (layout->storage) undead_elements_of(&body->elements, layout, block, size);
  if (layout->category == UNDEAD_CATEGORY_STRING_STORAGE) trim_string(block, body);
  if (layout->kind == UNDEAD_KIND_TASK && bodies->stale->slab_isa) trim_task(bodies, block, body);
  if (!body->frames) body->frames = body->high;
}

typedef struct {
  const undead_guard *guards;   // of the words of an object, or of an element
  uint32_t count;
  uintptr_t base;               // where it begins
} guarded_words;

// COUNTED if all guards of one choice agree.
static undead_evidence evidence_of_guarded(guarded_words of, uint32_t offset, undead_evidence otherwise) {
  uint32_t low = 0, high = of.count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (of.guards[middle].word < offset) low = middle + 1;
    else high = middle;
  }
  if (low == of.count || of.guards[low].word != offset) return UNDEAD_EVIDENCE_RAW;
  while (low < of.count && of.guards[low].word == offset) {
    uint32_t choice = of.guards[low].choice;
    bool agree = true;
    for (; low < of.count && of.guards[low].word == offset && of.guards[low].choice == choice; low++) {
      const undead_guard *guard = &of.guards[low];
      uint64_t value = word_at(of.base + guard->guard) & guard->mask;
      agree &= (value >= guard->first && value <= guard->last) == guard->within;
    }
    if (agree) return UNDEAD_EVIDENCE_COUNTED;
  }
  return otherwise;
}

// How the buffer is used to which the word `index` of `words`, at `at`, belongs; its bytes from the buffer on are `before`.
static undead_buffer_use use_of_buffer(const uint8_t *words, size_t index, uintptr_t at, size_t *before) {
  size_t first = index;
  // Behind each buffer is its type, which is no buffer.
  while (first > 0 && words[first - 1] == UNDEAD_EVIDENCE_BUFFER) first--;
  *before = (index - first) * 8;
  return undead_buffer_use_of(word_at(at - *before + ABI_EXISTENTIAL_TYPE));
}

static bool is_number_in(undead_buffer_use use, size_t before) { return use.numbers >> before / 8 & 1; }

undead_evidence undead_evidence_of_buffer(const uint8_t *words, size_t index, uintptr_t at) {
  size_t before;
  undead_buffer_use use = use_of_buffer(words, index, at, &before);
  if (before >= use.bytes) return UNDEAD_EVIDENCE_NONE;
  return is_number_in(use, before) ? UNDEAD_EVIDENCE_NUMBER : UNDEAD_EVIDENCE_BUFFER;
}

static undead_evidence evidence_in_buffer(const uint8_t *words, size_t index, uintptr_t at) {
  size_t before;
  undead_buffer_use use = use_of_buffer(words, index, at, &before);
  if (before >= use.bytes || is_number_in(use, before)) return UNDEAD_EVIDENCE_NUMBER;
  return use.counted >> before / 8 & 1 ? UNDEAD_EVIDENCE_COUNTED : UNDEAD_EVIDENCE_RAW;
}

undead_evidence undead_body_evidence(const undead_body *body, uintptr_t at) {
  const undead_layout *layout = body->layout;
  if (!layout || at % 8) return UNDEAD_EVIDENCE_RAW;
  size_t index = (at - body->block) / 8;
  guarded_words guarded = {layout->guards, layout->guard_count, body->block};
  const uint8_t *words = layout->words;
  if (index >= layout->word_count) {
    uint32_t which = 0;
    words = undead_elements_words(&body->elements, at, &index, &which);
    guarded = (guarded_words){layout->element_guards[which], layout->element_guard_count[which], at - index * 8};
  }
  if (!words) return UNDEAD_EVIDENCE_RAW;
  switch (words[index]) {
  case UNDEAD_EVIDENCE_TEXT: return word_at(at) >> 63 ? UNDEAD_EVIDENCE_NUMBER : UNDEAD_EVIDENCE_COUNTED;
  case UNDEAD_EVIDENCE_GUARDED: return evidence_of_guarded(guarded, (uint32_t)index * 8, UNDEAD_EVIDENCE_NUMBER);
  // Of payloads that differ from case to case: looked at as memory without a type, and counted in some cases.
  case UNDEAD_EVIDENCE_RAW:
    return guarded.count ? evidence_of_guarded(guarded, (uint32_t)index * 8, UNDEAD_EVIDENCE_RAW) : UNDEAD_EVIDENCE_RAW;
  case UNDEAD_EVIDENCE_BUFFER: return evidence_in_buffer(words, index, at);
  default: return words[index];
  }
}
