// What platform/processor/processor.h and registers.h say of a processor, against the processor (or qemu's idea of it) and glibc. The same
// program runs on x86-64: scripts/check/arm64.
#define _GNU_SOURCE
#include "platform/processor/registers.h"
#include "platform/processor/thread_storage.h"
#include "world/helper/clone.h"
#include "world/threads/note.h"
#include "world/threads/sigaction.h"
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

#define CHECK(condition) check(condition, #condition, __LINE__)
static void check(bool holds, const char *what, int line) {
  if (holds) return;
  failures++;
  printf("line %d: not so: %s\n", line, what);
}

static __thread uint64_t own_variable = 0x5eed;

static void system_calls(void) {
  CHECK(undead_raw3(SYS_getpid, 0, 0, 0) == getpid());
  CHECK(undead_raw3(SYS_close, -1, 0, 0) == -EBADF);
  errno = 0;
  CHECK(undead_raw3(SYS_read, 0, 1, 1) != 1 && errno == 0);
  // All six arguments arrive.
  int file = memfd_create("arguments", 0);
  CHECK(ftruncate(file, 3 * 65536) == 0 && pwrite(file, "third", 5, 2 * 65536) == 5);
  long at = undead_raw6(SYS_mmap, 0, 65536, PROT_READ, MAP_SHARED, file, 2 * 65536);
  CHECK(at > 0 && !memcmp((const void *)at, "third", 5));
  close(file);
  uint64_t mask = 0;
  CHECK(undead_raw4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, 8) == 0);
}

static void code(void) {
#if defined(__x86_64__)
  static const uint8_t call[] = {0x90, 0x90, 0x0f, 0x05, 0x90, 0x90};
#else
  static const uint32_t call[] = {0xd503201f, 0xd4000001, 0xd503201f};
#endif
  const uint8_t *at = (const uint8_t *)call + (sizeof call - UNDEAD_SYSTEM_CALL_BYTES) / 2;
  CHECK(undead_is_system_call(at) && undead_is_beside_system_call(at));
  CHECK(undead_is_beside_system_call(at + UNDEAD_SYSTEM_CALL_BYTES) && !undead_is_system_call(at + UNDEAD_SYSTEM_CALL_BYTES));
}

static void addresses(void) {
  uintptr_t stack = (uintptr_t)&stack;
  void *block = malloc(100);
  CHECK(stack >> UNDEAD_ADDRESS_BITS == 0 && (uintptr_t)block >> UNDEAD_ADDRESS_BITS == 0);
  CHECK(((uintptr_t)block & UNDEAD_REFERENCE_BITS) == (uintptr_t)block);
  uintptr_t sp = undead_stack_pointer();
  CHECK(sp <= stack && stack - sp < 4096);
  uint64_t before = undead_ticks();
  for (volatile int i = 0; i < 100000; i++) undead_spin();
  CHECK(undead_ticks() != before);
  free(block);
}

static void guard(void) {
  extern int _setjmp(uintptr_t *);
  // The kernel's random bytes are not all zero.
#if defined(__x86_64__)
  CHECK(undead_pointer_guard() != 0);
#endif
  (void)_setjmp;
}

// The descriptor's size is what glibc shows debuggers.
static size_t descriptor_bytes(void) {
  extern const uint32_t _thread_db_sizeof_pthread __attribute__((weak));
  return &_thread_db_sizeof_pthread ? _thread_db_sizeof_pthread : 0;
}

static int visit_own_image(struct dl_phdr_info *info, size_t size, void *result) {
  (void)size;
  if (info->dlpi_tls_data) *(struct dl_phdr_info *)result = *info;
  return info->dlpi_tls_data != NULL;   // the first one is the program
}

