// Premises about objects (RefCount.h, Heap.cpp, ErrorObject.h, StringStorage.swift and others): the runtime makes them, retains
// them and frees them, and what it says of them is compared with what the instrument reads.
#include "runtime/premises/premises_internal.h"
#include <string.h>

#define LEAKS(holds, what) undead_premise(premises, UNDEAD_PREMISE_LEAKS, holds, what)

typedef struct {
  uintptr_t alloc, retain, release, unowned_retain, unowned_release, strong_count, unowned_count, weak_init, weak_destroy, drop;
} count_functions;

static bool find_functions(count_functions *functions) {
  static const char *const names[] = {"swift_allocObject", "swift_retain_n", "swift_release_n", "swift_unownedRetain_n",
                                      "swift_unownedRelease_n", "swift_retainCount", "swift_unownedRetainCount", "swift_weakInit",
                                      "swift_weakDestroy", "swift_release"};
  uintptr_t *places = (uintptr_t *)functions;
  _Static_assert(sizeof(count_functions) == sizeof names, "a place for each name");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!(places[i] = undead_premise_symbol(names[i]))) return false;
  return true;
}

static void call(uintptr_t function, uintptr_t object) { ((void (*)(uintptr_t))function)(object); }
static void call_times(uintptr_t function, uintptr_t object, uint32_t times) {
  ((void *(*)(uintptr_t, uint32_t))function)(object, times);
}
static uintptr_t count(uintptr_t function, uintptr_t object) { return ((uintptr_t (*)(uintptr_t))function)(object); }
static uintptr_t make(const count_functions *functions, uintptr_t isa) {
  uintptr_t object = ((uintptr_t (*)(uintptr_t, size_t, size_t))functions->alloc)(isa, 32, 7);
  memset((void *)(object + 16), 0, 16);
  return object;
}

// Counts with all bits that there are, but not so high that the runtime would keep them elsewhere.
enum { MANY_STRONG = 0x2AAAAAAA, MANY_UNOWNED = 0x55555554 };

static void check_counts(undead_premises *premises, const count_functions *functions, uintptr_t isa) {
  uintptr_t object = make(functions, isa), word = object + ABI_OBJECT_REFCOUNT;
  bool fresh = word_at(word) == ABI_REFCOUNT_NEW;
  LEAKS(fresh, "the reference count of a new object");
  for (uint32_t times = MANY_STRONG; times; times = times == MANY_STRONG ? MANY_STRONG >> 1 : 0) {
    call_times(functions->retain, object, times);
    LEAKS((word_at(word) >> ABI_REFCOUNT_EXTRA_SHIFT & ABI_REFCOUNT_EXTRA_MASK) == times
            && count(functions->strong_count, object) == times + 1ul, "the strong count of an object");
    call_times(functions->release, object, times);
  }
  for (uint32_t times = MANY_UNOWNED; times; times = times == MANY_UNOWNED ? MANY_UNOWNED >> 1 : 0) {
    call_times(functions->unowned_retain, object, times);
    LEAKS((word_at(word) >> ABI_REFCOUNT_UNOWNED_SHIFT & ABI_REFCOUNT_UNOWNED_MASK) == times + 1ul
            && count(functions->unowned_count, object) == times + 1ul, "the unowned count of an object");
    call_times(functions->unowned_release, object, times);
  }
  call_times(functions->unowned_retain, object, 1);
  LEAKS(!(word_at(word) & ABI_REFCOUNT_DEINITING), "the mark of an object in use");
  call(functions->drop, object);   // deinitialised, but its memory stays
  LEAKS(word_at(word) & ABI_REFCOUNT_DEINITING, "the mark of a dead object");
  undead_premise(premises, UNDEAD_PREMISE_ZOMBIES, word_at(word) == ABI_REFCOUNT_DEAD, "the reference count of a dead object");
  call_times(functions->unowned_release, object, 1);
}

static void check_side_table(undead_premises *premises, const count_functions *functions, uintptr_t isa) {
  uintptr_t object = make(functions, isa), word = object + ABI_OBJECT_REFCOUNT, weak = 0;
  ((void *(*)(uintptr_t *, uintptr_t))functions->weak_init)(&weak, object);
  bool marked = word_at(word) >> ABI_REFCOUNT_SIDE_TABLE_SHIFT == ABI_REFCOUNT_SIDE_TABLE_TOP;
  uintptr_t table = word_at(word) << ABI_REFCOUNT_SIDE_TABLE_SCALE;
  LEAKS(marked, "the mark of an object with a side table");
  LEAKS(table == weak, "the address of a side table");
  if (marked && table == weak) {
    LEAKS(word_at(table) == object, "the object of a side table");
    LEAKS(u32_at(table + ABI_SIDE_TABLE_WEAK) == 2, "the count of weak references");
    call_times(functions->retain, object, 5);
    LEAKS((word_at(table + ABI_SIDE_TABLE_COUNTS) >> ABI_REFCOUNT_EXTRA_SHIFT & ABI_REFCOUNT_EXTRA_MASK) == 5,
          "the counts in a side table");
    call_times(functions->release, object, 5);
  }
  call(functions->drop, object);
  call(functions->weak_destroy, (uintptr_t)&weak);
}

void undead_premises_of_counts(undead_premises *premises, uintptr_t isa) {
  count_functions functions;
  if (!undead_premise_found(premises, find_functions(&functions), "the functions that count references")) return;
  check_counts(premises, &functions, isa);
  check_side_table(premises, &functions, isa);
}

static void check_box(undead_premises *premises, uintptr_t type) {
  uintptr_t alloc = undead_premise_symbol("swift_allocBox"), dealloc = undead_premise_symbol("swift_deallocBox");
  if (!undead_premise_found(premises, alloc && dealloc && type, "the functions that make boxes")) return;
  undead_pair box = ((SWIFT_CALL undead_pair(*)(uintptr_t))alloc)(type);
  uintptr_t isa = word_at(box.first);
  LEAKS(ABI_KIND_READ(word_at(isa)) == ABI_KIND_HEAP_GENERIC_LOCAL_VARIABLE, "the kind of boxes");
  LEAKS(u32_at(isa + ABI_BOX_VALUE_OFFSET) == box.second - box.first, "the value of a box");
  LEAKS(word_at(isa + ABI_BOX_TYPE) == type, "the type of a box's value");
  LEAKS(box.second - box.first == ABI_OBJECT_HEADER, "the header of an object");
  call(dealloc, box.first);
}

static void check_error(undead_premises *premises, uintptr_t type) {
  uintptr_t alloc = undead_premise_symbol("swift_allocError"), dealloc = undead_premise_symbol("swift_deallocError");
  uintptr_t conformance = undead_premise_symbol("$ss5NeverOs5ErrorsWP");
  if (!undead_premise_found(premises, alloc && dealloc && conformance && type, "the functions that make errors")) return;
  undead_pair error = ((SWIFT_CALL undead_pair(*)(uintptr_t, uintptr_t, void *, bool))alloc)(type, conformance, NULL, false);
  LEAKS(ABI_KIND_READ(word_at(word_at(error.first))) == ABI_KIND_ERROR_OBJECT, "the kind of errors");
  LEAKS(word_at(error.first + ABI_ERROR_TYPE) == type, "the type of an error");
  LEAKS(error.second - error.first == ABI_ERROR_VALUE, "the value of an error");
  ((void (*)(uintptr_t, uintptr_t))dealloc)(error.first, type);
}

void undead_premises_of_boxes(undead_premises *premises) {
  check_box(premises, undead_premise_symbol("$sSiN"));
  check_error(premises, undead_premise_symbol("$ss5NeverON"));
}
