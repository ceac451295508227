// Every word that may name a live block, by the rules of one table: the only walk over the memory of blocks and roots.
//
// | memory                                   | words                    | tags taken off      | evidence            |
// |------------------------------------------|--------------------------|---------------------|---------------------|
// | field that is a counted reference        | aligned                  | top byte, low three | COUNTED, or a grade |
// |                                          |                          |                     | that is for tables  |
// | element of a ManagedBuffer's tail, or of  | at every byte            | above bit 46, low 3 | PERHAPS             |
// | an array behind its count, if a thread    |                          |                     |                     |
// | may be changing it; frame of a suspended  |                          |                     |                     |
// | task, link and data of a continuation of  |                          |                     |                     |
// | libdispatch                              |                          |                     |                     |
// | field, element of a number type          | at every byte            | above bit 46, low 3 | NUMBER              |
// | field, element, payload of another type  | at every byte            | above bit 46, low 3 | RAW                 |
// | buffer of an existential                 | at every byte            | above bit 46, low 3 | by the value's type |
// | weak, unowned, unused (undead_body)      | none                     |                     | NONE                |
// | the same, if memory of the program may   | at every byte            | above bit 46, low 3 | NUMBER              |
// | look like the object                     |                          |                     |                     |
// | block of no Swift type, root             | at every byte            | above bit 46, low 3 | RAW                 |
// | aligned words without a type, moreover   | shifted by 16, and hidden by setjmp           | as the word         |
//
// The compiler keeps tags of enums and existentials in the bits that are free in every reference: the top byte and the
// low three. Programs pack what they like above bit 46 (counters, NaN boxing), and lay out records without padding
// (`struct epoll_event`, queues of bytes, code). A word that does not lie at a multiple of eight counts without any tag.
//
// In blocks of no Swift type a word may also be the complement of the address of one of libdispatch's (undead_body).
#pragma once
#include "platform/processor/processor.h"
#include "scan/bodies/body.h"
#include "scan/blocks/heap.h"
#include "scan/roots/roots.h"
#include <emmintrin.h>

#define UNDEAD_ANY_TAG_MASK ((1ull << UNDEAD_ADDRESS_BITS) - 8)

typedef struct undead_reference {
  uintptr_t address;   // of the byte that is named, without tags; undead_heap_may_hold it
  uintptr_t at;        // where the word lies
  uintptr_t value;     // the word
  undead_evidence evidence;
} undead_reference;

typedef void (*undead_reference_visitor)(void *context, const undead_reference *reference);

// Whether the program may have put tags of its own into a word, or not aligned it. The buffer of an existential may hold
// any value.
static inline bool undead_is_untyped(undead_evidence evidence) {
  return evidence == UNDEAD_EVIDENCE_RAW || evidence == UNDEAD_EVIDENCE_NUMBER || evidence == UNDEAD_EVIDENCE_PERHAPS
    || evidence == UNDEAD_EVIDENCE_BUFFER;
}

// Whether a word keeps alive what it names only if the counts say so.
static inline bool undead_is_weak_evidence(undead_evidence evidence) {
  return evidence == UNDEAD_EVIDENCE_NUMBER || evidence == UNDEAD_EVIDENCE_PERHAPS;
}

#define UNDEAD_WALK static inline __attribute__((always_inline)) void

// Of a word that no type describes: an address in its upper 48 bits, above a counter; one that setjmp() hid (PTR_MANGLE in
// sysdeps/unix/sysv/linux/x86_64/pointer_guard.h), which may be the only copy of a register of a fiber.
UNDEAD_WALK undead_walk_disguised(const undead_heap *heap, uintptr_t at, uintptr_t value, undead_evidence evidence,
                                  undead_reference_visitor visit, void *context) {
  enum { SHIFT = 16, ROTATION = UNDEAD_POINTER_ROTATION };
  uintptr_t shifted = value >> SHIFT, hidden = (value >> ROTATION | value << (64 - ROTATION) % 64) ^ heap->pointer_guard;
  if (__builtin_expect(undead_heap_might_hold(heap, shifted), 0)) {
    undead_reference reference = {shifted, at, value, evidence};
    visit(context, &reference);
  }
  if (__builtin_expect(undead_heap_might_hold(heap, hidden), 0)) {
    undead_reference reference = {hidden, at, value, evidence};
    visit(context, &reference);
  }
}

