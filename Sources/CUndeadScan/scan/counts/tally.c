#include "scan/counts/tally.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/bodies/references.h"
#include "platform/system/text.h"
#include <string.h>

static bool is_listed(const undead_tally *tally, uint32_t word) { return word & tally->bit && !(word & tally->without); }

static bool count_in_tally(void *context, uintptr_t block, uint32_t *word) {
  (void)block;
  undead_tally *tally = context;
  if (*word & tally->except) *word &= ~tally->bit;
  tally->capacity += is_listed(tally, *word);
  return true;
}

static bool tally_block(void *context, uintptr_t block, uint32_t *word) {
  undead_tally *tally = context;
  if (is_listed(tally, *word)) tally->blocks[tally->count++].block = block;
  return true;
}

static bool list(undead_tally *tally) {
  undead_heap_each(tally->heap, count_in_tally, tally);
  tally->blocks = undead_map((tally->capacity + 1ull) * sizeof *tally->blocks);
  if (!tally->blocks) return false;
  if (tally->capacity) undead_heap_each(tally->heap, tally_block, tally);
  return undead_address_index_open(&tally->index, tally->blocks, sizeof *tally->blocks, tally->count);
}

bool undead_tally_open(undead_tally *tally, undead_bodies *bodies, uint32_t bit, uint32_t except) {
  *tally = (undead_tally){.heap = bodies->heap, .bodies = bodies, .bit = bit, .except = except};
  return list(tally);
}

bool undead_tally_list(undead_tally *tally, undead_bodies *bodies, uint32_t bit, uint32_t without) {
  *tally = (undead_tally){.heap = bodies->heap, .bodies = bodies, .bit = bit, .without = without};
  return list(tally);
}

void undead_tally_close(undead_tally *tally) {
  if (tally->blocks) {
    undead_address_index_close(&tally->index);
    undead_unmap(tally->blocks, (tally->capacity + 1ull) * sizeof *tally->blocks);
  }
  *tally = (undead_tally){0};
}

undead_tallied *undead_tally_find(const undead_tally *tally, uintptr_t block) {
  if (!(*undead_heap_word(tally->heap, block) & tally->bit)) return NULL;
  uint32_t index = undead_address_index_of(&tally->index, block);
  return index == UINT32_MAX ? NULL : &tally->blocks[index];
}

bool undead_is_closure_of_c(const undead_bodies *bodies, uintptr_t block) {
  uintptr_t type = bodies->closure_of_c;
  return type && word_at(block) == type && undead_block_size(block) >= ABI_BLOCK_HEADER;
}

uint32_t undead_count_of_closure(uintptr_t block) {
  return (*(const uint32_t *)(block + ABI_BLOCK_FLAGS) & ABI_BLOCK_COUNT_MASK) / 2;
}

bool undead_is_owning_word(const undead_bodies *bodies, const undead_body *body, uintptr_t at, undead_kind kind) {
  // The context of the Swift closure that it calls.
  if (!body->layout) return at == body->block + ABI_BLOCK_HEADER + 8 && undead_is_closure_of_c(bodies, body->block);
  // The closure that it runs: FutureAsyncContextPrefix, in the task's own block.
  if (body->layout->kind == UNDEAD_KIND_TASK && kind == UNDEAD_KIND_CONTEXT) return at < body->frames;
  return undead_body_evidence(body, at) == UNDEAD_EVIDENCE_COUNTED;
}

// The compiler gives blocks that it makes of Swift closures a helper of this name, which retains the word behind the code (IRGen, GenFunc.cpp).
static bool is_block_of_swift(uintptr_t block) {
  const undead_c_block *header = (const undead_c_block *)block;
  const undead_c_block_descriptor *descriptor = header->descriptor;
  if (!undead_is_readable((uintptr_t)descriptor, sizeof *descriptor)) return false;
  if (descriptor->size != ABI_BLOCK_HEADER + 16 || !undead_is_executable((uintptr_t)descriptor->copy)) return false;
  return undead_starts_with(undead_symbol_name((uintptr_t)descriptor->copy, NULL), "block_copy_helper");
}

// A block in the sense of C that was made of a Swift closure: its code for that, then the closure's context, which its helper
// counts. C code never has a context by itself. A closure that captures one object has that for its context.
static bool is_context_in_block(const undead_tally *tally, const undead_reference *reference) {
  const undead_body *body = tally->body;
  if (body->layout || reference->at != body->block + ABI_BLOCK_HEADER + 8 || reference->value != reference->address) return false;
  if (!undead_is_closure_of_c(tally->bodies, body->block) || !undead_heap_starts(tally->heap, reference->address)) return false;
  if (!undead_is_executable(word_at(reference->at - 8))) return false;
  undead_kind kind = undead_body_kind(tally->bodies, reference->address, undead_block_size(reference->address));
  return kind == UNDEAD_KIND_CONTEXT || (kind && is_block_of_swift(body->block));
}

