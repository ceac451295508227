#include "unwind/room.h"
#include "platform/processor/assembly_x86_64.h"
#include "unwind/capture/cache_pool.h"
#include "unwind/store/stack.h"
#include <stddef.h>

// For following code; the other is for the Swift runtime.
#define ROOM_FOR_UNWINDING (16u << 10)
#define ROOM_FOR_OTHERS (64u << 10)

void undead_call_on(uintptr_t stack_end, void (*work)(void *), void *context) __attribute__((visibility("hidden")));

// The frame is found by rbp, so that debuggers and unwinders get from one stack to the other.
__asm__(
    ".text\n"
    ".balign 16\n"
    ".globl undead_call_on, undead_room_return\n"
    ".hidden undead_call_on, undead_room_return\n"
    ".type undead_call_on, @function\n"
    "undead_call_on:\n"
    ".cfi_startproc\n"
    UNDEAD_FRAME_BEGIN
    "  movq %rdi, %rsp\n"
    "  movq %rdx, %rdi\n"
    "  call *%rsi\n"
    "undead_room_return:\n"
    UNDEAD_FRAME_END
    "  ret\n"
    ".cfi_endproc\n"
    ".size undead_call_on, . - undead_call_on\n");

static void call_in(undead_unwind_cache *cache, void (*work)(void *), void *context) {
  undead_call_on((uintptr_t)cache->room + sizeof cache->room, work, context);
}

// Never a part of who calls: what a program left of its stack must do for that one, too.
__attribute__((noinline)) void undead_run_with_cache(undead_unwind_cache *cache, void (*work)(void *), void *context) {
  bool is_there = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)cache->room < sizeof cache->room;
  if (is_there || undead_stack_has_room(&undead_thread, ROOM_FOR_UNWINDING)) work(context);
  else call_in(cache, work, context);
}

void undead_run_with_room(void (*work)(void *), void *context) {
  bool has_room = undead_stack_has_room(&undead_thread, ROOM_FOR_OTHERS);
  undead_unwind_cache *cache = has_room ? NULL : undead_cache_borrow();
  if (!cache) {
    work(context);
    return;
  }
  call_in(cache, work, context);
  undead_cache_return(cache);
}