UNDEAD_WALK undead_walk_word(const undead_heap *heap, uintptr_t at, undead_evidence evidence,
                             undead_reference_visitor visit, void *context) {
  uintptr_t value = *(const uintptr_t *)at;
  if (undead_is_untyped(evidence)) undead_walk_disguised(heap, at, value, evidence, visit, context);
  uintptr_t address = value & (undead_is_untyped(evidence) ? UNDEAD_ANY_TAG_MASK : UNDEAD_POINTER_MASK);
  if (!(undead_is_untyped(evidence) ? undead_heap_might_hold(heap, address) : undead_heap_may_hold(heap, address))) return;
  undead_reference reference = {address, at, value, evidence};
  visit(context, &reference);
}

// Bit k: the eight bytes from `bytes` + k on may be an address, k from 1 to 7. Its sixth byte is not zero, the two above are.
static inline __attribute__((always_inline)) unsigned undead_straddling_places(const undead_heap *heap, const void *bytes) {
  if (__builtin_expect(heap->low >> 40 == 0, 0)) return 0xFE;
  __m128i loaded = _mm_loadu_si128(bytes);
  unsigned zero = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(loaded, _mm_setzero_si128()));
  return (~zero & zero >> 1 & zero >> 2) >> 5 & 0xFE;
}

// Pointers that begin in the word at `at` but not with it; `bytes` are the sixteen from there on.
UNDEAD_WALK undead_walk_places(const undead_heap *heap, uintptr_t at, const char *bytes, unsigned places,
                               undead_evidence evidence, undead_reference_visitor visit, void *context) {
  for (; __builtin_expect(places != 0, 0); places &= places - 1) {
    unsigned place = (unsigned)__builtin_ctz(places);
    uintptr_t value;
    __builtin_memcpy(&value, bytes + place, sizeof value);
    if (!undead_heap_might_hold(heap, value)) continue;
    undead_reference reference = {value, at + place, value, evidence};
    visit(context, &reference);
  }
}

UNDEAD_WALK undead_walk_straddling(const undead_heap *heap, uintptr_t at, undead_evidence evidence,
                                   undead_reference_visitor visit, void *context) {
  const char *bytes = (const char *)at;
  undead_walk_places(heap, at, bytes, undead_straddling_places(heap, bytes), evidence, visit, context);
}

// The same for the last word of memory that ends at `end`, less than sixteen bytes further.
UNDEAD_WALK undead_walk_last(const undead_heap *heap, uintptr_t at, uintptr_t end, undead_evidence evidence,
                             undead_reference_visitor visit, void *context) {
  char bytes[16] = {0};
  if (end < at + 9) return;
  __builtin_memcpy(bytes, (const void *)at, end - at);
  unsigned places = undead_straddling_places(heap, bytes) & ((1u << (end - at - 7)) - 1);
  undead_walk_places(heap, at, bytes, places, evidence, visit, context);
}

// The words of memory that no type describes; `low` and `high` are 8-aligned.
UNDEAD_WALK undead_walk_bytes(const undead_heap *heap, uintptr_t low, uintptr_t high, undead_evidence evidence,
                              undead_reference_visitor visit, void *context) {
  for (uintptr_t at = low; at < high; at += 8) {
    undead_walk_word(heap, at, evidence, visit, context);
    if (at + 16 <= high) undead_walk_straddling(heap, at, evidence, visit, context);
  }
}

// The words of blocks of no Swift type.
UNDEAD_WALK undead_walk_memory(const undead_heap *heap, uintptr_t low, uintptr_t high, undead_reference_visitor visit,
                               void *context) {
  for (uintptr_t at = low; at < high; at += 8) {
    uintptr_t value = *(const uintptr_t *)at;
    uintptr_t target = value >> UNDEAD_ADDRESS_BITS == UNDEAD_COMPLEMENT_TOP ? undead_complement_target(heap, value) : 0;
    if (target) {
      undead_reference reference = {target, at, value, UNDEAD_EVIDENCE_RAW};
      visit(context, &reference);
    }
    undead_walk_word(heap, at, UNDEAD_EVIDENCE_RAW, visit, context);
    if (at + 16 <= high) undead_walk_straddling(heap, at, UNDEAD_EVIDENCE_RAW, visit, context);
  }
}