static void *thread_layout(void *unused) {
  (void)unused;
  uintptr_t tp = undead_thread_pointer();
  size_t bytes = descriptor_bytes(), found = 0;
  CHECK(tp == (uintptr_t)__builtin_thread_pointer());
  CHECK(bytes > 1024 && bytes < 8192);
  uintptr_t descriptor = undead_thread_descriptor(tp, bytes);
  CHECK(descriptor == (uintptr_t)pthread_self());
  CHECK(undead_thread_of_descriptor(descriptor, bytes) == tp);
  CHECK(undead_is_descriptor_head((const uintptr_t *)descriptor));
  uint32_t tid = (uint32_t)syscall(SYS_gettid);
  for (size_t at = 0; at + 4 < bytes; at += 4) found += *(const uint32_t *)(descriptor + at) == tid;
  CHECK(found >= 1);
  struct dl_phdr_info info = {0};
  dl_iterate_phdr(visit_own_image, &info);
  size_t storage = undead_static_storage_bytes(&info, tp), near = 0, far = 0, places = 0, segment = 0;
  uintptr_t low = undead_thread_low(tp, storage, bytes), high = undead_thread_high(tp, storage, bytes);
  CHECK(storage > 0 && storage < 4096);
  CHECK((uintptr_t)&own_variable >= low && (uintptr_t)&own_variable + 8 <= high);
  CHECK(descriptor >= low && descriptor + bytes <= high);
  CHECK(undead_thread_vector(tp) != 0);
  uintptr_t vector = undead_thread_vector(tp);
  CHECK(*(const uintptr_t *)(vector + 16 * info.dlpi_tls_modid) == (uintptr_t)info.dlpi_tls_data);
  CHECK(*(const uintptr_t *)(vector - 16) >= info.dlpi_tls_modid);
  for (int i = 0; i < info.dlpi_phnum; i++)
    if (info.dlpi_phdr[i].p_type == PT_TLS) segment = info.dlpi_phdr[i].p_memsz;
  undead_storage_places(tp, (uintptr_t)info.dlpi_tls_data, segment, &near, &far);
  for (size_t place = near + 8; place <= far; place += 8) {
    uintptr_t at = undead_thread_variable(tp, place);
    CHECK(at >= (uintptr_t)info.dlpi_tls_data && at + 8 <= (uintptr_t)info.dlpi_tls_data + ((segment + 7) & ~7ul));
    places += at == (uintptr_t)&own_variable;
  }
  CHECK(places == 1);
  return NULL;
}

static uint32_t tid_of_child;
static volatile int went_through;
static volatile uintptr_t child_sp;

static int child(void *argument) {
  went_through = argument == NULL && (uintptr_t)__builtin_frame_address(0) % 16 == 0;
  child_sp = undead_stack_pointer();
  return went_through ? 42 : 1;
}

// qemu's user mode makes threads and copies only: a copy then, of which the status is all that comes back.
static void clones(void) {
  enum { BYTES = 1 << 16 };
  char *stack = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  tid_of_child = 1;
  long pid = undead_clone_on_stack(0, stack + BYTES, &tid_of_child, child);
  bool shares = pid > 0;
  if (!shares) pid = undead_clone_on_stack(CLONE_VFORK | SIGCHLD, stack + BYTES, &tid_of_child, child);
  CHECK(pid > 0);
  int status = 0;
  CHECK(waitpid((pid_t)pid, &status, __WALL) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 42);
  CHECK(!shares || (went_through && tid_of_child == 0));
  CHECK(!shares || (child_sp > (uintptr_t)stack && child_sp < (uintptr_t)stack + BYTES));
  munmap(stack, BYTES);
}

static ucontext_t seen;
static volatile uintptr_t handler_frame;
static const uint8_t *vectors;
static size_t vector_bytes;
static uint64_t vector_words[64];

static void note_context(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  seen = *(const ucontext_t *)context;
  vectors = undead_context_vectors(context, &vector_bytes);
  if (vectors) memcpy(vector_words, vectors, sizeof vector_words < vector_bytes ? sizeof vector_words : vector_bytes);
  handler_frame = (uintptr_t)__builtin_frame_address(0);
}

__attribute__((noinline)) static void raise_with_marks(void) {
  const uint64_t mark = 0x1122334455667788;
  long pid = getpid(), tid = syscall(SYS_gettid);
#if defined(__x86_64__)
  __asm__ volatile("movq %3, %%xmm7\n\tmov %3, %%r12\n\tsyscall"
                   :: "a"(SYS_tgkill), "D"(pid), "S"(tid), "r"(mark), "d"((long)SIGUSR1)
                   : "rcx", "r11", "r12", "xmm7", "memory");
#else
  register long x8 __asm__("x8") = SYS_tgkill;
  register long x0 __asm__("x0") = pid;
  register long x1 __asm__("x1") = tid;
  register long x2 __asm__("x2") = SIGUSR1;
  __asm__ volatile("fmov d7, %4\n\tmov x21, %4\n\tsvc #0"
                   : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(mark) : "x21", "v7", "memory");
#endif
}

