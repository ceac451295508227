// Stacks that the chain cannot follow are recognised as a whole, and told from those that differ in one word. They are made by
// hand, of every kind of frame, in memory that is no stack; then each of their words is changed, and each page taken away. All is
// compared with a walk that asks the kernel for every page. Linked with the sources of the instrument.
#define _GNU_SOURCE
#include "../record/check.h"
#include "frames.h"
#include "platform/memory/thread_state.h"
#include "unwind/backtrace.h"
#include "unwind/capture/capture_x86_64.h"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define FRAMES 200
#define PAGE 4096ul
#define PAGES 4ul

static unsigned long captures, wrong, recognised;

// `whole`: what it may be, too.
static __attribute__((noinline)) uint32_t capture_and_compare(undead_frame start, uint32_t whole) {
  uintptr_t found[FRAMES];
  uint32_t indices[FRAMES], count = 0;
  uint32_t id = undead_backtrace_capture(start.pc, start.sp, start.bp);
  recognised += ((undead_unwind_cache *)undead_thread.unwind_cache)->holds;
  uint32_t length = undead_backtrace_frames(id, found, FRAMES);
  undead_walk(&undead_thread, start, indices, FRAMES, &count);
  captures++;
  bool equal = length == count;
  for (uint32_t index = 0; equal && index < count; index++) equal = found[index] == undead_pcs[indices[index]].pc;
  wrong += !equal && id != whole;
  return id;
}

// --- Frames, whose code is never run: each a function with two places that a call returns to ---

#define FUNCTION(name, tables) \
  #name "_begin:\n.cfi_startproc\n" tables "  nop\n  nop\n" #name "_1:\n  nop\n  nop\n" #name "_2:\n  nop\n.cfi_endproc\n  nop\n"
#define PLACES_OF(name) name##_1[], name##_2[]
extern const char PLACES_OF(small), PLACES_OF(large), PLACES_OF(saving), PLACES_OF(framed), PLACES_OF(realigned), PLACES_OF(by_rbx),
    PLACES_OF(by_r12), PLACES_OF(outermost);
__asm__(".text\n"
        FUNCTION(small, ".cfi_def_cfa %rsp, 32\n")
        FUNCTION(large, ".cfi_def_cfa %rsp, 1536\n")
        FUNCTION(saving, ".cfi_def_cfa %rsp, 64\n.cfi_offset %rbx, -16\n.cfi_offset %r12, -24\n.cfi_offset %rbp, -40\n")
        FUNCTION(framed, ".cfi_def_cfa %rbp, 16\n.cfi_offset %rbp, -16\n.cfi_offset %r12, -24\n")
        // The CFA is the word at rbp - 8; rbp is saved at rbp, rbx at rbp - 16.
        FUNCTION(realigned, ".cfi_escape 0xf,0x3,0x76,0x78,0x6\n.cfi_escape 0x10,0x6,0x2,0x76,0\n.cfi_escape 0x10,0x3,0x2,0x76,0x70\n")
        FUNCTION(by_rbx, ".cfi_def_cfa %rbx, 8\n.cfi_offset %rbx, -24\n")
        FUNCTION(by_r12, ".cfi_def_cfa %r12, 16\n.cfi_offset %r12, -16\n.cfi_offset %rbp, -32\n")
        FUNCTION(outermost, ".cfi_undefined %rip\n"));

static uintptr_t trampoline;   // that handlers return to

static void learn_trampoline(int number) {
  (void)number;
  trampoline = (uintptr_t)__builtin_return_address(0);
}

// A frame, and what its function has in its registers.
typedef struct {
  uintptr_t pc, sp, bp, bx, r12;
} state;

typedef enum { SMALL, LARGE, SAVING, FRAMED, REALIGNED, BY_RBX, BY_R12, INTERRUPTED, KINDS } kind;

static uint32_t seed = 1;
static uint32_t random_below(uint32_t end) {
  seed = seed * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)seed * end >> 32);
}

static void put(uintptr_t slot, uintptr_t value) { *(uintptr_t *)slot = value; }
#define EITHER(name) ((uintptr_t)(random_below(2) ? name##_1 : name##_2))

