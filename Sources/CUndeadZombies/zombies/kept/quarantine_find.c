// Who asks for dead objects: a zombie was used.
#include "platform/memory/memory.h"
#include "runtime/abi.h"
#include "zombies/kept/ring.h"
#include "zombies/kept/scribble.h"

typedef struct {
  uintptr_t object;                  // 0: any
  const undead_zombie_class *class;  // NULL: any
  bool is_gone;
} wanted;

static bool is_wanted_dead(const undead_dead *dead, const wanted *wanted) {
  return (!wanted->object || dead->object == wanted->object) && (!wanted->class || dead->class == wanted->class) &&
         !(dead->flags & UNDEAD_DEAD_IS_GONE) == !wanted->is_gone;
}

// The last one below `number`. All that follow are called with the ring's lock.
static bool search(uint64_t number, const wanted *wanted, undead_dead *dead) {
  uint64_t first = undead_ring_first_remembered();
  while (number > first) {
    uint64_t run = (number - 1) & ~(uint64_t)(UNDEAD_RUN - 1), end = run + undead_ring_filled(run);
    for (uint64_t at = end; at-- > run;) {
      if (!is_wanted_dead(undead_entry(at), wanted)) continue;
      *dead = *undead_entry(at);
      return true;
    }
    number = run;
  }
  return false;
}

static bool find_numbered(uint64_t word, undead_dead *dead) {
  const uint64_t mask = (1u << UNDEAD_SCRIBBLE_NUMBER_BITS) - 1, first = undead_ring_first_remembered();
  uint64_t low = word >> (UNDEAD_SCRIBBLE_WORD_BITS + UNDEAD_SCRIBBLE_MARGIN_BITS) & mask;
  uint64_t number = first + ((low - first) & mask);
  if (number >= undead_ring.next || number % UNDEAD_RUN >= undead_ring_filled(number)) return false;
  *dead = *undead_entry(number);
  return !(dead->flags & UNDEAD_DEAD_IS_GONE);
}

bool undead_quarantine_find_gone(uintptr_t object, undead_dead *dead) {
  if (!object || !undead_lock_take_in_hook(&undead_ring_lock)) return false;
  bool found = search(undead_ring.oldest, &(wanted){.object = object, .is_gone = true}, dead);
  undead_lock_release_in_hook(&undead_ring_lock);
  return found;
}

bool undead_quarantine_find_newest(const undead_zombie_class *class, undead_dead *dead) {
  if (!undead_lock_take_in_hook(&undead_ring_lock)) return false;
  bool found = search(undead_ring.next, &(wanted){.class = class}, dead);
  undead_lock_release_in_hook(&undead_ring_lock);
  return found;
}

// A dead object's own words tell its number, unless somebody has written to them: then all entries are looked through.
bool undead_quarantine_find(uintptr_t object, undead_dead *dead) {
  if (!undead_lock_take_in_hook(&undead_ring_lock)) return false;
  uintptr_t body = object + ABI_OBJECT_HEADER;
  uint64_t word = (object & 7) == 0 && undead_page_is_readable(body) ? *(const uint64_t *)body : 0;
  bool found = undead_is_scribble(word) && find_numbered(word, dead) && dead->object == object;
  found = found || search(undead_ring.next, &(wanted){.object = object}, dead);
  undead_lock_release_in_hook(&undead_ring_lock);
  return found;
}

bool undead_quarantine_find_scribble(uint64_t word, undead_dead *dead, uint32_t *offset) {
  if (!undead_is_scribble(word) || !undead_lock_take_in_hook(&undead_ring_lock)) return false;
  *offset = (uint32_t)(word >> UNDEAD_SCRIBBLE_MARGIN_BITS & ((1u << UNDEAD_SCRIBBLE_WORD_BITS) - 1)) * 8;
  bool found = find_numbered(word, dead) && dead->flags & UNDEAD_DEAD_IS_SCRIBBLED &&
               *offset >= ABI_OBJECT_HEADER && *offset < dead->size;
  undead_lock_release_in_hook(&undead_ring_lock);
  return found;
}
