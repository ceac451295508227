#include "record/hooks/other_functions.h"
#include "platform/images/c_library.h"
#include "platform/images/imports.h"
#include "platform/memory/own_data.h"
#include "record/allocator.h"
#include "record/gate.h"
#include "record/other_memory.h"
#include "platform/system/text.h"
#include <dlfcn.h>
#include <malloc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

// The allocator's own functions, for those below that hand on to them.
enum {
  NEW, NEW_ARRAY, NEW_NOTHROW, NEW_ARRAY_NOTHROW, NEW_ALIGNED, NEW_ARRAY_ALIGNED, NEW_ALIGNED_NOTHROW,
  NEW_ARRAY_ALIGNED_NOTHROW, MALLOCX, RALLOCX, DALLOCX, FUNCTIONS
};
static void *real[FUNCTIONS];

// A constructor of an exception may leave these functions; then there was no block.
#define BORN(call)                                       \
  undead_hook_enter();                                   \
  void *block = undead_other_born(call, HOOK_FRAME);     \
  undead_hook_leave();                                   \
  return block

typedef void *(*new_function)(size_t size, uintptr_t, uintptr_t);

// operator new: whatever follows the size is handed on.
#define NEW_HOOK(which)                                                              \
  static void *new_##which(size_t size, uintptr_t second, uintptr_t third) {         \
    BORN(((new_function)real[which])(undead_other_size(size), second, third));       \
  }
NEW_HOOK(NEW)
NEW_HOOK(NEW_ARRAY)
NEW_HOOK(NEW_NOTHROW)
NEW_HOOK(NEW_ARRAY_NOTHROW)
NEW_HOOK(NEW_ALIGNED)
NEW_HOOK(NEW_ARRAY_ALIGNED)
NEW_HOOK(NEW_ALIGNED_NOTHROW)
NEW_HOOK(NEW_ARRAY_ALIGNED_NOTHROW)

// operator delete with all that may follow the block. Never by size: a library that came late may have asked for another one.
static void delete_hook(void *block) { undead_detour_free(block, HOOK_FRAME); }

// MARK: jemalloc's

static void *mallocx_hook(size_t size, int flags) {
  BORN(((void *(*)(size_t, int))real[MALLOCX])(undead_other_size(size), flags));
}

static void *rallocx_hook(void *old, size_t size, int flags) {
  undead_hook_enter();
  undead_other_dies(old);
  size_t kept = undead_next.usable_size(old);
  void *block = ((void *(*)(void *, size_t, int))real[RALLOCX])(old, undead_other_size(size), flags);
  // What was not resized is still there, and is known without its backtrace from now on.
  if (block) undead_other_kept(block, kept < size ? kept : size, HOOK_FRAME);
  else undead_other_kept(old, kept, HOOK_FRAME);
  undead_hook_leave();
  return block;
}

static void dallocx_hook(void *block, int flags) {
  undead_hook_enter();
  undead_other_dies(block);
  ((void (*)(void *, int))real[DALLOCX])(block, flags);
  undead_hook_leave();
}

static void sdallocx_hook(void *block, size_t size, int flags) {
  (void)size;
  dallocx_hook(block, flags);
}

// MARK: mimalloc's and tcmalloc's, in terms of the C library's

static void *zalloc_hook(size_t size) { return undead_detour_calloc(1, size, HOOK_FRAME); }
static void *mallocn_hook(size_t count, size_t size) {
  size_t total;
  return __builtin_mul_overflow(count, size, &total) ? NULL : undead_detour_malloc(total, HOOK_FRAME);
}
static void *aligned_hook(size_t size, size_t alignment) { return undead_detour_aligned(alignment, size, HOOK_FRAME); }
static void *reallocf_hook(void *old, size_t size) {
  void *block = undead_detour_realloc(old, size, HOOK_FRAME);
  if (!block) undead_detour_free(old, HOOK_FRAME);
  return block;
}
static char *strndup_hook(const char *text, size_t most) {
  size_t length = text ? strnlen(text, most) : 0;
  char *copy = text ? undead_detour_malloc(length + 1, HOOK_FRAME) : NULL;
  if (!copy) return NULL;
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}
static char *strdup_hook(const char *text) {
  size_t size = text ? strlen(text) + 1 : 0;
  char *copy = text ? undead_detour_malloc(size, HOOK_FRAME) : NULL;
  return copy ? memcpy(copy, text, size) : NULL;
}

