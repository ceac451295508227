// Objects whose first word does not say all: the captures of a generic closure depend on the type arguments at the head of its
// context, the value in the box of an error on the type in front of it. Layouts of such objects have these words in their key.
//
//   context: isa, counts, type arguments ..., captures ...        error: isa, counts, type, witness table, value
//
// The words are read while the program runs. One that is not certainly a type, because its object was just being made, gives no
// layout: the one of the first word holds then, which says less. Who calls: scan/blocks/isas.c lists the words, layouts.c the layouts.
#include "platform/memory/spread.h"
#include "runtime/abi.h"
#include "runtime/captures/captures.h"
#include "runtime/layout.h"

undead_deciding_words undead_deciding_words_of(uintptr_t isa, undead_kind kind) {
  undead_deciding_words none = {0};
  if (kind == UNDEAD_KIND_ERROR) return (undead_deciding_words){ABI_ERROR_TYPE, 1};
  undead_capture_list captures;
  if (kind != UNDEAD_KIND_CONTEXT || !undead_capture_list_of(isa, &captures)) return none;
  if (captures.bindings > UNDEAD_MOST_DECIDING) return none;
  return (undead_deciding_words){captures.first, captures.bindings};
}

uintptr_t undead_variant_key(uintptr_t isa, const uintptr_t *words, uint32_t count) {
  uint64_t key = isa;
  for (uint32_t i = 0; i < count; i++) key = undead_spread(key ^ words[i] ^ key >> 29);
  return key | 1;   // no isa
}
