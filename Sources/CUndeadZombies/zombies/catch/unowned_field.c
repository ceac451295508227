// Which `unowned` field led to a dead object: the runtime is given its address alone. The code before the call has loaded it from
// the field's offset. Whose field it was is certain where the register of that load is one that calls preserve, or was itself loaded
// from the frame of the function, as debug builds do. Of the other loads nothing is known; nor where two fields fit.
#include "zombies/catch/unowned_field.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/processor/words.h"
#include "record/registry.h"
#include "runtime/abi.h"
#include "zombies/classes/metadata.h"
#include "zombies/classes/zombie_class.h"
#include <string.h>

enum { CODE_BYTES = 256, LOAD_BYTES = 16 };

// Whether code ends here: with a return, a trap, or what fills the place up to the next function.
static bool ends_at(uintptr_t end) {
  const uint8_t *before = (const uint8_t *)end;
  if (before[-1] == 0xC3 || before[-1] == 0x90 || before[-1] == 0xCC || (before[-2] == 0x0F && before[-1] == 0x0B)) return true;
  // The long forms of `nop` are 0F 1F and an operand that ends with zeros.
  for (int length = 3; length <= 8; length++)
    if (before[-length] == 0x0F && before[1 - length] == 0x1F && !before[-1]) return true;
  return false;
}

// Where the function begins, as far as its code shows without symbols, which are the scanning thread's.
static uintptr_t start_of_code(uintptr_t pc) {
  uintptr_t low = pc - CODE_BYTES;
  if (!undead_pages_are_readable(low - 8, CODE_BYTES + 8)) return pc;
  for (uintptr_t at = pc & ~(uintptr_t)15; at > low; at -= 16)
    if (ends_at(at)) return at;
  return low;
}

// mov displacement(base), target
typedef struct {
  uint32_t base, target;
  int32_t displacement;
} load;

enum { RBX = 3, RSP = 4, RBP = 5, R12 = 12 };

static bool decode(uintptr_t at, load *found) {
  enum { REX_W = 0x48, REX_R = 4, REX_B = 1, MOV = 0x8B, NO_INDEX = 0x24 };
  const uint8_t *code = (const uint8_t *)at;
  uint8_t rex = code[0], mode = code[2] >> 6, low = code[2] & 7;
  if ((rex & 0xFA) != REX_W || code[1] != MOV || mode == 0 || mode == 3 || (low == RSP && code[3] != NO_INDEX)) return false;
  const uint8_t *displacement = code + 3 + (low == RSP);
  *found = (load){.base = low | (rex & REX_B ? 8 : 0), .target = (code[2] >> 3 & 7) | (rex & REX_R ? 8 : 0)};
  if (mode == 1) found->displacement = (int8_t)displacement[0];
  else memcpy(&found->displacement, displacement, sizeof found->displacement);
  return true;
}

typedef struct {
  uintptr_t dead, sp, bp;
  const undead_kept_registers *kept;
  undead_unowned_field found;
  bool several;
} owner_search;

static void look_at_object(owner_search *search, uintptr_t object, int32_t offset) {
  if (!undead_registry_knows(object) || !undead_pages_are_readable(object, (size_t)offset + 8)) return;
  uintptr_t isa = word_at(object);
  if (word_at(object + (uint32_t)offset) != search->dead || undead_is_zombie_isa(isa) || !undead_metadata_is_class(isa)) return;
  undead_unowned_field *found = &search->found;
  // Structs and `unowned(unsafe)` fields lead to it, too.
  bool unowned = undead_metadata_is_unowned(isa, (uint32_t)offset);
  const char *field = unowned ? undead_metadata_field(isa, (uint32_t)offset) : "";
  search->several |= !field[0] || (found->field && (found->isa != isa || found->field != field));
  *found = (undead_unowned_field){isa, field};
}

// The address in the frame that the register was loaded from last, 0 if there is none.
static uintptr_t slot_of(const owner_search *search, uintptr_t start, uintptr_t at, uint32_t base) {
  load found;
  for (uintptr_t before = at; before-- > start && at - before < LOAD_BYTES;) {
    if (!decode(before, &found) || found.target != base) continue;
    uintptr_t slot = (found.base == RBP ? search->bp : found.base == RSP ? search->sp : 0) + (uintptr_t)(intptr_t)found.displacement;
    bool inside = (found.base == RBP || found.base == RSP) && slot % 8 == 0 && undead_pages_are_readable(slot, 8);
    return inside ? slot : 0;
  }
  return 0;
}

static void look_at_load(owner_search *search, uintptr_t start, uintptr_t at) {
  load found;
  if (!decode(at, &found) || found.displacement < ABI_OBJECT_HEADER || found.displacement % 8) return;
  if (found.base == RSP || found.base == RBP) return;
  uintptr_t slot = slot_of(search, start, at, found.base);
  const undead_kept_registers *kept = search->kept;
  const uintptr_t values[] = {kept->r12, kept->r13, kept->r14, kept->r15};
  bool is_kept = (found.base == RBX || found.base >= R12) && found.base != found.target;
  if (is_kept) {
    look_at_object(search, found.base == RBX ? kept->rbx : values[found.base - R12], found.displacement);
  } else if (slot) {
    look_at_object(search, word_at(slot), found.displacement);
  } else {
    search->found = (undead_unowned_field){0};   // it may be this one that counts
  }
}

undead_unowned_field undead_find_unowned_field(uintptr_t dead, uintptr_t pc, uintptr_t sp, uintptr_t bp,
                                               const undead_kept_registers *kept) {
  owner_search search = {.dead = dead, .sp = sp, .bp = bp, .kept = kept};
  uintptr_t start = start_of_code(pc);
  for (uintptr_t at = start; at + 8 <= pc; at++) look_at_load(&search, start, at);
  return search.several || !search.found.field ? (undead_unowned_field){0} : search.found;
}