// MARK: Names

typedef struct {
  const char *name;
  void *hook;
  int32_t real;   // index of the function that it hands on to; -1: none
} other_function;

#define CXX(name, which) {name, (void *)new_##which, which}
#define C(name, hook) {name, (void *)hook, -1}
static const other_function functions[] = {
    CXX("_Znwm", NEW), CXX("_Znam", NEW_ARRAY), CXX("_ZnwmRKSt9nothrow_t", NEW_NOTHROW),
    CXX("_ZnamRKSt9nothrow_t", NEW_ARRAY_NOTHROW), CXX("_ZnwmSt11align_val_t", NEW_ALIGNED),
    CXX("_ZnamSt11align_val_t", NEW_ARRAY_ALIGNED),
    CXX("_ZnwmSt11align_val_tRKSt9nothrow_t", NEW_ALIGNED_NOTHROW),
    CXX("_ZnamSt11align_val_tRKSt9nothrow_t", NEW_ARRAY_ALIGNED_NOTHROW),
    C("_ZdlPv", delete_hook), C("_ZdaPv", delete_hook),
    C("_ZdlPvRKSt9nothrow_t", delete_hook), C("_ZdaPvRKSt9nothrow_t", delete_hook),
    C("_ZdlPvm", delete_hook), C("_ZdaPvm", delete_hook),
    C("_ZdlPvSt11align_val_t", delete_hook), C("_ZdaPvSt11align_val_t", delete_hook),
    C("_ZdlPvSt11align_val_tRKSt9nothrow_t", delete_hook),
    C("_ZdaPvSt11align_val_tRKSt9nothrow_t", delete_hook),
    C("_ZdlPvmSt11align_val_t", delete_hook),
    C("_ZdaPvmSt11align_val_t", delete_hook),
    {"mallocx", (void *)mallocx_hook, MALLOCX}, {"rallocx", (void *)rallocx_hook, RALLOCX},
    {"dallocx", (void *)dallocx_hook, DALLOCX}, C("sdallocx", sdallocx_hook),
    C("cfree", free), C("__posix_memalign", posix_memalign), C("mi_malloc", malloc), C("mi_malloc_small", malloc),
    C("mi_calloc", calloc), C("mi_realloc", realloc), C("mi_free", free), C("mi_free_size", delete_hook),
    C("mi_free_size_aligned", delete_hook), C("mi_free_aligned", delete_hook), C("mi_zalloc", zalloc_hook),
    C("mi_zalloc_small", zalloc_hook), C("mi_mallocn", mallocn_hook), C("mi_malloc_aligned", aligned_hook),
    C("mi_zalloc_aligned", aligned_hook), C("mi_reallocf", reallocf_hook), C("mi_strdup", strdup_hook),
    C("mi_strndup", strndup_hook), C("mi_memalign", memalign), C("mi_posix_memalign", posix_memalign),
    C("mi_aligned_alloc", aligned_alloc), C("mi_cfree", free), C("tc_malloc", malloc), C("tc_calloc", calloc),
    C("tc_realloc", realloc), C("tc_free", free), C("tc_cfree", free), C("tc_free_sized", delete_hook),
    C("tc_memalign", memalign), C("tc_posix_memalign", posix_memalign),
};
enum { KNOWN = sizeof functions / sizeof *functions };