// The same of a large block, without the pages that nobody has written.
UNDEAD_WALK undead_walk_large(const undead_heap *heap, uintptr_t low, uintptr_t high, undead_reference_visitor visit,
                              void *context) {
  uint32_t hole = 0;
  while (hole < heap->hole_count && heap->holes[hole].high <= low) hole++;
  for (; low < high; hole++) {
    bool last = hole == heap->hole_count || heap->holes[hole].low >= high;
    uintptr_t end = last ? high : heap->holes[hole].low;
    if (low < end) undead_walk_memory(heap, low, end, visit, context);
    if (last) return;
    low = heap->holes[hole].high;
  }
}

// The same, of a whole block, without the end that may be out of use.
UNDEAD_WALK undead_walk_untyped(const undead_heap *heap, const undead_body *body, undead_reference_visitor visit,
                                void *context) {
  uintptr_t low = body->low;
  if (__builtin_expect(body->loose_low != 0, 0)) {
    undead_walk_memory(heap, low, body->loose_low, visit, context);
    undead_walk_bytes(heap, body->loose_low, body->loose_high, UNDEAD_EVIDENCE_PERHAPS, visit, context);
    low = body->loose_high;
  }
  if (__builtin_expect(heap->hole_count != 0, 0) && body->frames - low >= UNDEAD_LARGE_BLOCK / 2)
    undead_walk_large(heap, low, body->frames, visit, context);
  else
    undead_walk_memory(heap, low, body->frames, visit, context);
}

// The words from `low` to `high` of an object or value at `base`, of which `words` describes the first `known`. Those that keep
// nothing alive only if `weak`: of fields, `skip` has these.
UNDEAD_WALK undead_walk_described(const undead_heap *heap, uintptr_t base, uintptr_t low, uintptr_t high,
                                  const uint8_t *words, size_t known, bool elements, bool weak,
                                  undead_reference_visitor visit, void *context) {
  undead_evidence evidence, next;
  for (uintptr_t at = low; at < high; at += 8) {
    size_t index = (at - base) / 8;
    evidence = index < known ? (undead_evidence)words[index] : UNDEAD_EVIDENCE_RAW;
    if (evidence == UNDEAD_EVIDENCE_NONE && !weak) continue;
    if (evidence == UNDEAD_EVIDENCE_BUFFER && undead_heap_may_hold(heap, *(const uintptr_t *)at & UNDEAD_POINTER_MASK)) {
      // Of fields `skip` has the unused words, unless a thread may be changing the object.
      undead_evidence found = undead_evidence_of_buffer(words, index, at);
      if (found == UNDEAD_EVIDENCE_NONE && elements) continue;
      if (found == UNDEAD_EVIDENCE_NUMBER) evidence = found;
    }
    undead_walk_word(heap, at, evidence, visit, context);
    if (!undead_is_untyped(evidence) || at + 16 > high) continue;
    next = index + 1 < known ? (undead_evidence)words[index + 1] : UNDEAD_EVIDENCE_RAW;
    if (next == evidence) undead_walk_straddling(heap, at, evidence, visit, context);
  }
}

// The words of the fixed part of an object; `skip` lists those that keep nothing alive, to be visited only if `weak`.
UNDEAD_WALK undead_walk_fields(const undead_heap *heap, uintptr_t block, const undead_body *body, uintptr_t high,
                               bool weak, undead_reference_visitor visit, void *context) {
  const undead_layout *layout = body->layout;
  uintptr_t low = body->low;
  for (uint32_t i = 0; i < body->skip_count && low < high; i++) {
    uintptr_t at = block + body->skip[i];
    if (at < low) continue;
    uintptr_t end = at < high ? at : high;
    undead_walk_described(heap, block, low, end, layout->words, layout->word_count, false, false, visit, context);
    if (at < high && weak) undead_walk_word(heap, at, UNDEAD_EVIDENCE_NONE, visit, context);
    else if (at < high && body->unsure) undead_walk_word(heap, at, UNDEAD_EVIDENCE_NUMBER, visit, context);
    low = at + 8;
  }
  undead_walk_described(heap, block, low, high, layout->words, layout->word_count, false, false, visit, context);
}

