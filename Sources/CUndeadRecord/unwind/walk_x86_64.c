#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#if defined(__x86_64__)
#include "unwind/walk_x86_64.h"
#include "platform/memory.h"
#include "unwind/images.h"
#include "unwind/known_x86_64.h"
#include "unwind/room_x86_64.h"
#include "unwind/settings.h"
#include "unwind/stack.h"
#include <ucontext.h>

#define PAGE 4096u
#define MAX_FRAME_BYTES (64ull << 20)
#define MAX_SIGNALS 64u   // handlers that interrupt each other

typedef struct {
  undead_thread_state *thread;   // NULL: the stack is that of another thread, of which nothing is known
  uintptr_t low, high;           // what is known to be readable: the thread's own stack, or the page that was last asked for
} reader;

INLINE uintptr_t page_of(uintptr_t address) { return address & ~(uintptr_t)(PAGE - 1); }

static __attribute__((noinline)) bool ask(reader *r, uintptr_t address, size_t size) {
  uintptr_t last = address + size - 1;
  if (last < address) return false;
  if (r->thread && undead_stack_covers(r->thread, address) && last < r->thread->stack_high) {
    r->low = r->thread->stack_low;
    r->high = r->thread->stack_high;
    return true;
  }
  for (uintptr_t page = page_of(address); page <= last; page += PAGE) {
    if (page - r->low < r->high - r->low) continue;
    if (!undead_page_is_readable(page)) return false;
    r->low = page;
    r->high = page + PAGE;
  }
  return true;
}

INLINE bool is_readable(reader *r, uintptr_t address, size_t size) {
  if (UNLIKELY(address & 7)) return false;
  return LIKELY(address >= r->low && address < r->high && r->high - address >= size) || ask(r, address, size);
}

// The interrupted frame: its address is one further, since every address kept here is that of the next instruction.
INLINE bool step_signal(reader *r, undead_frame *frame) {
  if (!is_readable(r, frame->sp, sizeof(ucontext_t))) return false;
  const greg_t *registers = ((const ucontext_t *)frame->sp)->uc_mcontext.gregs;
  *frame = (undead_frame){(uintptr_t)registers[REG_RIP] + 1, (uintptr_t)registers[REG_RSP],
                          (uintptr_t)registers[REG_RBP]};
  return true;
}

INLINE bool step_realigned(reader *r, undead_frame *frame, undead_rule rule) {
  uintptr_t slot = frame->bp - undead_rule_offset(rule);
  if (!is_readable(r, slot, 8) || !is_readable(r, frame->bp, 8)) return false;
  uintptr_t cfa = *(const uintptr_t *)slot;
  if (cfa <= frame->sp || !is_readable(r, cfa - 8, 8)) return false;
  *frame = (undead_frame){*(const uintptr_t *)(cfa - 8), cfa, *(const uintptr_t *)frame->bp};
  return true;
}

INLINE bool step_foreign(reader *r, undead_frame *frame) {
  if (!is_readable(r, frame->bp, 16)) return false;
  const uintptr_t *bp = (const uintptr_t *)frame->bp;
  *frame = (undead_frame){bp[1], frame->bp + 16, bp[0]};
  return true;
}

INLINE bool changes_stack(uintptr_t pc) { return pc == (uintptr_t)undead_room_return; }

INLINE bool step_plain(reader *r, undead_frame *frame, undead_rule rule) {
  uintptr_t cfa = (rule & UNDEAD_RULE_BP ? frame->bp : frame->sp) + undead_rule_offset(rule);
  uintptr_t saved = undead_rule_saved(rule), bp = frame->bp;
  bool is_odd = cfa <= frame->sp || cfa - frame->sp > MAX_FRAME_BYTES;
  if ((is_odd && !changes_stack(frame->pc)) || !is_readable(r, cfa - 8, 8)) return false;
  if (saved) {
    if (!is_readable(r, cfa - saved, 8)) return false;
    bp = *(const uintptr_t *)(cfa - saved);
  }
  *frame = (undead_frame){*(const uintptr_t *)(cfa - 8), cfa, bp};
  return true;
}

typedef struct {
  reader *reader;
  undead_unwind_cache *cache;   // for what is known of addresses; NULL: the tables of all threads
  undead_frame frame;
  uint32_t pc_index;
  undead_rule rule;   // of `frame.pc`
  bool guessed;       // how `frame` was found
  bool interrupted;   // by a signal
} walk;

// What stands at the current frame: its rule; false if nothing is known of it.
INLINE bool look(walk *w) {
  undead_image image;
  if (w->guessed && !undead_image_find(w->frame.pc, &image)) return false;
  if (w->cache) {
    const undead_known_pc *known = know_pc(w->cache, w->frame.pc);
    if (!known) return false;
    w->pc_index = known->pc_index;
    w->rule = known->rule;
    return true;
  }
  w->pc_index = undead_pc_find(w->frame.pc, &w->rule);
  return w->pc_index != UNDEAD_PC_NONE;
}

