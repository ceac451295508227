// Functions that are in libc.so.6 since 2.34 are referred to weakly, by the version that they had in libpthread and libdl,
// and which later versions of libc.so.6 still have. What is newer than 2.26 altogether is found by name, once, when the
// library is initialised or earlier if somebody asks: a reference to it would carry a version that older systems lack.
#include "platform/images/c_library.h"
#include "platform/images/imports.h"
#include "platform/memory/own_data.h"
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_VERSION "GLIBC_2.2.5"
#define SECOND_VERSION "GLIBC_2.3.3"
#define BEFORE_2_34(name, version)                                \
  __asm__(".symver " #name "," #name "@" version);                \
  extern __typeof__(name) name __attribute__((weak))

BEFORE_2_34(dlsym, FIRST_VERSION);
BEFORE_2_34(dlopen, FIRST_VERSION);
BEFORE_2_34(dlerror, FIRST_VERSION);
BEFORE_2_34(dladdr, FIRST_VERSION);
BEFORE_2_34(dladdr1, SECOND_VERSION);
BEFORE_2_34(pthread_create, FIRST_VERSION);
BEFORE_2_34(pthread_join, FIRST_VERSION);
BEFORE_2_34(pthread_detach, FIRST_VERSION);
BEFORE_2_34(pthread_key_create, FIRST_VERSION);
BEFORE_2_34(pthread_setspecific, FIRST_VERSION);
BEFORE_2_34(pthread_getattr_np, FIRST_VERSION);
BEFORE_2_34(pthread_attr_getstack, FIRST_VERSION);
BEFORE_2_34(pthread_attr_getguardsize, FIRST_VERSION);
BEFORE_2_34(pthread_attr_setstacksize, FIRST_VERSION);

#define HAS(function) (function != NULL)

static const char unknown;
const char *undead_single_threaded = &unknown;

typedef const char *(*describe_function)(int);
static struct {
  const char *single_threaded;
  undead_find_object_function find_object;
  describe_function describe;
} newer;
static bool is_prepared;

// With UNDEAD_AS_GLIBC_2_26 tests see what becomes of the rest where nothing newer exists.

// The order of dl_iterate_phdr is that in which the loader looks for symbols.
typedef struct {
  const char *name;
  bool after_own, own_is_passed;
  uintptr_t found;
  size_t size;
} search;

static int look_in_image(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  search *wanted = context;
  bool counts = !wanted->after_own || wanted->own_is_passed;
  wanted->own_is_passed |= undead_image_has(info, (uintptr_t)&unknown);
  if (counts) wanted->found = undead_image_symbol(info, wanted->name, &wanted->size);
  return wanted->found != 0;
}

// Neither allocates nor leaves an error for dlerror.
static uintptr_t find_symbol(const char *name, bool after_own) {
  search wanted = {.name = name, .after_own = after_own};
  dl_iterate_phdr(look_in_image, &wanted);
  return wanted.found;
}

static void prepare(void) {
  if (__atomic_load_n(&is_prepared, __ATOMIC_ACQUIRE)) return;
#ifndef UNDEAD_AS_GLIBC_2_26
  newer.single_threaded = (const char *)find_symbol("__libc_single_threaded", false);
  newer.find_object = (undead_find_object_function)find_symbol("_dl_find_object", false);
  newer.describe = (describe_function)find_symbol("strerrordesc_np", false);
#endif
  if (newer.single_threaded) __atomic_store_n(&undead_single_threaded, newer.single_threaded, __ATOMIC_RELEASE);
  __atomic_store_n(&is_prepared, true, __ATOMIC_RELEASE);
}

__attribute__((constructor(101))) static void prepare_early(void) { prepare(); }

undead_find_object_function undead_find_object(void) {
  if (__builtin_expect(!__atomic_load_n(&is_prepared, __ATOMIC_ACQUIRE), 0)) prepare();
  return newer.find_object;
}

#ifdef UNDEAD_AS_GLIBC_2_26
static bool dlsym_allocates(void) { return true; }
#else
// Before 2.34 a thread's first dlsym makes room for an error: not to be used in the hooks of the allocator.
static bool dlsym_allocates(void) {
  const char *version = gnu_get_libc_version();   // "2." and two digits since 2.10
  return version[2] < '3' || (version[2] == '3' && version[3] < '4');
}
#endif

void *undead_symbol(void *handle, const char *name) {
  bool by_scope = handle == RTLD_NEXT || handle == RTLD_DEFAULT;
  if (HAS(dlsym) && !(by_scope && dlsym_allocates())) return dlsym(handle, name);
  return by_scope ? (void *)find_symbol(name, handle == RTLD_NEXT) : NULL;
}

uintptr_t undead_next_function(const char *name, size_t *size) {
  search wanted = {.name = name, .after_own = true};
  dl_iterate_phdr(look_in_image, &wanted);
  *size = wanted.size;
  return wanted.found;
}

void *undead_open_library(const char *name, int mode) { return HAS(dlopen) ? dlopen(name, mode) : NULL; }

void undead_forget_symbol_error(void) {
  if (HAS(dlerror)) dlerror();
}

bool undead_find_address(const void *address, Dl_info *info) { return HAS(dladdr) && dladdr(address, info) != 0; }

bool undead_find_symbol_at(const void *address, Dl_info *info, const void **elf_symbol) {
  *elf_symbol = NULL;
  return HAS(dladdr1) && dladdr1(address, info, (void **)elf_symbol, RTLD_DL_SYMENT) != 0 && *elf_symbol;
}

int undead_thread_start(pthread_t *thread, size_t stack_bytes, bool detached, void *(*function)(void *), void *context) {
  if (!HAS(pthread_create)) return EAGAIN;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (detached) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_bytes) pthread_attr_setstacksize(&attributes, stack_bytes);
  int error = pthread_create(thread, &attributes, function, context);
  pthread_attr_destroy(&attributes);
  return error;
}