static state interrupt(state outer) {
  ucontext_t *context = (ucontext_t *)(outer.sp - 1024);
  greg_t *registers = context->uc_mcontext.gregs;
  registers[REG_RIP] = (greg_t)(outer.pc - 1);
  registers[REG_RSP] = (greg_t)outer.sp;
  registers[REG_RBP] = (greg_t)outer.bp;
  registers[REG_RBX] = (greg_t)outer.bx;
  registers[REG_R12] = (greg_t)outer.r12;
  return (state){trampoline, (uintptr_t)context, 0, 0, 0};
}

// Puts a function's frame below that of its caller.
static state call(state outer, kind kind) {
  uintptr_t cfa = outer.sp;
  state inner = outer;
  if (kind == INTERRUPTED) return interrupt(outer);
  put(cfa - 8, outer.pc);
  switch (kind) {
  case LARGE: inner.pc = EITHER(large); inner.sp = cfa - 1536; break;
  case SAVING:
    put(cfa - 16, outer.bx), put(cfa - 24, outer.r12), put(cfa - 40, outer.bp);
    inner = (state){EITHER(saving), cfa - 64, 1, 2, 3};
    break;
  case FRAMED:
    put(cfa - 16, outer.bp), put(cfa - 24, outer.r12);
    inner = (state){EITHER(framed), cfa - 64, cfa - 16, outer.bx, 4};
    break;
  case REALIGNED: {
    uintptr_t base = cfa - 64 - random_below(4) * 16;
    put(base, outer.bp), put(base - 8, cfa), put(base - 16, outer.bx);
    inner = (state){EITHER(realigned), base - 32, base, 5, outer.r12};
    break;
  }
  case BY_RBX:
    put(cfa - 24, outer.bx);
    inner = (state){EITHER(by_rbx), cfa - 48 - random_below(4) * 16, outer.bp, cfa - 8, outer.r12};
    break;
  case BY_R12:
    put(cfa - 16, outer.r12), put(cfa - 32, outer.bp);
    inner = (state){EITHER(by_r12), cfa - 48 - random_below(4) * 16, 6, outer.bx, cfa - 16};
    break;
  default: inner.pc = EITHER(small); inner.sp = cfa - 32;
  }
  return inner;
}

static uintptr_t memory;   // PAGES, with nothing around them

static undead_frame make_stack(void) {
  uintptr_t top = memory + PAGES * PAGE - 64 - random_below(64) * 16;
  state now = {EITHER(outermost), top, 0, 0, 0};
  uint32_t frames = 3 + random_below(10);
  while (frames-- > 0 && now.sp - memory > 2 * PAGE) now = call(now, (kind)random_below(KINDS));
  now = call(now, SAVING);   // who calls the allocator has nothing of its callers in registers
  return (undead_frame){now.pc, now.sp, now.bp};
}

// Often enough that it stays worth while to look for whole stacks.
static uint32_t capture_often(undead_frame start) {
  for (int round = 0; round < 4; round++) capture_and_compare(start, 0);
  return capture_and_compare(start, 0);
}

static void change_words(undead_frame start) {
  uintptr_t *words = (uintptr_t *)start.sp, *end = (uintptr_t *)(memory + PAGES * PAGE);
  for (uintptr_t *word = words; word < end; word++) {
    uintptr_t old = *word;
    if (!old) continue;
    // One further, and as another word is.
    const uintptr_t others[] = {old + 16, words[random_below((uint32_t)(end - words))]};
    for (int way = 0; way < 2; way++) {
      *word = others[way];
      capture_and_compare(start, 0);
      *word = old;
      capture_often(start);
    }
  }
}

// The walk wants to read each rbp, also where nothing depends on it.
static void take_pages_away(undead_frame start, uint32_t whole) {
  for (uintptr_t page = start.sp & ~(PAGE - 1); page < memory + PAGES * PAGE; page += PAGE) {
    mprotect((void *)page, PAGE, PROT_NONE);
    capture_and_compare(start, whole);
    mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE);
    capture_often(start);
  }
}

static void try_stack(void) {
  memset((void *)memory, 0, PAGES * PAGE);
  undead_frame start = make_stack();
  uint32_t whole = capture_often(start);
  change_words(start);
  take_pages_away(start, whole);
  start.bp += 16;
  capture_often(start);
}

