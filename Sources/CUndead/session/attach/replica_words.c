// Words that the program's memory does not have where a scan looks for them.
#include "platform/maps/inheritance.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/page.h"
#include "platform/processor/registers.h"
#include "platform/processor/words.h"
#include "record/registry.h"
#include "session/attach/replica.h"
#include <errno.h>
#include <string.h>

#define MOST_MODULES 65536u
#define NEAR_BYTES 1024u       // of a stack: frames of malloc's own functions
#define HEADER_BYTES 16u

typedef struct {
  uint64_t *list;
  uint64_t count, most;
} words;

static void add_replica_word(words *words, uint64_t word) {
  if (words->count < words->most) words->list[words->count++] = word;
}

// malloc's functions know a block by its header, which lies in front of it.
static void add_if_header(words *words, uintptr_t word) {
  const uint32_t *slot = word % 16 ? NULL : undead_registry_slot(word + HEADER_BYTES);
  if (slot && *slot) add_replica_word(words, word + HEADER_BYTES);
}

static void add_headers(words *words, const undead_replica_thread *thread) {
  undead_user_registers registers;
  memcpy(&registers, thread->registers, sizeof registers);
  for (unsigned i = 0; i < sizeof registers / 8; i++) add_if_header(words, thread->registers[i]);
  uintptr_t low = (undead_user_sp(&registers) - UNDEAD_RED_ZONE) & ~(uintptr_t)7;
  for (uintptr_t at = low; at < low + UNDEAD_RED_ZONE + NEAR_BYTES && undead_is_readable(at, 8); at += 8)
    add_if_header(words, word_at(at));
}

// Opening the library may have moved the calling thread's vector of thread-local storage to where nobody looks.
static void add_storage(words *words) {
  uintptr_t vector = undead_thread_vector((uintptr_t)__builtin_thread_pointer());
  if (undead_is_readable(vector - 16, 16)) return;
  uint64_t modules = word_at(vector - 16);
  for (uint64_t i = 0; i <= modules && i < MOST_MODULES; i++) add_replica_word(words, word_at(vector + i * 16));
}

// Memory that copies of a process do not get (MADV_DONTFORK), get empty (MADV_WIPEONFORK), or go on sharing.
static bool is_lost(const undead_mapping *mapping) {
  uint8_t resident;
  long page = (long)undead_page_of(mapping->low);
  if (mapping->shared && mapping->writable) return true;   // it may have changed since the copy was made
  return mapping->not_inherited || undead_raw3(SYS_mincore, page, 1, (long)&resident) == -ENOMEM;
}

static bool lacks_memory(void) {
  if (undead_inheritance_learn()) undead_inheritance_note();
  for (size_t i = 0; i < undead_mapping_count(); i++) {
    const undead_mapping *mapping = undead_mapping_at(i);
    if (mapping->what != UNDEAD_MAPPED_KERNEL && is_lost(mapping)) return true;
  }
  return false;
}

bool undead_replica_find_words(const undead_replica_request *request, undead_given_world *world) {
  uint64_t of_thread = UNDEAD_USER_WORDS + (UNDEAD_RED_ZONE + NEAR_BYTES) / 8 + 1;
  words all = {.most = request->held_count + MOST_MODULES + request->thread_count * of_thread};
  all.list = undead_map(all.most * sizeof *all.list);
  if (!all.list) return false;
  for (uint64_t i = 0; i < request->held_count; i++) add_replica_word(&all, ((const uint64_t *)request->held)[i]);
  const undead_replica_thread *threads = (const undead_replica_thread *)request->threads;
  for (uint32_t i = 0; i < request->thread_count; i++) add_headers(&all, &threads[i]);
  add_storage(&all);
  world->held = all.list;
  world->held_count = all.count;
  if (!(request->flags & UNDEAD_REPLICA_COMPLETE) && lacks_memory()) world->held_known = false;
  return true;
}