void undead_thread_join(pthread_t thread) {
  if (HAS(pthread_join)) pthread_join(thread, NULL);
}

void undead_thread_detach(pthread_t thread) {
  if (HAS(pthread_detach)) pthread_detach(thread);
}

bool undead_own_stack(undead_thread_stack *stack) {
  pthread_attr_t attributes;
  void *low = NULL;
  if (!HAS(pthread_getattr_np) || pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  bool known = pthread_attr_getstack(&attributes, &low, &stack->size) == 0;
  pthread_attr_getguardsize(&attributes, &stack->guard);
  pthread_attr_destroy(&attributes);
  stack->low = (uintptr_t)low;
  return known;
}

bool undead_thread_key_create(pthread_key_t *key, void (*at_end)(void *)) {
  return !HAS(pthread_key_create) || pthread_key_create(key, at_end) == 0;
}

bool undead_thread_key_set(pthread_key_t key, const void *value) {
  return !HAS(pthread_setspecific) || pthread_setspecific(key, value) == 0;
}

// The mask of the thread, whatever the name says: pthread_sigmask is in libpthread before 2.32.
void undead_change_signal_mask(int how, const sigset_t *set, sigset_t *before) { sigprocmask(how, set, before); }

// stat and fstat are symbols since 2.33 only; the kernel's structure is the library's.
bool undead_file_status(const char *path, struct stat *status) {
  return syscall(SYS_newfstatat, AT_FDCWD, path, status, 0) == 0;
}

bool undead_descriptor_status(int descriptor, struct stat *status) {
  return syscall(SYS_newfstatat, descriptor, "", status, AT_EMPTY_PATH) == 0;
}

int undead_memory_file(const char *name) { return (int)syscall(SYS_memfd_create, name, 1u /* MFD_CLOEXEC */); }

const char *undead_error_text(int error) {
  prepare();
  const char *text = newer.describe ? newer.describe(error) : strerror(error);
  return text ? text : "unknown error";
}
