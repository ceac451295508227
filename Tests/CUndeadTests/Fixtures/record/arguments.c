// Calls every function that the instrument replaces with the edges of its arguments, and prints what comes back. Run with and
// without the instrument, both must print the same. `other`: blocks are another allocator's, which has no pvalloc.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { UNTOUCHED = 12345 };   // an errno that no function sets
#define MOST_TOUCHED ((size_t)4 << 20)

static const size_t sizes[] = {
    0, 1, 8, 15, 16, 17, 24, 31, 32, 1000, 1032, 1033, 4095, 4096, 4097, 131071, 131072, 1 << 20, (1 << 20) + 1,
    PTRDIFF_MAX - 8192, PTRDIFF_MAX - 4095, PTRDIFF_MAX - 1, PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1, (size_t)PTRDIFF_MAX + 4097,
    SIZE_MAX - 8192, SIZE_MAX - 4096, SIZE_MAX - 4095, SIZE_MAX - 4094, SIZE_MAX - 32, SIZE_MAX - 16, SIZE_MAX - 15, SIZE_MAX - 1,
    SIZE_MAX};
static const size_t alignments[] = {
    0, 1, 2, 3, 4, 7, 8, 12, 16, 24, 31, 32, 33, 48, 64, 100, 256, 4095, 4096, 4097, 1 << 16, (1 << 16) + 1, 1 << 21,
    (size_t)1 << 62, ((size_t)1 << 62) + 1, (size_t)1 << 63, ((size_t)1 << 63) + 1, SIZE_MAX - 1, SIZE_MAX};
static const size_t counts[] = {0, 1, 2, 3, 16, 1000, (size_t)1 << 31, (size_t)1 << 32, (size_t)1 << 33, PTRDIFF_MAX, SIZE_MAX / 2, SIZE_MAX};

static void *(*volatile the_malloc)(size_t) = malloc;
static void *(*volatile the_calloc)(size_t, size_t) = calloc;
static void *(*volatile the_realloc)(void *, size_t) = realloc;
static void *(*volatile the_reallocarray)(void *, size_t, size_t) = reallocarray;
static void *(*volatile the_memalign)(size_t, size_t) = memalign;
static void *(*volatile the_aligned_alloc)(size_t, size_t) = aligned_alloc;
static void *(*volatile the_valloc)(size_t) = valloc;
static void *(*volatile the_pvalloc)(size_t) = pvalloc;
static int (*volatile the_posix_memalign)(void **, size_t, size_t) = posix_memalign;

static bool is_filled(const unsigned char *bytes, size_t size, unsigned char with) {
  for (size_t i = 0; i < size; i++)
    if (bytes[i] != with) return false;
  return true;
}

// What can be said of a block without knowing the allocator; it is filled and freed.
static void show_block(unsigned char *block, size_t size, size_t alignment, int error, bool is_own) {
  printf(" %s errno %d", block ? "block" : "NULL", error);
  if (!block) {
    puts("");
    return;
  }
  printf(" aligned %d", alignment == 0 || (uintptr_t)block % alignment == 0);
  if (is_own) {
    printf(" large enough %d", malloc_usable_size(block) >= size);
    memset(block, 0xA5, size);
    errno = UNTOUCHED;
    free(block);
    printf(" free %d", errno);
  }
  puts("");
}

// Of a block of no bytes nothing is promised: jemalloc does not align it.
static size_t promised(size_t alignment, size_t size) {
  return size && alignment && (alignment & (alignment - 1)) == 0 ? alignment : 0;
}

