// Captures on stacks that are not the thread's own: contexts, alternate signal stacks, stacks made by hand, and what becomes of
// their memory. Each is compared with a walk that asks the kernel for every page. Linked with the sources of the instrument.
#define _GNU_SOURCE
#include "../record/check.h"
#include "frames.h"
#include "platform/memory/memory.h"
#include "platform/memory/thread_state.h"
#include "unwind/backtrace.h"
#include "unwind/capture/capture_x86_64.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define FRAMES 200
#define PAGE 4096ul

static volatile unsigned long captures, wrong, recognised;
static volatile int sink;

static __attribute__((noinline)) void capture_and_check(void) {
  const uintptr_t *frame = __builtin_frame_address(0);
  uintptr_t found[FRAMES];
  uint32_t indices[FRAMES], count = 0;
  uint32_t id = undead_backtrace_capture(frame[1], (uintptr_t)(frame + 2), frame[0]);
  const undead_unwind_cache *cache = undead_thread.unwind_cache;
  bool is_whole = cache && cache->holds && cache->followed->sp == ~(uintptr_t)(frame + 2);
  uint32_t length = undead_backtrace_frames(id, found, FRAMES);
  undead_walk(&undead_thread, (undead_frame){frame[1], (uintptr_t)(frame + 2), frame[0]}, indices, FRAMES, &count);
  captures++;
  recognised += is_whole;
  bool equal = length == count && count > 0;
  for (uint32_t index = 0; equal && index < count; index++) equal = found[index] == undead_pcs[indices[index]].pc;
  if (!equal) wrong++;
}

static __attribute__((noinline)) int descend(int depth, unsigned seed) {
  capture_and_check();
  int below = depth > 0 ? descend(depth - 1 - (int)(seed & 1), seed / 2 + 77) : 0;
  if (seed & 2) capture_and_check();
  return below + 1;
}

// Both calls leave the stack alike.
static __attribute__((noinline)) void either(int way, int depth) {
  if (way) descend(depth, 0);
  else descend(depth, 0);
  sink++;
}

static __attribute__((noinline)) void bottom(int depth) {
  if (depth > 0) bottom(depth - 1);
  else capture_and_check();
  sink++;
}

static __attribute__((noinline)) void either_bottom(int way, int depth) {
  if (way) bottom(depth);
  else bottom(depth);
  sink++;
}

static __attribute__((noinline)) void realigned(int depth) {
  _Alignas(64) volatile char buffer[64];
  buffer[depth & 63] = 1;
  either(depth & 1, depth);
}

// --- Contexts ---

static ucontext_t outside;
static ucontext_t *current;

static void leave(void) { swapcontext(current, &outside); }

static void enter(ucontext_t *context) {
  current = context;
  swapcontext(&outside, context);
}

static void prepare(ucontext_t *context, void *stack, size_t size, void (*function)(void)) {
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = size;
  context->uc_link = &outside;
  makecontext(context, function, 0);
}

// With nothing that can be read above it and below it.
static char *map_stack(size_t bytes) {
  char *memory = mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory + PAGE, bytes, PROT_READ | PROT_WRITE);
  return memory + PAGE;
}

static void wander(void) {
  for (int round = 0; round < 100; round++) {
    capture_and_check();
    either(round & 1, round % 9);
    either(round / 10 & 1, 60);   // over more than a page
    if (round % 5 == 0) realigned(round % 3);
    if (round % 7 == 0) descend(400, 0);   // more frames than are kept
    if (round % 20 == 0) bottom(1500);
    leave();
  }
}

static void wander_about(void) {
  enum { CONTEXTS = 4 };
  static ucontext_t contexts[CONTEXTS];
  size_t size = 1 << 18;
  for (int index = 0; index < CONTEXTS; index++)
    prepare(&contexts[index], index % 2 ? malloc(size) : map_stack(size), size, wander);
  for (int round = 0; round < 101; round++)
    for (int index = 0; index < CONTEXTS; index++) {
      either(index & 1, 3);
      enter(&contexts[index]);
    }
}

// Deep in a stack of which the outer part is gone when another one, which begins further in, comes to its place.
static char *shared_stack;
static uintptr_t inner_place;

