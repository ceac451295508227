#include "record/generations.h"
#include "platform/memory/memory.h"
#include "platform/system/clock.h"
#include "platform/memory/own_data.h"
#include "record/sparse.h"
#include "unwind/backtrace.h"
#include "unwind/store/store.h"
#include <errno.h>
#include <string.h>

typedef struct {
  uint32_t ready;   // 1 when the rest is in place
  uint64_t nanoseconds;
  char name[UNDEAD_GENERATION_NAME_BYTES];
} mark;

#define TABLE_BYTES ((UNDEAD_GENERATION_LIMIT + 1) * sizeof(mark))

static mark *marks;   // by number
static uint32_t taken, newest_generation;

static mark *prepare_marks(void) {
  mark *known = __atomic_load_n(&marks, __ATOMIC_ACQUIRE);
  if (known) return known;
  mark *fresh = undead_map(TABLE_BYTES);
  if (!fresh) return NULL;
  if (__atomic_compare_exchange_n(&marks, &known, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
  undead_unmap(fresh, TABLE_BYTES);
  return known;
}

static uint32_t take_number(void) {
  uint32_t last = __atomic_load_n(&taken, __ATOMIC_RELAXED);
  do {
    if (last == UNDEAD_GENERATION_LIMIT) return 0;
  } while (!__atomic_compare_exchange_n(&taken, &last, last + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  return last + 1;
}

// Not in the middle of a character of UTF-8.
static void copy_name(char *copy, const char *name) {
  size_t length = strnlen(name, UNDEAD_GENERATION_NAME_BYTES);
  if (length == UNDEAD_GENERATION_NAME_BYTES) {
    length--;
    while (length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80) length--;
  }
  memcpy(copy, name, length);
  copy[length] = 0;
}

static void raise_newest(uint32_t number) {
  uint32_t known = __atomic_load_n(&newest_generation, __ATOMIC_RELAXED);
  while (known < number &&
         !__atomic_compare_exchange_n(&newest_generation, &known, number, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

static uint32_t begin_generation(const char *name) {
  mark *table = prepare_marks();
  if (!table || !undead_store_prepare() || !undead_store_has_room()) return 0;
  uint32_t number = take_number();
  if (!number) return 0;
  table[number].nanoseconds = undead_wall_time();
  copy_name(table[number].name, name ? name : "");
  __atomic_store_n(&table[number].ready, 1, __ATOMIC_RELEASE);
  if (!undead_store_begin_generation(number)) return 0;
  undead_backtrace_forget_runs();
  raise_newest(number);
  undead_sparse_note_generation(undead_generation_newest());
  return number;
}

uint32_t undead_generation_mark(const char *name) {
  int saved_errno = errno;
  uint32_t number = begin_generation(name);
  errno = saved_errno;
  return number;
}

uint32_t undead_generation_newest(void) { return __atomic_load_n(&newest_generation, __ATOMIC_ACQUIRE); }

bool undead_generation_get(uint32_t number, undead_generation *generation) {
  const mark *table = __atomic_load_n(&marks, __ATOMIC_ACQUIRE);
  if (!table || number == 0 || number > UNDEAD_GENERATION_LIMIT) return false;
  if (!__atomic_load_n(&table[number].ready, __ATOMIC_ACQUIRE)) return false;
  *generation = (undead_generation){number, table[number].name, table[number].nanoseconds};
  return true;
}

uint32_t undead_generation_of_backtrace(uint32_t backtrace) { return undead_store_generation(backtrace); }