// Beginnings of names that neither make nor take blocks, and the functions that the hooks are called for anyway.
static const char *const harmless[] = {
    "malloc_", "mallctl", "mi_option", "mi_stats", "mi_version", "mi_process", "mi_collect", "mi_good", "mi_usable",
    "mi_malloc_", "mi_thread", "mi_register", "mi_is", "mi_check", "mi_expand", "mi_heap_get", "MallocExtension",
    "_ZN15MallocExtension", "_ZTV", "_ZTI", "_ZTS", "MallocHook", "tc_mallinfo", "tc_mallopt", "tc_malloc_", "tc_version",
    "tc_set", "tc_query", "tc_nallocx", "nallocx", "sallocx", "xallocx", "mallinfo", "mallopt", "mmap", "munmap",
    "mremap", "sbrk", "_init", "_fini", "_edata", "_end", "__bss_start",
};
static const char *const of_the_c_library[] = {
    "malloc", "calloc", "realloc", "reallocarray", "free", "memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc",
};
static const char *const unsound_names[] = {"mi_heap_destroy", "mi_heap_set_default", "mi_heap_delete", "mi_heap_new"};

static const char *unknown, *unsound;

static bool is_one_of(const char *name, const char *const *names, size_t count, bool beginning) {
  for (size_t i = 0; i < count; i++)
    if (beginning ? undead_starts_with(name, names[i]) : !strcmp(name, names[i])) return true;
  return false;
}
#define IS_ONE_OF(name, names, beginning) is_one_of(name, names, sizeof names / sizeof *names, beginning)

static void judge(void *context, const char *name) {
  const undead_import *imports = context;
  for (size_t i = 0; i < KNOWN; i++)
    if (imports[i].name && !strcmp(name, imports[i].name)) return;
  if (IS_ONE_OF(name, of_the_c_library, false)) return;
  // Exact names first: some of them begin like harmless ones.
  if (IS_ONE_OF(name, unsound_names, false)) unsound = name;
  else if (undead_starts_with(name, "mi_malloc_aligned") || undead_starts_with(name, "tc_malloc_skip")) unknown = name;
  else if (!IS_ONE_OF(name, harmless, true)) unknown = name;
  if (unknown || unsound) undead_other_memory_has_gaps();
}

typedef struct {
  const struct dl_phdr_info *allocator;
  undead_import imports[KNOWN];
  bool again;
} binding;

static int bind_user(struct dl_phdr_info *info, size_t size, void *context) {
  binding *wanted = context;
  (void)size;
  if (undead_image_has(info, (uintptr_t)functions) || undead_image_has(info, (uintptr_t)undead_next.malloc)) return 0;
  size_t changed = undead_imports_change(info, wanted->imports, KNOWN, false);
  // A library that came since has made blocks that nobody saw.
  if (changed && wanted->again) undead_other_memory_has_gaps();
  if (!undead_imports_between(info, wanted->allocator, judge, wanted->imports)) undead_other_memory_has_gaps();
  return 0;
}

void undead_other_functions_bind(const struct dl_phdr_info *image) {
  static bool bound;
  binding wanted = {.allocator = image, .again = bound};
  bound = true;
  for (size_t i = 0; i < KNOWN; i++) {
    wanted.imports[i].name = "";
    // Its name is not asked for otherwise: that would leave an error for dlerror().
    if (!undead_image_defines(image, functions[i].name)) continue;
    void *function = undead_symbol(RTLD_DEFAULT, functions[i].name);
    // What comes before the allocator's is the program's own.
    if (!function || !undead_image_has(image, (uintptr_t)function)) continue;
    if (functions[i].real >= 0) real[functions[i].real] = function;
    wanted.imports[i] = (undead_import){functions[i].name, (uintptr_t)function, (uintptr_t)functions[i].hook};
  }
  dl_iterate_phdr(bind_user, &wanted);
}

const char *undead_other_functions_unknown(void) { return unknown; }
const char *undead_other_functions_unsound(void) { return unsound; }