static void allocate(bool other) {
  for (size_t i = 0; i < COUNT(sizes); i++) {
    size_t size = sizes[i];
    errno = UNTOUCHED;
    void *block = the_malloc(size);
    printf("malloc %zx", size), show_block(block, size, size < 16 ? 8 : 16, errno, true);
    errno = UNTOUCHED;
    block = the_valloc(size);
    printf("valloc %zx", size), show_block(block, size, 4096, errno, !other);
    errno = UNTOUCHED;
    block = the_pvalloc(size);
    printf("pvalloc %zx", size), show_block(block, (size + 4095) & -4096ul, 4096, errno, !other);
  }
  for (size_t i = 0; i < COUNT(counts); i++) {
    for (size_t k = 0; k < COUNT(sizes); k++) {
      size_t total;
      bool overflows = __builtin_mul_overflow(counts[i], sizes[k], &total);
      if (!overflows && total > MOST_TOUCHED && total < PTRDIFF_MAX - 8192) continue;   // there may be as much
      errno = UNTOUCHED;
      unsigned char *block = the_calloc(counts[i], sizes[k]);
      printf("calloc %zx %zx zero %d", counts[i], sizes[k], block ? is_filled(block, total, 0) : -1);
      show_block(block, total, total < 16 ? 8 : 16, errno, true);
      errno = UNTOUCHED;
      block = the_reallocarray(NULL, counts[i], sizes[k]);
      printf("reallocarray NULL %zx %zx", counts[i], sizes[k]), show_block(block, total, total < 16 ? 8 : 16, errno, true);
    }
  }
}

static void align(void) {
  for (size_t i = 0; i < COUNT(alignments); i++) {
    for (size_t k = 0; k < COUNT(sizes); k++) {
      size_t alignment = alignments[i], size = sizes[k], checked = promised(alignment, size);
      errno = UNTOUCHED;
      void *block = the_memalign(alignment, size);
      printf("memalign %zx %zx", alignment, size), show_block(block, size, checked, errno, true);
      errno = UNTOUCHED;
      block = the_aligned_alloc(alignment, size);
      printf("aligned_alloc %zx %zx", alignment, size), show_block(block, size, checked, errno, true);
      block = (void *)&errno;
      errno = UNTOUCHED;
      int code = the_posix_memalign(&block, alignment, size);
      printf("posix_memalign %zx %zx %d", alignment, size, code);
      if (code) printf(" untouched %d errno %d\n", block == (void *)&errno, errno);
      else show_block(block, size, checked, errno, true);
    }
  }
}

// Also of blocks whose resizing fails, which must still be there as they were.
static void resize(void) {
  static const size_t olds[] = {1, 24, 100, 4096, 200000};
  for (size_t i = 0; i < COUNT(olds); i++) {
    for (size_t k = 0; k < COUNT(sizes) * 2; k++) {
      size_t size = sizes[k / 2], kept = size < olds[i] ? size : olds[i];
      unsigned char *old = malloc(olds[i]);
      memset(old, 0x5A, olds[i]);
      errno = UNTOUCHED;
      unsigned char *block = k % 2 ? the_reallocarray(old, size, 1) : the_realloc(old, size);
      int error = errno;
      if (!block && size) printf("realloc failed, old %d: ", is_filled(old, olds[i], 0x5A)), free(old);
      printf("realloc %d %zx %zx kept %d", (int)(k % 2), olds[i], size, block ? is_filled(block, kept, 0x5A) : -1);
      show_block(block, size, size < 16 ? 8 : 16, error, true);
    }
  }
  errno = UNTOUCHED;
  free(NULL);
  printf("free NULL errno %d\n", errno);
}

static void on_signal(int number) { (void)number; }

static const char *name_of(void (*handler)(int)) {
  if (handler == SIG_DFL) return "default";
  if (handler == SIG_IGN) return "ignore";
  if (handler == SIG_ERR) return "error";
  return handler == on_signal ? "ours" : handler == SIG_HOLD ? "hold" : "unknown";
}

typedef void (*handler)(int);
extern handler __sysv_signal(int number, handler wanted);