static __attribute__((noinline)) void capture_within(uintptr_t place) {
  while ((uintptr_t)__builtin_frame_address(0) > place) {
    volatile char *room = __builtin_alloca(64);
    room[0] = 1;
    if ((uintptr_t)room < place + 512) break;
  }
  bottom(3);
  sink++;
}

static __attribute__((noinline)) void at_the_place(void) {
  for (volatile int round = 0; round < 3; round++) capture_within(inner_place);
}

static void outlive_stacks(void) {
  size_t size = 1 << 16;
  static ucontext_t large, small;
  shared_stack = map_stack(size);
  inner_place = (uintptr_t)shared_stack + 3 * PAGE;
  for (int round = 0; round < 4; round++) {
    prepare(&large, shared_stack, size, at_the_place);
    enter(&large);
    munmap(shared_stack + 4 * PAGE, size - 4 * PAGE);
    prepare(&small, shared_stack, 4 * PAGE, at_the_place);
    enter(&small);
    mmap(shared_stack + 4 * PAGE, size - 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
}

// --- Stacks that begin with code made by hand ---

// Calls `function` on a stack that ends at `top`, by the code `begin`.
void call_on(void *top, void (*function)(void), void (*begin)(void));
// What each of them says of its frame is not so: that it was called, where there is nothing; the same far out, by its
// code or by its tables, with an rbp that nobody saved.
void begin_called(void);
void begin_far(void);
void begin_guessed(void);
void begin_framed(void);
extern const char stop_here[];   // an outermost function
__asm__(
    ".text\n"
    "call_on:\n"
    ".cfi_startproc\n"
    FRAME_BY("rbp")
    "  push %rbx\n"
    "  push %rbx\n"
    "  mov %rsp, kept(%rip)\n"
    "  mov %rdi, %rsp\n"
    "  mov %rsi, %rax\n"
    "  xor %ebp, %ebp\n"
    "  jmp *%rdx\n"
    "return_from:\n"
    "  mov kept(%rip), %rsp\n"
    "  pop %rbx\n"
    "  pop %rbx\n"
    "  pop %rbp\n"
    RETURN
    "  nop\n"
    "begin_called:\n"
    ".cfi_startproc\n"
    "  call *%rax\n"
    "  jmp return_from\n"
    ".cfi_endproc\n"
    "  nop\n"
    "begin_framed:\n"
    ".cfi_startproc\n"
    "  lea 16(%rsp), %rbp\n"
    "  call *%rax\n"
    "  jmp return_from\n"
    ".cfi_endproc\n"
    "  nop\n"
    "begin_far:\n"
    ".cfi_startproc\n"
    ".cfi_def_cfa_offset 8208\n"
    ".cfi_offset %rbp, -4104\n"
    "  call *%rax\n"
    "  jmp return_from\n"
    ".cfi_endproc\n"
    "  nop\n"
    "begin_guessed:\n"
    "  call *%rax\n"
    "  add $4104, %rsp\n"
    "  ret\n"
    "  nop\n"
    ".cfi_startproc\n"
    ".cfi_undefined %rip\n"
    "  nop\n"
    "stop_here:\n"
    "  jmp return_from\n"
    ".cfi_endproc\n"
    ".data\n"
    "kept: .quad 0\n"
    ".text\n");

static __attribute__((noinline)) void some_captures(void) {
  for (int round = 0; round < 4; round++) either_bottom(round & 1, 5);
}

static void capture_on(char *top, void (*begin)(void)) {
  call_on(top, some_captures, begin);
  call_on(top, capture_and_check, begin);
}

static char *page_to_hide;

static __attribute__((noinline)) void hide_and_capture(void) {
  some_captures();
  mprotect(page_to_hide, PAGE, PROT_NONE);
  some_captures();
  mprotect(page_to_hide, PAGE, PROT_READ | PROT_WRITE);
}

// What is read behind a stack's end could be read the last time, and cannot be read now.
static void end_where_nothing_is(void) {
  char *stack = map_stack(8 * PAGE), *top = stack + 6 * PAGE;
  for (int round = 0; round < 6; round++) {
    mprotect(top, 2 * PAGE, PROT_READ | PROT_WRITE);
    *(uintptr_t *)top = round < 3 ? 0 : (uintptr_t)stack;   // nothing, or no code
    capture_on(top, begin_called);
    ((uintptr_t *)top)[511] = (uintptr_t)stop_here;
    page_to_hide = top;
    call_on(top - 16, hide_and_capture, begin_guessed);
    mprotect(top, PAGE, PROT_NONE);
    capture_on(top, begin_called);
    capture_on(top - 16, begin_far);
    mprotect(top + PAGE, PAGE, PROT_NONE);
  }
}

// On a page that was read before the end is certain, but may change.
static void end_on_the_page(void) {
  char *stack = map_stack(2 * PAGE), *top = stack + 2 * PAGE - 64;
  uintptr_t *words = (uintptr_t *)top;
  for (int round = 0; round < 8; round++) {
    words[0] = round & 1 ? (uintptr_t)stop_here : 0;
    capture_on(top, begin_called);
    words[0] = (uintptr_t)stack;
    words[2] = 0;
    words[3] = (uintptr_t)stop_here;
    capture_on(top, begin_called);
    capture_on(top, begin_framed);
  }
}

// --- Signal handlers ---

static volatile int handled, handler_depth;

static void on_signal(int number) {
  (void)number;
  handled++;
  capture_and_check();
  either(handled & 1, handler_depth);
}

static void use_alternate_stack(void *memory, size_t size) {
  stack_t stack = {.ss_sp = memory, .ss_size = size};
  CHECK(sigaltstack(&stack, NULL) == 0);
}

// What is interrupted differs while the handler's frames lie where they lay.
static __attribute__((noinline)) void be_interrupted(int way, int depth) {
  if (depth > 0) be_interrupted(way, depth - 1);
  else if (way) raise(SIGUSR1);
  else raise(SIGUSR1);
  sink++;
}

static void interrupt_often(void) {
  for (int round = 0; round < 200; round++) {
    handler_depth = round / 50;
    be_interrupted(round & 1, round / 20 % 4);
    if (round % 3 == 0) either(round & 1, 6);
  }
}

static __attribute__((noinline)) void interrupt_in_frame(void) {
  char stack[1 << 16];
  use_alternate_stack(stack, sizeof stack);
  interrupt_often();
  stack_t none = {.ss_flags = SS_DISABLE};
  sigaltstack(&none, NULL);
}

// The stack pointer of what is interrupted is none.
void trap_without_stack(void);
__asm__(
    ".text\n"
    "trap_without_stack:\n"
    ".cfi_startproc\n"
    "  mov %rsp, %rax\n"
    "  mov $4096, %esp\n"
    "  int3\n"
    "  mov %rax, %rsp\n"
    "  ret\n"
    ".cfi_endproc\n");

// push %rbp; mov %rsp, %rbp; int3; pop %rbp; ret: code of no image, which may have no frame yet.
static const unsigned char made_code[] = {0x55, 0x48, 0x89, 0xe5, 0xcc, 0x5d, 0xc3};

static void interrupt_odd_code(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  sigaction(SIGTRAP, &action, NULL);
  void *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, made_code, sizeof made_code);
  for (int round = 0; round < 5; round++) {
    trap_without_stack();
    ((void (*)(void))(uintptr_t)code)();
  }
}

static void interrupt_on_alternate_stacks(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  interrupt_in_frame();
  size_t size = 1 << 16;
  use_alternate_stack(malloc(size), size);
  interrupt_often();
  use_alternate_stack(map_stack(size), size);
  interrupt_often();
  interrupt_odd_code();
  // A handler on a context's stack, and one that interrupts a context.
  static ucontext_t context;
  prepare(&context, map_stack(1 << 17), 1 << 17, interrupt_often);
  enter(&context);
  action.sa_flags = 0;
  sigaction(SIGUSR1, &action, NULL);
  prepare(&context, map_stack(1 << 17), 1 << 17, interrupt_often);
  enter(&context);
}

// Captures are interrupted at any moment by others.
static void be_interrupted_by_timer(void) {
  handled = 0;
  unsigned seed = 1;
  while (handled < 100) {
    seed = seed * 1664525u + 1013904223u;
    descend((int)(seed >> 27), seed >> 3);
  }
}

static void interrupt_by_timer(void) {
  // Handlers on the thread's own stack, which others interrupt.
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_NODEFER};
  sigaction(SIGVTALRM, &action, NULL);
  handler_depth = 1;
  struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  static ucontext_t context;
  prepare(&context, map_stack(1 << 17), 1 << 17, be_interrupted_by_timer);
  setitimer(ITIMER_VIRTUAL, &often, NULL);
  be_interrupted_by_timer();
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGVTALRM, &action, NULL);
  be_interrupted_by_timer();
  enter(&context);
  setitimer(ITIMER_VIRTUAL, &never, NULL);
}

