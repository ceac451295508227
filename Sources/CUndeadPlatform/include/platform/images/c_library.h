// What the instrument uses of the C library that not every glibc from 2.26 on has in libc.so.6: this is the one place that
// knows. A library that is newer than 2.26 in one of its symbols does not start on an older system at all, so such functions
// are looked for when the program runs (scripts/check/glibc-floor lists what is needed, and fails above 2.26).
//
// Before glibc 2.34 threads and the loader's functions are in libraries of their own, libpthread and libdl. The instrument
// does not bring them into a program: one without libpthread has one thread and no Swift code in it. What needs a thread then
// fails as if the system had none left, and symbols are found by the tables of the loaded images instead.
#pragma once
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#pragma GCC visibility push(hidden)

// dlsym for RTLD_NEXT, RTLD_DEFAULT and what undead_open_library returned. Allocates only if it finds nothing.
void *undead_symbol(void *handle, const char *name);
// Likewise for RTLD_NEXT, with the length of its code; 0 if there is none.
uintptr_t undead_next_function(const char *name, size_t *size);
void *undead_open_library(const char *name, int mode);   // dlopen; NULL also without one
void undead_forget_symbol_error(void);                   // dlerror, for an error that is not the program's
#ifdef __USE_GNU   // Dl_info
bool undead_find_address(const void *address, Dl_info *info);                             // dladdr
bool undead_find_symbol_at(const void *address, Dl_info *info, const void **elf_symbol);   // dladdr1
#endif

// pthread_create with a stack of that size, 0 for the usual one. EAGAIN without libpthread.
int undead_thread_start(pthread_t *thread, size_t stack_bytes, bool detached, void *(*function)(void *), void *context);
void undead_thread_join(pthread_t thread);
void undead_thread_detach(pthread_t thread);

typedef struct {
  uintptr_t low;
  size_t size, guard;
} undead_thread_stack;

// The calling thread's stack; false if it is not known. May allocate.
bool undead_own_stack(undead_thread_stack *stack);

// pthread_key_create and pthread_setspecific. Without libpthread no thread ends before the process, and nothing is done.
bool undead_thread_key_create(pthread_key_t *key, void (*at_end)(void *));
bool undead_thread_key_set(pthread_key_t key, const void *value);

// The calling thread's mask; `before` may be NULL.
void undead_change_signal_mask(int how, const sigset_t *set, sigset_t *before);

bool undead_file_status(const char *path, struct stat *status);   // false, with errno
bool undead_descriptor_status(int descriptor, struct stat *status);
int undead_memory_file(const char *name);                         // memfd_create with MFD_CLOEXEC; -1, with errno

// In English where the C library can say so (2.32).
const char *undead_error_text(int error);

// Not 0 while the process has one thread, and nobody but a signal handler can come between (__libc_single_threaded, 2.32).
// Always 0 where nothing shows.
extern const char *undead_single_threaded;
static inline bool undead_is_single_threaded(void) { return *(const volatile char *)undead_single_threaded != 0; }

// The structure of <dlfcn.h> that older headers lack.
typedef struct {
  unsigned long long flags;
  void *map_start, *map_end, *link_map, *eh_frame;
  unsigned long long reserved[8];
} undead_found_object;

// _dl_find_object (2.35), NULL if there is none. Async-signal-safe, without a lock.
typedef int (*undead_find_object_function)(void *, undead_found_object *);
undead_find_object_function undead_find_object(void);

#pragma GCC visibility pop