static void set_signals(void) {
  static const int numbers[] = {INT_MIN, -1, 0, 1, 2, 6, 9, 10, 11, 15, 17, 19, 28, 31, 32, 33, 34, 63, 64, 65, 1000, INT_MAX};
  static const handler handlers[] = {on_signal, SIG_IGN, SIG_DFL, SIG_ERR, SIG_HOLD};
  static handler (*volatile const functions[])(int, handler) = {signal, sysv_signal, __sysv_signal, sigset};
  for (size_t i = 0; i < COUNT(numbers); i++) {
    for (size_t k = 0; k < COUNT(handlers); k++) {
      for (size_t f = 0; f < COUNT(functions); f++) {
        // What SIG_HOLD does to others than sigset is a jump to address 2.
        if (handlers[k] == SIG_HOLD && functions[f] != sigset) continue;
        errno = UNTOUCHED;
        handler old = functions[f](numbers[i], handlers[k]);
        printf("signal %zu %d %s: %s errno %d\n", f, numbers[i], name_of(handlers[k]), name_of(old), errno);
        struct sigaction now = {0};
        errno = UNTOUCHED;
        int result = sigaction(numbers[i], NULL, &now);
        printf("  now %d %s flags %x errno %d\n", result, name_of(now.sa_handler), (unsigned)now.sa_flags & ~0x04000000u, errno);
      }
    }
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old = {0};
    errno = UNTOUCHED;
    int result = sigaction(numbers[i], &action, &old);
    printf("sigaction %d: %d old %s errno %d\n", numbers[i], result, name_of(old.sa_handler), errno);
    errno = UNTOUCHED;
    result = sigaction(numbers[i], NULL, NULL);
    printf("sigaction %d NULL: %d errno %d\n", numbers[i], result, errno);
    signal(numbers[i], SIG_DFL);
  }
  sigset_t blocked;
  sigprocmask(SIG_SETMASK, NULL, &blocked);
  for (int number = 1; number < 65; number++)
    if (sigismember(&blocked, number) == 1) printf("blocked %d\n", number);
}

static void set_limits(void) {
  for (int resource = -1; resource < 18; resource++) {
    struct rlimit limit = {7, 7}, other = {9, 9};
    errno = UNTOUCHED;
    int got = getrlimit(resource, &limit);
    printf("getrlimit %d: %d errno %d", resource, got, errno);
    if (!got) printf(" %lx %lx", limit.rlim_cur, limit.rlim_max);
    errno = UNTOUCHED;
    printf(" set %d", setrlimit(resource, &limit));
    printf(" errno %d", errno);
    other.rlim_cur = 10, other.rlim_max = 5;
    errno = UNTOUCHED;
    printf(" wrong %d", setrlimit(resource, &other));
    printf(" errno %d", errno);
    errno = UNTOUCHED;
    printf(" prlimit %d", prlimit(0, resource, NULL, &other));
    printf(" errno %d", errno);
    errno = UNTOUCHED;
    printf(" of nobody %d", prlimit(INT_MAX, resource, NULL, &other));
    printf(" errno %d\n", errno);
  }
}

static void set_stacks(void) {
  static char memory[1 << 16];
  static const size_t stack_sizes[] = {0, 1, 1024, 2048, sizeof memory, SIZE_MAX};
  static const int flags[] = {0, SS_DISABLE, SS_ONSTACK, 4, -1};
  for (size_t i = 0; i < COUNT(stack_sizes); i++) {
    for (size_t k = 0; k < COUNT(flags); k++) {
      if (stack_sizes[i] == SIZE_MAX && flags[k] == 0) continue;   // the kernel takes it
      stack_t stack = {.ss_sp = memory, .ss_size = stack_sizes[i], .ss_flags = flags[k]}, old = {0};
      errno = UNTOUCHED;
      int result = sigaltstack(&stack, &old);
      printf("sigaltstack %zx %x: %d errno %d\n", stack_sizes[i], flags[k], result, errno);
    }
  }
  stack_t none = {.ss_flags = SS_DISABLE};
  sigaltstack(&none, NULL);
  errno = UNTOUCHED;
  printf("sigaltstack NULL: %d", sigaltstack(NULL, NULL));
  printf(" errno %d\n", errno);
}

