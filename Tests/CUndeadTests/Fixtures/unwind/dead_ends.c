// Frames that are out of the ordinary stay in the cache of a thread. What nothing can unwind is where a stack ends, and is
// found out once. Linked with the sources of the instrument.
#define _GNU_SOURCE
#include "../record/check.h"
#include "frames.h"
#include "record/registry.h"
#include "unwind/backtrace.h"
#include "unwind/capture/capture_x86_64.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// sub $8, %rsp; call *%rdi; add $8, %rsp; ret: machine code that belongs to no image.
static const unsigned char made_code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};

// The same with a frame pointer: push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret
static const unsigned char framed_code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

// The frame of this function is found by rbx, which the chain does not follow.
void odd_frame(void (*function)(void));
__asm__(
    ".text\n"
    "odd_frame:\n"
    ".cfi_startproc\n"
    FRAME_BY("rbx")
    "  sub $16, %rsp\n"
    "  call *%rdi\n"
    "  mov %rbx, %rsp\n"
    "  pop %rbx\n"
    RETURN);

void realigned_frame(void (*function)(void));
__asm__(
    ".text\n"
    "realigned_frame:\n"
    ".cfi_startproc\n"
    REALIGNED_FRAME
    "  call *%rdi\n"
    REALIGNED_END
    RETURN);

static uint32_t hits, recognised, least_depth = UINT32_MAX;

// True if the thread's cache alone knows the stack of the caller.
static bool is_in_cache(void) {
  const uintptr_t *own = __builtin_frame_address(0);
  undead_frame caller = {own[1], (uintptr_t)(own + 2), own[0]};
  undead_unwind_cache *cache = undead_thread.unwind_cache;
  return cache && undead_capture_cached(cache, undead_thread.stack_high, caller, true) != 0;
}

static __attribute__((noinline)) void allocate(void) {
  void *block = malloc(32);
  const undead_unwind_cache *cache = undead_thread.unwind_cache;
  recognised += cache && cache->holds;
  __asm__ volatile("" ::: "rbx");   // so that it is saved
  uintptr_t frames[64];
  uint32_t depth = undead_backtrace_frames(*undead_registry_slot((uintptr_t)block), frames, 64);
  least_depth = depth < least_depth ? depth : least_depth;
  hits += is_in_cache();
  free(block);
}

static __attribute__((noinline)) void call_from_outer_frames(void (*code)(void (*)(void)), int depth) {
  if (depth > 0) call_from_outer_frames(code, depth - 1);
  else code(allocate);
  __asm__ volatile("");
}

static void (*in_handler)(void);

static void handle(int number) {
  (void)number;
  in_handler();
}

static void interrupted_frame(void (*function)(void)) {
  in_handler = function;
  raise(SIGUSR1);
}

// All of the stack is known to the cache, but for the first time.
static void check_cached(void (*code)(void (*)(void))) {
  hits = 0;
  least_depth = UINT32_MAX;
  for (int round = 0; round < 1000; round++) call_from_outer_frames(code, 5 + round % 7);
  CHECK(hits > 980);
  CHECK(least_depth >= 8);
}

// Without libunwind.
static void check_found_by_register(void) {
  for (int round = 0; round < 1000; round++) call_from_outer_frames(odd_frame, 5 + round % 7);
  CHECK(recognised > 900);
  CHECK(least_depth >= 8);
  hits = 0;
  least_depth = UINT32_MAX;
}

int main(void) {
  check_found_by_register();
  CHECK(undead_backtrace_load_libunwind());
  unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, made_code, sizeof made_code);
  void (*made)(void (*)(void)) = (void (*)(void (*)(void)))(uintptr_t)page;
  for (int round = 0; round < 1000; round++) call_from_outer_frames(made, round % 7);
  CHECK(hits > 980);
  CHECK(least_depth >= 2);
  memcpy(page + 64, framed_code, sizeof framed_code);
  check_cached((void (*)(void (*)(void)))(uintptr_t)(page + 64));
  check_cached(realigned_frame);
  signal(SIGUSR1, handle);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  check_cached(interrupted_frame);
  check_found_by_register();
  return failures != 0;
}