UNDEAD_WALK undead_walk_elements(const undead_heap *heap, const undead_body *body, uint32_t which, bool weak,
                                 undead_reference_visitor visit, void *context) {
  const undead_element_range *range = &body->elements.ranges[which];
  const uint8_t *words = body->elements.words[which];
  size_t stride = range->stride, known = words ? stride / 8 : 0;
  uintptr_t high = range->high < body->high ? range->high : body->high;
  if (stride == 8 && words && words[0] == UNDEAD_EVIDENCE_COUNTED && !body->elements.bitmap) {
    for (uintptr_t at = range->low; at + 8 <= high; at += 8)
      undead_walk_word(heap, at, UNDEAD_EVIDENCE_COUNTED, visit, context);
    return;
  }
  if (stride % 8 == 0) {
    const uint64_t *bitmap = body->elements.bitmap;
    size_t bucket = 0;
    for (uintptr_t at = range->low; at + stride <= high; at += stride, bucket++)
      if (!bitmap || bitmap[bucket / 64] >> bucket % 64 & 1)
        undead_walk_described(heap, at, at, at + stride, words, known, true, weak, visit, context);
    return;
  }
  undead_evidence evidence = words ? (undead_evidence)words[0] : UNDEAD_EVIDENCE_RAW;
  for (uintptr_t at = range->low; evidence != UNDEAD_EVIDENCE_NONE && at < high; at += 8) {
    if (undead_elements_skip(&body->elements, at)) continue;
    if (at + 8 <= body->high) undead_walk_word(heap, at, evidence, visit, context);
    if (at + 16 <= high) undead_walk_straddling(heap, at, evidence, visit, context);
    else undead_walk_last(heap, at, high, evidence, visit, context);
  }
}

// All words of a block in ascending order; those that keep nothing alive only if `weak`, with evidence NONE.
UNDEAD_WALK undead_walk_body(const undead_heap *heap, uintptr_t block, const undead_body *body, bool weak,
                             undead_reference_visitor visit, void *context) {
  uint32_t ranges = body->elements.range_count;
  if (!body->layout) undead_walk_untyped(heap, body, visit, context);
  else if (!ranges) undead_walk_fields(heap, block, body, body->frames, weak, visit, context);
  if (!ranges) {
    if (body->frames < body->high)
      undead_walk_bytes(heap, body->frames, body->high, UNDEAD_EVIDENCE_PERHAPS, visit, context);
    return;
  }
  // Among and behind the elements nothing else is in use.
  uintptr_t first = body->elements.tail ? body->elements.tail : body->elements.ranges[0].low;
  undead_walk_fields(heap, block, body, first, weak, visit, context);
  for (uint32_t i = 0; i < ranges; i++) undead_walk_elements(heap, body, i, weak, visit, context);
}

// All words of a root.
UNDEAD_WALK undead_walk_root(const undead_heap *heap, const undead_root *root, undead_reference_visitor visit,
                             void *context) {
  bool frame = root->kind == UNDEAD_ROOT_STACK || root->kind == UNDEAD_ROOT_REGISTER;
  undead_evidence weak = frame ? UNDEAD_EVIDENCE_PERHAPS : UNDEAD_EVIDENCE_NUMBER;
  undead_evidence evidence = root->weak ? weak : UNDEAD_EVIDENCE_RAW;
  undead_walk_bytes(heap, root->low, root->high, evidence, visit, context);
}

// The same for all but the hottest visitors: one copy of each walk, as a copy in each of its twenty callers was a fifth of the time
// of the C compiler.
void undead_visit_body(const undead_heap *heap, uintptr_t block, const undead_body *body, bool weak,
                       undead_reference_visitor visit, void *context);
void undead_visit_root(const undead_heap *heap, const undead_root *root, undead_reference_visitor visit, void *context);
