// The functions of the Swift runtime that are asked, found by their symbols; memory for what is learned, which is never freed;
// and a map from words to words.
#include "runtime/runtime.h"
#include "platform/images/c_library.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/spread.h"
#include "runtime/layout.h"
#include "runtime/metadata/memory_reader.h"
#include "platform/system/text.h"
#include <assert.h>
#include <dlfcn.h>

undead_runtime_functions undead_runtime;

enum { CHUNK_BYTES = 1 << 20, FIRST_MAP_SIZE = 1024 };

void *undead_keep(size_t bytes) {
  static char *chunk;
  static size_t left;
  bytes = (bytes + 7) & ~(size_t)7;
  if (bytes > CHUNK_BYTES / 4) return undead_map(bytes);
  if (bytes > left) {
    chunk = undead_map(CHUNK_BYTES);
    left = chunk ? CHUNK_BYTES : 0;
    if (!chunk) return NULL;
  }
  void *result = chunk;
  chunk += bytes;
  left -= bytes;
  return result;
}

struct undead_word_map_slots {
  size_t size, used;   // size is a power of two
  struct { uintptr_t key, value; } slot[];
};

static size_t first_slot(const struct undead_word_map_slots *slots, uintptr_t key) {
  return (size_t)(undead_spread(key >> 3) >> 24) & (slots->size - 1);
}

bool undead_word_map_get(const undead_word_map *map, uintptr_t key, uintptr_t *value) {
  const struct undead_word_map_slots *slots = __atomic_load_n(&map->slots, __ATOMIC_ACQUIRE);
  if (!slots) return false;
  for (size_t i = first_slot(slots, key);; i = (i + 1) & (slots->size - 1)) {
    uintptr_t found = __atomic_load_n(&slots->slot[i].key, __ATOMIC_ACQUIRE);
    if (found == key) *value = slots->slot[i].value;
    if (found == key || !found) return found == key;
  }
}

static void insert(struct undead_word_map_slots *slots, uintptr_t key, uintptr_t value) {
  size_t i = first_slot(slots, key);
  while (slots->slot[i].key && slots->slot[i].key != key) i = (i + 1) & (slots->size - 1);
  if (!slots->slot[i].key) slots->used++;
  slots->slot[i].value = value;
  __atomic_store_n(&slots->slot[i].key, key, __ATOMIC_RELEASE);
}

bool undead_word_map_set(undead_word_map *map, uintptr_t key, uintptr_t value) {
  assert(key != 0);
  struct undead_word_map_slots *slots = map->slots;
  if (!slots || slots->used * 2 >= slots->size) {
    size_t size = slots ? slots->size * 2 : FIRST_MAP_SIZE;
    struct undead_word_map_slots *larger = undead_map(sizeof *larger + size * sizeof larger->slot[0]);
    if (!larger) return false;
    larger->size = size;
    for (size_t i = 0; slots && i < slots->size; i++)
      if (slots->slot[i].key) insert(larger, slots->slot[i].key, slots->slot[i].value);
    // The old slots stay mapped: a reader may still be in them. Doubling keeps that below the size of the new ones.
    __atomic_store_n(&map->slots, larger, __ATOMIC_RELEASE);
    slots = larger;
  }
  insert(slots, key, value);
  return true;
}

const undead_module *undead_runtime_library(const char *library) {
  for (size_t i = 0; i < undead_module_count(); i++) {
    const undead_module *module = undead_module_at(i);
    if (undead_starts_with(undead_file_name(module->path), library)) return module;
  }
  return undead_module_at(0);
}

uintptr_t undead_runtime_symbol(const char *library, const char *name) {
  uintptr_t address = (uintptr_t)undead_symbol(RTLD_DEFAULT, name);
  if (address) return address;
  // Not exported, loaded with RTLD_LOCAL, or linked statically into the program.
  return undead_symbol_address(undead_runtime_library(library), name, NULL);
}

bool undead_runtime_find(void) {
  if (undead_runtime.type_by_mangled_name) return true;
  if (undead_module_count() == 0) undead_modules_refresh();
  uintptr_t by_name = undead_runtime_symbol("libswiftCore.", "swift_getTypeByMangledNameInContext");
  uintptr_t name = undead_runtime_symbol("libswiftCore.", "swift_getTypeName");
  if (!by_name || !name) return false;
  undead_runtime.uint64_type = undead_runtime_symbol("libswiftCore.", "$ss6UInt64VN");
  uintptr_t slab = undead_runtime_symbol("libswift_Concurrency.", "_swift_concurrency_debug_asyncTaskSlabMetadata");
  // A symbol of a loaded library: readable, though the memory map may not have been read yet.
  undead_runtime.slab_isa = slab ? *(const uintptr_t *)slab : 0;
  undead_runtime.type_in_environment =
    (const void *(*)(const char *, size_t, const void *, const void *const *))undead_runtime_symbol(
      "libswiftCore.", "swift_getTypeByMangledNameInEnvironment");
  undead_runtime.tuple_type = (const void *(*)(size_t, size_t, const void *const *, const char *, const void *))undead_runtime_symbol(
    "libswiftCore.", "swift_getTupleTypeMetadata");
  undead_runtime.cf_class =
    (const void *(*)(uintptr_t))undead_runtime_symbol("libFoundation.", "_CFRuntimeGetClassWithTypeID");
  undead_runtime.type_name = (undead_type_name_pair(*)(const void *, bool))name;
  undead_runtime.type_by_mangled_name =
    (const void *(*)(const char *, size_t, const void *, const void *const *))by_name;
  return true;
}