static void contexts(void) {
  undead_signal_action action = {.handler = note_context, .flags = SA_SIGINFO | UNDEAD_SA_RESTORER,
                                 .restorer = undead_signal_return, .mask = 1ull << (SIGUSR2 - 1)}, before;
  CHECK(undead_set_action(SIGUSR1, &action, NULL) == 0);
  CHECK(undead_set_action(SIGUSR1, NULL, &before) == 0 && before.handler == note_context && before.mask == action.mask);
  raise_with_marks();
  uintptr_t own = (uintptr_t)__builtin_frame_address(0), pc = undead_context_pc(&seen);
  CHECK(undead_context_sp(&seen) > handler_frame && undead_context_sp(&seen) <= own);
  CHECK(pc >= (uintptr_t)raise_with_marks && pc < (uintptr_t)raise_with_marks + 256);
  CHECK(undead_is_beside_system_call((const uint8_t *)pc));
  CHECK(undead_context_fp(&seen) == undead_context_general(&seen, UNDEAD_FP));
  static const struct {
    unsigned first, count;
  } kept[] = UNDEAD_KEPT_REGISTERS;
  bool marked = false;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    for (unsigned k = kept[i].first; k < kept[i].first + kept[i].count; k++)
      marked |= undead_context_general(&seen, (int)k) == 0x1122334455667788;
  CHECK(marked);
  marked = false;
  for (size_t i = 0; i < 64; i++) marked |= vector_words[i] == 0x1122334455667788;
  CHECK(vectors && marked);
  undead_context_set_result(&seen, -EPERM);
  CHECK(undead_context_general(&seen, 0) == (uintptr_t)-EPERM);
}

static void function_of_context(void) {}

static void prepared_contexts(void) {
  static char stack[16384];
  ucontext_t context;
  CHECK(getcontext(&context) == 0);
  context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
  context.uc_link = NULL;
  makecontext(&context, function_of_context, 0);
  CHECK(undead_context_return(&context, (uintptr_t)stack, sizeof stack) != 0);
}

// qemu's user mode has no ptrace: then it is not told.
static bool traced_threads(void) {
  int pipes[2];
  CHECK(pipe(pipes) == 0);
  pid_t pid = fork();
  if (pid == 0) {
    char byte;
    _exit(read(pipes[0], &byte, 1) == 1 ? 0 : 1);
  }
  bool can = ptrace(PTRACE_SEIZE, pid, 0, 0) == 0 && ptrace(PTRACE_INTERRUPT, pid, 0, 0) == 0;
  int status;
  if (can && waitpid(pid, &status, 0) == pid) {
    undead_user_registers registers;
    memset(&registers, 0, sizeof registers);
    struct iovec area = {&registers, sizeof(struct user_regs_struct)};
    CHECK(ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &area) == 0 && area.iov_len == sizeof(struct user_regs_struct));
#ifdef UNDEAD_THREAD_POINTER_SET
    area = (struct iovec){&registers.tp, sizeof registers.tp};
    CHECK(ptrace(PTRACE_GETREGSET, pid, UNDEAD_THREAD_POINTER_SET, &area) == 0);
#endif
    undead_stopped_thread thread = {0};
    undead_world_note(&thread, &registers);
    CHECK(thread.tp == undead_thread_pointer());
    CHECK(undead_is_beside_system_call((const uint8_t *)thread.pc));
    CHECK(thread.sp > (uintptr_t)&status - 65536 && thread.sp < (uintptr_t)&status + 65536);
    static uint8_t bytes[UNDEAD_VECTOR_BYTES];
    area = (struct iovec){bytes, sizeof bytes};
    CHECK(ptrace(PTRACE_GETREGSET, pid, UNDEAD_VECTOR_SET, &area) == 0 && area.iov_len > 0);
  }
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  return can;
}

_Static_assert(sizeof(undead_user_registers) == UNDEAD_USER_WORDS * 8, "as many words as it has registers");

int main(void) {
  system_calls();
  code();
  addresses();
  guard();
  thread_layout(NULL);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, thread_layout, NULL) == 0 && pthread_join(thread, NULL) == 0);
  clones();
  contexts();
  prepared_contexts();
  bool traced = traced_threads();
  printf("%s%s\n", failures ? "FAILED" : "as it should be", traced ? "" : " (registers by ptrace: not tested)");
  return failures != 0;
}