// --- Questions to the kernel ---

static void filter_calls(struct sock_filter *filter, unsigned short length) {
  struct sock_fprog program = {length, filter};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

#define ARGUMENT(number) offsetof(struct seccomp_data, args[number])
#define LOAD(place) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place)
#define IF_EQUAL(value, skipped, skipped_else) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, skipped, skipped_else)
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, action)

// Whoever asks for a page (platform/memory/memory.h), in either way, is ended.
static void forbid_questions(void) {
  struct sock_filter filter[] = {
      LOAD(offsetof(struct seccomp_data, nr)),
      IF_EQUAL(SYS_futex, 3, 0),
      IF_EQUAL(SYS_rt_sigprocmask, 0, 5),
      LOAD(ARGUMENT(0)),
      IF_EQUAL(UNDEAD_NO_SIGNAL_CHANGE, 2, 3),
      LOAD(ARGUMENT(2)),
      IF_EQUAL(UNDEAD_NO_SIGNAL_CHANGE, 0, 1),
      ANSWER(SECCOMP_RET_KILL_PROCESS),
      ANSWER(SECCOMP_RET_ALLOW),
  };
  filter_calls(filter, sizeof filter / sizeof *filter);
}

// The shorter question is refused: the other one is asked.
static void ask_otherwise(void) {
  struct sock_filter filter[] = {
      LOAD(offsetof(struct seccomp_data, nr)),
      IF_EQUAL(SYS_rt_sigprocmask, 0, 3),
      LOAD(ARGUMENT(0)),
      IF_EQUAL(UNDEAD_NO_SIGNAL_CHANGE, 0, 1),
      ANSWER(SECCOMP_RET_ERRNO | EPERM),
      ANSWER(SECCOMP_RET_ALLOW),
  };
  uintptr_t stack = (uintptr_t)map_stack(2 * PAGE);
  for (int filtered = 0; filtered < 2; filtered++) {
    CHECK(undead_page_is_readable(stack) && !undead_page_is_readable(stack - PAGE));
    CHECK(undead_border_is_readable(stack + PAGE) && !undead_border_is_readable(stack) && !undead_border_is_readable(stack + 2 * PAGE));
    if (!filtered) filter_calls(filter, sizeof filter / sizeof *filter);
  }
}