static void ask_system(void) {
  static const int locks[] = {0, -1, 8, 1 << 30};
  for (size_t i = 0; i < COUNT(locks); i++) {
    errno = UNTOUCHED;
    int result = mlockall(locks[i]);
    printf("mlockall %x: %d errno %d\n", locks[i], result, errno);
  }
  static const long options[] = {-1, 0, PR_GET_NAME, PR_SET_NAME, PR_GET_DUMPABLE, PR_GET_SECCOMP, PR_SET_SECCOMP, 12345};
  static char name[16] = "arguments";
  void *const pointers[] = {NULL, name, (void *)-4096l};
  for (size_t i = 0; i < COUNT(options); i++) {
    for (size_t k = 0; k < COUNT(pointers); k++) {
      errno = UNTOUCHED;
      long result = prctl((int)options[i], pointers[k], NULL, NULL, NULL);
      printf("prctl %ld %zu: %ld errno %d\n", options[i], k, result, errno);
    }
  }
  static const long numbers[] = {-1, -4095, 99999, SYS_getppid, SYS_close, SYS_seccomp, SYS_execve, SYS_prctl, SYS_rt_sigaction, LONG_MIN, LONG_MAX};
  for (size_t i = 0; i < COUNT(numbers); i++) {
    errno = UNTOUCHED;
    long result = syscall(numbers[i], -1l, -1l, -1l, -1l, -1l, -1l);
    printf("syscall %ld: %d errno %d\n", numbers[i], result < 0, errno);
  }
}

#define TRY(call)                                                 \
  do {                                                            \
    errno = UNTOUCHED;                                            \
    long result = call;                                           \
    printf("%s %s: %ld errno %d\n", #call, shown, result, errno); \
  } while (0)

static char *const none[] = {"none", NULL};

// Pointers that nothing is at: the kernel says so, and nobody else reads there before.
static void give_bad_pointers(void) {
  void *const bad[] = {(void *)8, (void *)-4096l, (void *)((uintptr_t)1 << 62)};
  for (size_t i = 0; i < COUNT(bad); i++) {
    const char *shown = "bad";
    TRY(execve("/bin/true", bad[i], environ));
    TRY(execve("/bin/true", none, bad[i]));
    TRY(execve(bad[i], none, environ));
    TRY(execv("/bin/true", bad[i]));
    TRY(fexecve(0, bad[i], environ));
    TRY(setrlimit(RLIMIT_NOFILE, bad[i]));
    TRY(getrlimit(RLIMIT_NOFILE, bad[i]));
    TRY(prlimit(0, RLIMIT_NOFILE, bad[i], NULL));
    TRY(prlimit(0, RLIMIT_NOFILE, NULL, bad[i]));
    TRY(sigaltstack(bad[i], NULL));
    TRY(sigaltstack(NULL, bad[i]));
    TRY(syscall(SYS_execve, "/bin/true", bad[i], environ));
    TRY(syscall(SYS_execve, bad[i], none, bad[i]));
    TRY(syscall(SYS_execveat, -1, bad[i], bad[i], bad[i], 0));
    TRY(syscall(SYS_rt_sigaction, SIGUSR1, bad[i], NULL, 8));
    TRY(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, bad[i], NULL));
    TRY(syscall(SYS_seccomp, 1, 0, bad[i]));
    TRY(prctl(PR_SET_SECCOMP, 2, bad[i], 0, 0));
  }
}

static void start_programs(void) {
  static const char *const paths[] = {"", "/", "/does/not/exist", "does-not-exist", "/etc/passwd", "/etc/passwd/none", NULL};
  for (size_t i = 0; i < COUNT(paths); i++) {
    const char *path = paths[i], *shown = path ? path : "NULL";
    TRY(execve(path, none, environ));
    TRY(execv(path, none));
    TRY(execl(path, "none", NULL));
    TRY(execle(path, "none", NULL, environ));
    if (!path) continue;   // the C library's own would read it
    TRY(execvp(path, none));
    TRY(execvpe(path, none, environ));
    TRY(execlp(path, "none", NULL));
    pid_t child = -7;
    TRY(posix_spawn(&child, path, NULL, NULL, none, environ));
    TRY(posix_spawnp(&child, path, NULL, NULL, none, environ));
    TRY(posix_spawn(NULL, path, NULL, NULL, none, environ));
    printf("child %d\n", child == -7);
  }
  const char *shown = "";
  int directory = open("/", O_RDONLY);
  TRY(fexecve(-1, none, environ));
  TRY(fexecve(directory, none, environ));
  TRY(fexecve(directory, NULL, environ));
  TRY(fexecve(directory, none, NULL));
}

int main(int count, char **arguments) {
  static char buffer[1 << 22];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  allocate(count > 1 && !strcmp(arguments[1], "other"));
  align();
  resize();
  set_signals();
  set_limits();
  set_stacks();
  ask_system();
  start_programs();
  give_bad_pointers();
  return 0;
}
