#include "world/given.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/processor/words.h"
#include "world/threads/note.h"
#include <string.h>

_Static_assert(sizeof(undead_user_registers) == UNDEAD_USER_WORDS * sizeof(uint64_t), "the layout is a contract");

static const undead_given_world *given;

void undead_world_give(const undead_given_world *world) { given = world; }

const undead_given_world *undead_given(void) { return given; }

undead_user_registers undead_given_registers(const undead_given_thread *thread) {
  undead_user_registers registers;
  memcpy(&registers, thread->registers, sizeof registers);
  return registers;
}

static uintptr_t pointer_in(const undead_given_thread *thread) {
  undead_user_registers registers = undead_given_registers(thread);
  return undead_user_tp(&registers);
}

int32_t undead_given_own_tid(void) {
  uintptr_t own = undead_thread_pointer();
  for (uint32_t i = 0; i < given->thread_count; i++)
    if (pointer_in(&given->threads[i]) == own) return given->threads[i].tid;
  return 0;
}

static uintptr_t pointer_of(bool first) {
  for (uint32_t i = 0; i < given->thread_count; i++)
    if (given->threads[i].first == first && pointer_in(&given->threads[i])) return pointer_in(&given->threads[i]);
  return 0;
}

static bool is_linked(uintptr_t node) {
  if (node % 8 || !undead_is_readable(node, 16)) return false;
  uintptr_t next = word_at(node);
  return next % 8 == 0 && undead_is_readable(next, 16) && word_at(next + 8) == node;
}

// A program with one thread may have the stacks of others that ended: glibc keeps them in a ring (nptl/allocatestack.c), whose head
// lies behind that of the ring with the first thread (_dl_stack_user, _dl_stack_cache in sysdeps/generic/ldsodefs.h).
static uintptr_t ended_thread(size_t list_field) {
  uintptr_t first = pointer_of(true);
  uintptr_t own = first ? first + list_field : 0;
  if (!own || !list_field || !is_linked(own)) return 0;
  uintptr_t head = word_at(own) + 16, node = is_linked(head) ? word_at(head) : head;
  uintptr_t at = node - list_field;
  bool descriptor = node != head && undead_is_readable(at, list_field + 16) && undead_is_descriptor_head((const uintptr_t *)at);
  return descriptor ? at : 0;
}

uintptr_t undead_given_made_thread(size_t list_field) {
  uintptr_t living = pointer_of(false);
  return living ? living : ended_thread(list_field);
}

// {stack block, size, size of the guard} (nptl/descr.h): the descriptor lies at the end of the block, the guard at its start.
size_t undead_given_stack_field(size_t list_field, size_t descriptor_bytes) {
  enum { MOST_ABOVE = 1 << 20 };
  uintptr_t tp = undead_given_made_thread(list_field);
  if (!tp || !undead_is_readable(tp, descriptor_bytes)) return 0;
  for (size_t field = 512; field + 24 < descriptor_bytes; field += 8) {
    uintptr_t low = word_at(tp + field), size = word_at(tp + field + 8), guard = word_at(tp + field + 16);
    if (!low || low % UNDEAD_PAGE || size % UNDEAD_PAGE || guard % UNDEAD_PAGE || guard >= size) continue;
    if (tp > low && tp - low < size && size - (tp - low) < MOST_ABOVE) return field;
  }
  return 0;
}
