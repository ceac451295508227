#include "zombies/functions/functions.h"
#include "platform/images/c_library.h"
#include "platform/images/imports.h"
#include "platform/memory/own_data.h"
#include "platform/memory/thread_state.h"
#include <dlfcn.h>
#include <errno.h>

#define FUNCTION_NAME(name, function) #function,
static const char *const names[UNDEAD_SWIFT_FUNCTION_COUNT] = {UNDEAD_EACH_FUNCTION(FUNCTION_NAME)};

static const undead_watching_functions *watching;   // NULL: nobody watches
static bool closely;

// What leads past our definitions, where they are those that the loader finds first.
static undead_import imports[UNDEAD_SWIFT_FUNCTION_COUNT];
static size_t import_count;   // 0: the images call them

static uintptr_t watching_function(uint32_t index) {
  return index == UNDEAD_SWIFT_RELEASE_N ? (uintptr_t)watching->each_release : watching->normally[index];
}

static uintptr_t set_target(uint32_t index) {
  uintptr_t real = __atomic_load_n(&undead_swift_real[index], __ATOMIC_ACQUIRE);
  uintptr_t watches = watching ? watching_function(index) : 0, target = watches ? watches : real;
  if (watching && closely && watching->closely[index]) target = watching->closely[index];
  __atomic_store_n(&undead_swift_target[index], target, __ATOMIC_RELEASE);
  return target;
}

// The next definition in the order of the loader; in a runtime that was loaded for one library only, its own.
static uintptr_t find_definition(const char *name) {
  uintptr_t address = (uintptr_t)undead_symbol(RTLD_NEXT, name);
  if (address) return address;
  void *core = undead_open_library("libswiftCore.so", RTLD_NOW | RTLD_NOLOAD);
  return core ? (uintptr_t)undead_symbol(core, name) : 0;
}

static bool resolve(uint32_t index) {
  int saved = errno;
  undead_thread.ignored++;   // the loader allocates for a message when there is nothing to be found
  uintptr_t address = find_definition(names[index]);
  if (address) __atomic_store_n(&undead_swift_real[index], address, __ATOMIC_RELEASE);
  undead_thread.ignored--;
  errno = saved;
  return address != 0;
}

// Called by the stub that an entry point jumps to the first time; returns where to go on.
__attribute__((visibility("hidden"))) uintptr_t undead_swift_function_called(uint32_t index);
uintptr_t undead_swift_function_called(uint32_t index) {
  // The caller was linked with it, so it is there.
  if (!resolve(index)) __builtin_trap();
  return set_target(index);
}

bool undead_swift_functions_find(void) {
  for (uint32_t i = 0; i < UNDEAD_SWIFT_FUNCTION_COUNT; i++) {
    // Functions that a runtime does not have are called by nobody.
    if (!resolve(i) && i <= UNDEAD_SWIFT_RETAIN) return false;
  }
  return true;
}

uintptr_t undead_swift_function_to_call(undead_swift_function function, const char **name) {
  *name = names[function];
  return resolve(function) ? (uintptr_t)undead_swift_entries[function] : 0;
}

static int change_imports(struct dl_phdr_info *image, size_t size, void *back) {
  (void)size;
  undead_imports_change(image, imports, import_count, back != NULL);
  return 0;
}

void undead_swift_functions_step_aside(void) {
  if (import_count) return;
  int saved = errno;
  undead_thread.ignored++;
  for (size_t i = 0; i < UNDEAD_SWIFT_FUNCTION_COUNT; i++) {
    uintptr_t entry = (uintptr_t)undead_swift_entries[i];
    if ((uintptr_t)undead_symbol(RTLD_DEFAULT, names[i]) != entry || !resolve((uint32_t)i)) continue;
    imports[import_count++] = (undead_import){names[i], entry, set_target((uint32_t)i)};
  }
  if (import_count) dl_iterate_phdr(change_imports, NULL);
  undead_thread.ignored--;
  errno = saved;
}

static void step_back(void) {
  if (import_count) dl_iterate_phdr(change_imports, imports);
  import_count = 0;
}

void undead_swift_functions_watch(const undead_watching_functions *functions) {
  if (functions) step_back();
  watching = functions;
  for (uint32_t i = 0; i < UNDEAD_SWIFT_FUNCTION_COUNT; i++) set_target(i);
}

void undead_swift_functions_watch_closely(bool on) {
  closely = on;
  for (uint32_t i = 0; i < UNDEAD_SWIFT_FUNCTION_COUNT; i++)
    if (watching && watching->closely[i]) set_target(i);
}
