#include "record/attached.h"
#include "platform/images/c_library.h"
#include "platform/images/imports.h"
#include "platform/memory/own_data.h"
#include "record/allocator.h"
#include "record/attach/images_x86_64.h"
#include "record/mode.h"
#include "unwind/pc_table.h"
#include "unwind/store/store.h"
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// In the loader's data.
extern void *__libc_stack_end;
extern void *reallocarray(void *old, size_t count, size_t size);

static const char *const names[] = {
    "malloc",        "free",   "calloc",  "realloc", "reallocarray", "memalign", "aligned_alloc",
    "posix_memalign", "valloc", "pvalloc", "dlopen",  "dlsym",
};
enum { IMPORTS = sizeof names / sizeof *names, ALLOCATOR = IMPORTS - 2, MOST_OTHERS = 32 };

static undead_import imports[IMPORTS + MOST_OTHERS];
static size_t import_count = IMPORTS;
static bool are_in;
static unsigned long long known_adds;   // images that were loaded when they were looked at

static uintptr_t replacement_of(size_t index) {
  const uintptr_t hooks[IMPORTS] = {
      (uintptr_t)malloc,         (uintptr_t)free,   (uintptr_t)calloc,  (uintptr_t)realloc,
      (uintptr_t)reallocarray,   (uintptr_t)memalign, (uintptr_t)aligned_alloc, (uintptr_t)posix_memalign,
      (uintptr_t)valloc,         (uintptr_t)pvalloc, (uintptr_t)undead_dlopen_seen, (uintptr_t)undead_dlsym_seen,
  };
  return hooks[index];
}

// What the program finds under that name. Not RTLD_DEFAULT: a library that is bound to itself (-Bsymbolic) finds itself.
static void *first_of(const char *name) {
  void *program = undead_open_library(NULL, RTLD_NOW);
  void *found = program ? undead_symbol(program, name) : NULL;
  if (!found) undead_forget_symbol_error();   // the program must not find our failure
  return found;
}

bool undead_hooks_are_passed_by(void) {
  void *first = first_of("malloc");
  return first && first != (void *)malloc;
}

static const char *explain(const char *before, const char *subject, const char *after) {
  static char reason[512];
  snprintf(reason, sizeof reason, "%s%s%s", before, subject, after);
  return reason;
}

// A function's address in a program that is not relocatable is that of the program's own stub, which goes where its calls go.
static bool is_stub(const void *function) {
  Dl_info info;
  const void *symbol;
  return undead_find_symbol_at(function, &info, &symbol) && ((const ElfW(Sym) *)symbol)->st_shndx == SHN_UNDEF;
}

static const char *other_allocator(const void *function) {
  Dl_info info;
  bool known = undead_find_address(function, &info) && info.dli_fname;
  return explain("memory is allocated by ", known ? info.dli_fname : "another library",
                 ", an allocator that cannot be recorded");
}

// Blocks of one allocator must never come to another one.
static const char *foreign_function(void) {
  void *libc = undead_open_library("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (!libc) return "the program has no libc.so.6: it uses another C library";
  for (size_t i = 0; i < IMPORTS; i++) {
    void *function = undead_symbol(libc, names[i]), *first = first_of(names[i]);
    if (!function) return explain("libc.so.6 has no function ", names[i], "");
    if (i < ALLOCATOR && first != function && !is_stub(first)) return other_allocator(first);
    imports[i] = (undead_import){names[i], (uintptr_t)function, replacement_of(i)};
  }
  // Stays open: the library needs it anyway.
  return NULL;
}

const char *undead_attach_obstacle(void) {
  if (!undead_hooks_available) return "the library was built with a sanitizer";
  const char *why = foreign_function();
  if (why) return why;
  // Not to be found out by a hook.
  if (undead_allocator_is_other()) return other_allocator((const void *)undead_next.malloc);
  if (!undead_store_prepare() || !undead_pc_table_prepare()) return "there is no memory for the table of backtraces";
  undead_real_dlopen = imports[ALLOCATOR].function;
  undead_real_dlsym = imports[ALLOCATOR + 1].function;
  return NULL;
}

typedef struct {
  bool back, only_new;
  unsigned long long adds;
  size_t changed;
} work;

// Our own calls go to the hooks already. The loader keeps the allocator's functions in variables.
static int change_image(struct dl_phdr_info *info, size_t size, void *context) {
  work *wanted = context;
  (void)size;
  wanted->adds = info->dlpi_adds;
  if (wanted->only_new && wanted->adds == __atomic_load_n(&known_adds, __ATOMIC_ACQUIRE)) return 1;
  if (undead_image_has(info, (uintptr_t)imports)) return 0;
  wanted->changed += undead_imports_change(info, imports, import_count, wanted->back);
  if (undead_image_has(info, (uintptr_t)&__libc_stack_end))
    wanted->changed += undead_constants_change(info, imports, ALLOCATOR, wanted->back);
  return 0;
}

// The loader's lock is held meanwhile, so nobody else changes images at the same time.
static size_t change(bool back, bool only_new) {
  work wanted = {.back = back, .only_new = only_new};
  int saved = errno;
  dl_iterate_phdr(change_image, &wanted);
  __atomic_store_n(&known_adds, wanted.adds, __ATOMIC_RELEASE);
  errno = saved;
  return wanted.changed;
}

bool undead_attach_others(const undead_replacement *others, size_t count) {
  void *libc = undead_open_library("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (!libc || count > IMPORTS + MOST_OTHERS - import_count) return false;
  for (size_t i = 0; i < count; i++) {
    uintptr_t function = others[i].function ? others[i].function : (uintptr_t)undead_symbol(libc, others[i].name);
    if (function) imports[import_count++] = (undead_import){others[i].name, function, others[i].replacement};
  }
  return true;
}

static void look_for_images(void) {
  if (are_in) change(false, true);
}

size_t undead_attach_hooks(void) {
  undead_look_for_images = look_for_images;
  are_in = true;
  return change(false, false);
}

size_t undead_detach_hooks(void) {
  are_in = false;
  return change(true, false);
}

bool undead_hooks_are_attached(void) { return are_in; }