INLINE bool leave(walk *w) {
  w->guessed = w->rule & UNDEAD_RULE_GUESS;
  w->interrupted = undead_rule_kind(w->rule) == UNDEAD_RULE_SIGNAL;
  switch ((int)undead_rule_kind(w->rule)) {
  case UNDEAD_RULE_SIGNAL: return step_signal(w->reader, &w->frame);
  case UNDEAD_RULE_DEREF: return step_realigned(w->reader, &w->frame, w->rule);
  case UNDEAD_RULE_FOREIGN: return step_foreign(w->reader, &w->frame);
  case 0: return step_plain(w->reader, &w->frame, w->rule);
  default: return false;
  }
}

INLINE undead_walk_end walk_all(walk *w, uint32_t *indices, uint32_t max, uint32_t *count) {
  for (*count = 0; *count < max;) {
    if (!w->frame.pc) return UNDEAD_WALK_COMPLETE;
    if (!look(w)) return UNDEAD_WALK_LOST;
    indices[(*count)++] = w->pc_index;
    if (undead_rule_is_end(w->rule)) return UNDEAD_WALK_COMPLETE;
    if (undead_rule_kind(w->rule) == UNDEAD_RULE_FOREIGN) {
      // It may have no frame yet, or be gone.
      if (w->interrupted) return UNDEAD_WALK_LOST;
      if (!undead_is_frame_pointer(&w->frame)) return UNDEAD_WALK_COMPLETE;
    }
    if (!leave(w)) return UNDEAD_WALK_LOST;
  }
  return UNDEAD_WALK_DEEP;
}

undead_walk_end undead_walk(undead_thread_state *thread, undead_frame frame, uint32_t *indices, uint32_t max,
                            uint32_t *count) {
  reader r = {.thread = thread};
  walk w = {.reader = &r, .frame = frame};
  return walk_all(&w, indices, max, count);
}

undead_walk_end undead_walk_from(uintptr_t place, undead_unwind_cache *cache, undead_thread_state *thread,
                                 undead_frame frame, uint32_t *count) {
  reader r = {thread, page_of(place), page_of(place) + PAGE};
  walk w = {.reader = &r, .cache = cache, .frame = frame};
  return walk_all(&w, cache->indices, UNDEAD_DEPTH_LIMIT, count);
}

undead_frame_fate undead_walk_looks_for(undead_thread_state *thread, undead_frame frame, uintptr_t sp, uintptr_t low,
                                        uintptr_t high) {
  reader r = {.thread = thread};
  walk w = {.reader = &r, .frame = frame};
  for (unsigned signals = 0; signals < MAX_SIGNALS;) {
    if (!w.frame.pc) return UNDEAD_FRAME_GONE;
    if (!look(&w)) return UNDEAD_FRAME_UNCERTAIN;
    undead_rule_special kind = undead_rule_kind(w.rule);
    if (kind == UNDEAD_RULE_STOP) return UNDEAD_FRAME_GONE;
    if (kind == UNDEAD_RULE_FOREIGN) return UNDEAD_FRAME_UNCERTAIN;
    uintptr_t inner = w.frame.sp, code = w.frame.pc - 1;
    bool jumps = kind == UNDEAD_RULE_SIGNAL || changes_stack(w.frame.pc);
    if (!leave(&w)) return UNDEAD_FRAME_UNCERTAIN;
    if (w.frame.sp == sp) return code >= low && code < high ? UNDEAD_FRAME_FOUND : UNDEAD_FRAME_GONE;
    // One frame covers the place. Frames only go up, but from one stack to another.
    if (jumps) signals++;
    else if (inner < sp && sp < w.frame.sp) return UNDEAD_FRAME_GONE;
  }
  return UNDEAD_FRAME_UNCERTAIN;
}

undead_step undead_walk_step(undead_frame *frame) {
  reader r = {0};
  undead_rule rule = frame->pc ? undead_rule_compute(frame->pc - 1) : 0;
  if (rule & UNDEAD_RULE_GUESS && !(rule & UNDEAD_RULE_FOLLOWED)) return UNDEAD_STEP_LOST;
  switch ((int)undead_rule_kind(rule)) {
  case UNDEAD_RULE_SIGNAL: return step_signal(&r, frame) ? UNDEAD_STEP_INTERRUPTED : UNDEAD_STEP_LOST;
  case UNDEAD_RULE_DEREF: return step_realigned(&r, frame, rule) ? UNDEAD_STEP_CALLER : UNDEAD_STEP_LOST;
  case 0: return rule && step_plain(&r, frame, rule) ? UNDEAD_STEP_CALLER : UNDEAD_STEP_LOST;
  default: return UNDEAD_STEP_LOST;
  }
}
#endif
#endif