// The block that one of dispatch_block_create's runs.
static bool is_block_in_work_item(const undead_tally *tally, const undead_reference *reference) {
  const undead_body *body = tally->body;
  const undead_dispatch_block_data *data = (const undead_dispatch_block_data *)(body->block + ABI_BLOCK_HEADER);
  if (body->layout || reference->at != (uintptr_t)&data->block || reference->value != reference->address) return false;
  if (!undead_is_closure_of_c(tally->bodies, body->block) || undead_block_size(body->block) < ABI_BLOCK_HEADER + sizeof *data) return false;
  return data->magic == ABI_DISPATCH_BLOCK_MAGIC && undead_is_closure_of_c(tally->bodies, reference->address);
}

static void add_reference(void *context, const undead_reference *reference) {
  undead_tally *tally = context;
  if (is_context_in_block(tally, reference) || is_block_in_work_item(tally, reference)) {
    undead_tallied *closure = undead_tally_find(tally, reference->address);
    if (closure) closure->counted++;
    return;
  }
  if (reference->evidence == UNDEAD_EVIDENCE_NUMBER) return;
  // Of a word that one case of an enum counts, only the address itself.
  bool disguised = (reference->value & UNDEAD_POINTER_MASK) != reference->address;
  if (reference->evidence == UNDEAD_EVIDENCE_RAW && (!tally->body->layout || disguised)) return;
  uintptr_t block = undead_heap_block(tally->heap, reference->address);
  if (!block || block != reference->address || !(*undead_heap_word(tally->heap, block) & tally->bit)) return;
  if (undead_body_evidence(tally->body, reference->at) != UNDEAD_EVIDENCE_COUNTED) return;
  undead_tallied *tallied = undead_tally_find(tally, block);
  if (tallied) tallied->counted++;
}

// What died owns nothing, though its fields still name what they held: unowned references keep its memory.
static bool is_dead(const undead_tally *tally, uintptr_t block) {
  return undead_block_layout(tally->bodies, block, undead_block_size(block)) && undead_is_deiniting(tally->heap, block);
}

void undead_tally_add(undead_tally *tally, uintptr_t block) {
  if (is_dead(tally, block)) return;
  undead_body body;
  size_t size = undead_block_size(block);
  undead_body_of(tally->bodies, block, size, &body);
  undead_body_settle(&body, size);
  tally->body = &body;
  undead_visit_body(tally->heap, block, &body, false, add_reference, tally);
}

#define UNCERTAIN UINT64_MAX

// The strong references that a count stands for; UNCERTAIN if it does not say that for good: immortal objects, deinits under way.
// Weak and unowned references change nothing, even if a living object has them: what is loaded from one is counted before it is used.
static uint64_t strong_count(uint64_t refcount) {
  if (refcount >> 63 || (uint32_t)refcount == UINT32_MAX || refcount & ABI_REFCOUNT_DEINITING) return UNCERTAIN;
  uint64_t held = refcount >> ABI_REFCOUNT_UNOWNED_SHIFT & ABI_REFCOUNT_UNOWNED_MASK;   // one of them is the object's own
  if (held == 0 || !(refcount & 1)) return UNCERTAIN;
  return (refcount >> ABI_REFCOUNT_EXTRA_SHIFT & ABI_REFCOUNT_EXTRA_MASK) + 1;
}

static uint64_t strong_count_of(const undead_tally *tally, uintptr_t block) {
  uint64_t refcount = word_at(block + ABI_OBJECT_REFCOUNT);
  if (refcount >> ABI_REFCOUNT_SIDE_TABLE_SHIFT != ABI_REFCOUNT_SIDE_TABLE_TOP) return strong_count(refcount);
  uintptr_t table = refcount << ABI_REFCOUNT_SIDE_TABLE_SCALE;
  if (refcount == UINT64_MAX || !undead_heap_starts(tally->heap, table) || word_at(table) != block) return UNCERTAIN;
  if (undead_block_size(table) < ABI_SIDE_TABLE_COUNTS + 8) return UNCERTAIN;
  return strong_count(word_at(table + ABI_SIDE_TABLE_COUNTS));
}

static bool is_counted_kind(undead_kind kind) {
  return kind == UNDEAD_KIND_CLASS || kind == UNDEAD_KIND_CONTEXT || kind == UNDEAD_KIND_GENERIC_BOX
    || kind == UNDEAD_KIND_ERROR;
}

bool undead_tally_is_counted(const undead_tally *tally, const undead_tallied *tallied) {
  return is_counted_kind(undead_body_kind(tally->bodies, tallied->block, undead_block_size(tallied->block)));
}

bool undead_tally_explains(const undead_tally *tally, const undead_tallied *tallied) {
  size_t size = undead_block_size(tallied->block);
  undead_kind kind = undead_body_kind(tally->bodies, tallied->block, size);
  // Memory without a count is explained by whatever refers to it, but not by weak evidence.
  if (kind == UNDEAD_KIND_OTHER && tallied->named && undead_is_closure_of_c(tally->bodies, tallied->block))
    return undead_count_of_closure(tallied->block) == tallied->counted;
  if (!is_counted_kind(kind)) return kind == UNDEAD_KIND_OTHER && !tallied->named;
  return strong_count_of(tally, tallied->block) == tallied->counted;
}
