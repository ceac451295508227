// What a stop by a signal writes into the program's memory: a kernel's frame with all registers. A scan would take them for the
// program's where that memory counts as a whole: on a fiber's stack, on the stack that its thread left for one. So the registers are
// disguised while the thread is parked, and the frame that it returns by is one of ours:
//
//   thread's stack   | frame, in disguise |         left as it is
//   frames[slot]     | frame              |   <- the kernel restores the registers from here
//
// A thread keeps its slot: when it is stopped again, it has returned. signals.c calls.
#include "world/stop/saved_registers.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/system/thread_slots.h"

undead_saved_registers undead_saved_find(ucontext_t *context) {
  undead_saved_registers saved = {0};
  saved.parts[0].low = undead_context_registers(context, &saved.parts[0].bytes);
  saved.parts[1].low = (uint8_t *)undead_context_vectors(context, &saved.parts[1].bytes);
  if (!saved.parts[1].low) saved.parts[1].bytes = 0;
  return saved;
}

void undead_saved_disguise(const undead_saved_registers *saved) {
  enum { KEY = 0x33 };   // neither addresses nor zeros become addresses of a process
  for (int part = 0; part < 2; part++)
    for (size_t i = 0; i < saved->parts[part].bytes; i++) saved->parts[part].low[i] ^= KEY;
}

enum {
  CONTEXT_BYTES = 304,   // that the kernel has (arch/x86/include/uapi/asm/ucontext.h): glibc's goes on
  VECTOR_BYTES = 3584,    // with AVX-512; threads with tiles in use return by the frames on their stacks
  END_BYTES = 4,   // a magic number behind the vector registers (FP_XSTATE_MAGIC2)
};

// struct rt_sigframe (arch/x86/include/asm/sigframe.h) without the information on the signal, which is not read again.
typedef struct {
  _Alignas(64) uint8_t vectors[VECTOR_BYTES];
  uintptr_t returns_to;
  uint8_t context[CONTEXT_BYTES];
} own_frame;

static own_frame *frames;

void undead_saved_prepare(void) {
  if (!frames) frames = undead_map(UNDEAD_THREAD_SLOTS * sizeof *frames);
}

ucontext_t *undead_saved_move(ucontext_t *context, const undead_saved_registers *saved) {
  size_t bytes = saved->parts[1].bytes ? saved->parts[1].bytes + END_BYTES : 0;
  int slot = frames && bytes <= VECTOR_BYTES ? undead_thread_slot((int32_t)undead_raw3(SYS_gettid, 0, 0, 0)) : -1;
  if (slot < 0) return NULL;
  own_frame *frame = &frames[slot];
  ucontext_t *moved = (ucontext_t *)frame->context;
  memcpy(&frame->returns_to, (uintptr_t *)context - 1, sizeof frame->returns_to);
  memcpy(moved, context, CONTEXT_BYTES);
  if (bytes) {
    memcpy(frame->vectors, saved->parts[1].low, bytes);
    moved->uc_mcontext.fpregs = (fpregset_t)frame->vectors;
  }
  undead_saved_disguise(saved);
  return moved;
}
