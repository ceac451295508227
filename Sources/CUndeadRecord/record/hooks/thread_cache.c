#include "record/block_source.h"
#include "record/way/thread_cache.h"
#include "platform/system/environment.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/system/read_text.h"
#include "platform/memory/thread_state.h"
#include "record/allocator.h"
#include "record/mode.h"
#include "record/reach.h"
#include "record/way.h"
#include "platform/system/text.h"
#include <gnu/libc-version.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

static intptr_t place_of(const void *of_thread) { return (const char *)of_thread - (const char *)__builtin_thread_pointer(); }

void undead_cache_forget(void) { undead_cache.place = place_of(&undead_thread.no_cache); }

bool undead_allocator_lists(size_t *place, size_t *lists) {
  if (!undead_cache.place || undead_cache.place == place_of(&undead_thread.no_cache)) return false;
  *place = (size_t)(undead_cache.place < 0 ? -undead_cache.place : undead_cache.place);
  *lists = offsetof(undead_cache_table, entries);
  return true;
}

// The counts are of this form from 2.30 to 2.41, the key is the same for all threads since 2.34.
static bool is_known_version(void) {
  const char *version = gnu_get_libc_version();
  if (!undead_starts_with(version, "2.")) return false;
  int minor = (int)undead_read_number(version + 2, 10, NULL);
  return minor >= 34 && minor <= 41;
}

// Somebody who sets what is kept is left alone.
static bool is_tuned(void) {
  const char *tunables = undead_setting("GLIBC_TUNABLES");
  return tunables && *tunables;
}

typedef struct {
  uintptr_t low, high;
} range;

// The thread-local storage of libc, for the calling thread.
static int find_storage(struct dl_phdr_info *info, size_t size, void *context) {
  const char *file = strrchr(info->dlpi_name, '/');
  if (size < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof info->dlpi_tls_data || !info->dlpi_tls_data) return 0;
  if (!file || strcmp(file, "/libc.so.6") != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_TLS) {
      uintptr_t low = (uintptr_t)info->dlpi_tls_data;
      *(range *)context = (range){low, low + info->dlpi_phdr[i].p_memsz};
    }
  return 1;
}

#define TRIED 16   // more than are kept of a size
#define TRIED_SIZE 360u
#define LARGEST_KEPT 1032u
#define HEAP_START_BYTES (uintptr_t)(1u << 20)

static size_t bin_of(const void *block) {
  return (undead_chunk_bytes((uintptr_t)block - CHUNK_HEADER) - CHUNK_SMALLEST) >> 4;
}

// True if `table` could be one: a block of that size.
static bool may_be_table(uintptr_t table, uintptr_t near) {
  // It was allocated by this thread's first call, from the heap that the blocks are from.
  if (!table || table & 15 || table > near || near - table > HEAP_START_BYTES) return false;
  if (!undead_page_is_readable(undead_page_of(table - CHUNK_HEADER))) return false;
  return undead_chunk_bytes(table - CHUNK_HEADER) == ((sizeof(undead_cache_table) + 8 + 15) & ~(size_t)15);
}

// Blocks are freed one after the other, until no more are kept: each must be where it is looked for, and then be handed
// out again in the opposite order.
static bool behaves(undead_cache_table *table, void **blocks, struct undead_cache_facts *facts) {
  size_t bin = bin_of(blocks[0]);
  uint16_t first = table->counts[bin], kept = first;
  uintptr_t before = table->entries[bin];
  for (int i = 0; i < TRIED; i++) {
    uintptr_t block = (uintptr_t)blocks[i];
    __libc_free(blocks[i]);
    if (table->counts[bin] == kept) {
      if (table->entries[bin] != before) return false;
      continue;
    }
    if (table->counts[bin] != kept + 1 || table->entries[bin] != block || undead_glibc_next(block) != before) return false;
    uintptr_t key = undead_glibc_word(block + 8);
    if (!key || (kept > first && key != facts->key)) return false;
    facts->key = key;
    before = block;
    kept++;
  }
  facts->most_of_glibc = kept;
  if (kept == first || kept - first == TRIED) return false;
  void *again = __libc_malloc(TRIED_SIZE);
  bool same = (uintptr_t)again == before && table->counts[bin] == kept - 1 && undead_glibc_word((uintptr_t)again + 8) == 0;
  __libc_free(again);
  return same;
}

// Where the calling thread keeps the address of its table, or NULL.
static undead_cache_table **find_table(uintptr_t near) {
  range storage = {0};
  if (!dl_iterate_phdr(find_storage, &storage)) return NULL;
  for (uintptr_t at = (storage.low + 7) & ~(uintptr_t)7; at + 8 <= storage.high; at += 8)
    if (may_be_table(undead_glibc_word(at), near)) return (undead_cache_table **)at;
  return NULL;
}

static bool try_table(undead_cache_table **at, void **blocks, struct undead_cache_facts *facts) {
  for (int i = 1; i < TRIED; i++)
    if (bin_of(blocks[i]) != bin_of(blocks[0])) return false;
  *facts = (struct undead_cache_facts){.place = place_of(at)};
  // What behaves() does not come to free is lost, which is 5 KB where nothing is understood.
  if (!behaves(*at, blocks, facts)) return false;
  void *last = __libc_malloc(LARGEST_KEPT);
  if (!last || bin_of(last) != CACHE_BINS - 1) return false;
  __libc_free(last);
  return (*at)->entries[CACHE_BINS - 1] == (uintptr_t)last;
}

// What comes and goes together needs no slow way of glibc's then, which pays for what is recorded. Of larger blocks, which glibc
// would merge, no more are kept than by itself; lists four times as long cost a program that makes large ones from small.
#define MOST_BYTES 4096u   // of one size

static uint16_t most_in_list(size_t bin, uint16_t of_glibc) {
  size_t fit = MOST_BYTES / (CHUNK_SMALLEST + bin * 16);
  return fit > of_glibc ? (uint16_t)fit : of_glibc;
}

static void learn(void) {
  // Checks in the process itself see what hooks leave on the stack: there glibc is called, as before.
  if (!is_known_version() || is_tuned() || undead_record_runs_tests()) return;
  void *blocks[TRIED];
  for (int i = 0; i < TRIED; i++)
    if (!(blocks[i] = __libc_malloc(TRIED_SIZE))) return;
  undead_cache_table **at = find_table((uintptr_t)blocks[0]);
  struct undead_cache_facts facts;
  if (!at || !try_table(at, blocks, &facts)) return;
  undead_cache.key = facts.key;
  undead_cache.most_of_glibc = facts.most_of_glibc;
  for (size_t bin = 0; bin < CACHE_BINS; bin++) undead_cache.most[bin] = most_in_list(bin, facts.most_of_glibc);
  __atomic_store_n(&undead_cache.place, facts.place, __ATOMIC_RELEASE);
}

void undead_cache_learn(void) {
  static uint32_t begun;
  if ((undead_record_mode <= UNDEAD_RECORD_OFF && !undead_blocks_are_chosen) || __atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL)) return;
  // Elsewhere glibc's own lists are used by glibc alone: place and form of a thread's table were not looked at there.
  const bool is_understood = true;
  if (is_understood) learn();
  __atomic_store_n(&undead_cache.tried, true, __ATOMIC_RELEASE);
  undead_way_choose();
}
