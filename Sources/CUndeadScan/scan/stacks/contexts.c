#include "scan/stacks/contexts.h"
#include "platform/maps/maps.h"
#include "platform/processor/words.h"
#include <string.h>

// struct rt_sigframe of the kernel (arch/x86/include/asm/sigframe.h): the address that the handler returns to, then a
// ucontext: flags, link, stack {address, flags, size}, registers.
enum {
  FRAME_STACK_POINTER = 168,
  FRAME_PROGRAM_COUNTER = 176,
  FRAME_BYTES = 184,
};

// Code that does nothing but return from a signal: mov $15, %rax (or %eax); syscall.
static bool is_signal_return(uintptr_t address) {
  static const uint8_t wide[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, narrow[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
  if (!undead_is_executable(address) || !undead_is_readable(address, sizeof wide)) return false;
  return !memcmp((const void *)address, wide, sizeof wide) || !memcmp((const void *)address, narrow, sizeof narrow);
}

uintptr_t undead_lowest_interrupted(undead_interval where, undead_interval stack) {
  uintptr_t lowest = 0;
  for (uintptr_t at = (where.low + 7) & ~(uintptr_t)7; at + FRAME_BYTES <= where.high; at += 8) {
    uintptr_t sp = word_at(at + FRAME_STACK_POINTER);
    if (!undead_in(stack, sp) || !undead_is_executable(word_at(at + FRAME_PROGRAM_COUNTER))) continue;
    if ((!lowest || sp < lowest) && is_signal_return(word_at(at))) lowest = sp;
  }
  return lowest;
}

bool undead_has_started_context(undead_interval where) {
  uintptr_t start = undead_image_facts.context_start;
  for (uintptr_t at = (where.low + 7) & ~(uintptr_t)7; start && at + 8 <= where.high; at += 8)
    if (word_at(at) == start) return true;
  return false;
}

bool undead_is_return_address(uintptr_t address) {
  enum { LONGEST = 7, DIRECT = 0xe8, DIRECT_BYTES = 5, INDIRECT = 0xff, DIGIT = 0x38, CALL = 0x10 };
  if (!undead_is_executable(address) || !undead_is_readable(address - LONGEST, LONGEST)) return false;
  const uint8_t *end = (const uint8_t *)address;
  if (end[-DIRECT_BYTES] == DIRECT) return true;
  for (int length = 2; length <= LONGEST; length++)
    if (end[-length] == INDIRECT && (end[1 - length] & DIGIT) == CALL) return true;
  return false;
}

// From the ucontext on, which the handler's return leaves the stack pointer at.
enum {
  CONTEXT_R12 = 72,            // to r15
  CONTEXT_RBP = 120,           // and rbx
  CONTEXT_BYTES = 304,         // then information on the signal, which the kernel writes only if the handler asks for it
  MOST_FRAME_BYTES = 64 << 10,   // with all registers that there are
};

static bool is_system_call(uintptr_t address) {
  static const uint8_t code[] = {0x0f, 0x05};
  return undead_is_readable(address, sizeof code) && !memcmp((const void *)address, code, sizeof code);
}

bool undead_read_signal_frame(undead_signal_frame *frame, uintptr_t at, uintptr_t sp, uintptr_t pc) {
  if (sp < at + CONTEXT_BYTES || sp - at > MOST_FRAME_BYTES || !undead_is_libc_code(pc)) return false;
  // A call that is to be made again was wound back.
  if (!is_system_call(pc - 2) && !is_system_call(pc)) return false;
  *frame = (undead_signal_frame){
    .saved = {{at + CONTEXT_R12, at + CONTEXT_R12 + 32}, {at + CONTEXT_RBP, at + CONTEXT_RBP + 16}},
    .dead = {at + CONTEXT_BYTES, sp & ~(uintptr_t)7},
  };
  return true;
}