static __attribute__((noinline)) uint32_t capture_alone(void) {
  const uintptr_t *frame = __builtin_frame_address(0);
  return undead_backtrace_capture(frame[1], (uintptr_t)(frame + 2), frame[0]);
}

static __attribute__((noinline)) uint32_t capture_at(int depth) {
  volatile uint32_t id = depth > 0 ? capture_at(depth - 1) : capture_alone();
  return id;
}

// All frames lie on the page on which the capture runs.
static void ask_nothing(void) {
  uint32_t first = capture_at(3);
  forbid_questions();
  CHECK(capture_at(3) != first);   // a second place
  for (volatile int round = 0; round < 6; round++) first = capture_at(round);
}

static void in_a_child(void (*function)(void)) {
  pid_t child = fork();
  if (child == 0) {
    static ucontext_t context;
    failures = 0;
    prepare(&context, map_stack(1 << 17), 1 << 17, function);
    enter(&context);
    _exit(failures != 0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
  // A worker thread that starts this hands down its signal mask.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  capture_and_check();
  wander_about();
  outlive_stacks();
  end_where_nothing_is();
  end_on_the_page();
  interrupt_on_alternate_stacks();
  interrupt_by_timer();
  in_a_child(ask_nothing);
  in_a_child(ask_otherwise);
  fprintf(stderr, "%lu captures, %lu wrong, %lu recognised as a whole\n", captures, wrong, recognised);
  return wrong != 0 || failures != 0;
}