// With an rbp that matters from the start on.
static void try_rbp_of_start(void) {
  memset((void *)memory, 0, PAGES * PAGE);
  uintptr_t top = memory + PAGES * PAGE - 64;
  state inner = call(call((state){EITHER(outermost), top, 0, 0, 0}, SMALL), FRAMED);
  undead_frame start = {inner.pc, inner.sp, inner.bp};
  put(inner.bp - 8, (uintptr_t)small_1), put(inner.bp - 16, 7);
  for (int round = 0; round < 20; round++) {
    start.bp = inner.bp - (round / 4 % 2) * 16;
    capture_and_compare(start, 0);
  }
}

// --- A register that nobody has saved, on the thread's own stack ---

// Two ways that differ in the CFA alone, which only rbx shows.
void call_by_rbx(void (*function)(void), long way);
__asm__(
    ".text\n"
    "call_by_rbx:\n"
    ".cfi_startproc\n"
    FRAME_BY("rbp")
    "  and $-256, %rsp\n"
    "  test %rsi, %rsi\n"
    "  je 1f\n"
    "  sub $16, %rsp\n"
    "  call inner_by_rbx\n"
    "  jmp 2f\n"
    "1: call inner_by_rbx\n"
    "2: leave\n"
    RETURN
    "  nop\n"
    "inner_by_rbx:\n"
    ".cfi_startproc\n"
    FRAME_BY("rbx")
    "  sub $256, %rsp\n"
    "  and $-256, %rsp\n"
    "  call *%rdi\n"
    "  mov %rbx, %rsp\n"
    "  pop %rbx\n"
    RETURN);

static uint32_t length_found, id_found[2];
static long way_now;

static __attribute__((noinline)) void capture_here(void) {
  const uintptr_t *frame = __builtin_frame_address(0);
  uintptr_t found[FRAMES];
  uint32_t id = undead_backtrace_capture(frame[1], (uintptr_t)(frame + 2), frame[0]);
  uint32_t length = undead_backtrace_frames(id, found, FRAMES);
  if (!length_found) length_found = length;
  CHECK(length == length_found);
  if (!id_found[way_now]) id_found[way_now] = id;
  CHECK(id == id_found[way_now]);
}

static void try_register_of_start(void) {
  for (int round = 0; round < 40; round++) {
    way_now = round / 4 % 2;
    call_by_rbx(capture_here, way_now);
  }
  CHECK(length_found > 3);
  CHECK(id_found[0] != id_found[1]);
}

// --- Threads whose first capture is on another stack, above their own or below ---

extern void *__libc_stack_end;

static bool knows_its_stack(uintptr_t end) {
  undead_thread.stack_low = undead_thread.stack_high = 0;
  state inner = call((state){EITHER(outermost), memory + PAGES * PAGE - 64, 0, 0, 0}, SMALL);
  capture_and_compare((undead_frame){inner.pc, inner.sp, inner.bp}, 0);
  capture_here();
  return undead_thread.stack_high == end && undead_thread.stack_low < end;
}

static void *begin_elsewhere(void *unused) {
  (void)unused;
  length_found = id_found[0] = way_now = 0;
  CHECK(knows_its_stack((uintptr_t)__builtin_thread_pointer()));
  return NULL;
}

static void try_first_captures(void) {
  length_found = id_found[0] = way_now = 0;
  CHECK(knows_its_stack((uintptr_t)__libc_stack_end));
  pthread_t thread;
  pthread_create(&thread, NULL, begin_elsewhere, NULL);
  pthread_join(thread, NULL);
}

int main(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGUSR1, learn_trampoline);
  raise(SIGUSR1);
  char *mapped = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memory = (uintptr_t)mapped + PAGE;
  mprotect((void *)memory, PAGES * PAGE, PROT_READ | PROT_WRITE);
  try_register_of_start();
  try_rbp_of_start();
  try_first_captures();
  for (int round = 0; round < 400; round++) try_stack();
  printf("%lu captures, %lu wrong, %lu recognised as a whole\n", captures, wrong, recognised);
  return wrong != 0 || recognised < captures / 3 || failures != 0;
}
