#include "unwind/walk_x86_64.h"
#include "platform/memory/memory.h"
#include "platform/memory/page.h"
#include "unwind/rules/images.h"
#include "unwind/capture/known_x86_64.h"
#include "unwind/capture/cache_pool.h"
#include "unwind/settings.h"
#include "unwind/store/stack.h"
#include <ucontext.h>

#define MAX_FRAME_BYTES (64ull << 20)
#define MAX_SIGNALS 64u   // handlers that interrupt each other

typedef struct {
  undead_thread_state *thread;   // NULL: the stack is that of another thread, of which nothing is known
  uintptr_t low, high;           // what is known to be readable: the thread's own stack, or the page that was last asked for
} reader;

INLINE uintptr_t page_of(uintptr_t address) { return undead_page_of(address); }

static __attribute__((noinline)) bool ask(reader *r, uintptr_t address, size_t size) {
  uintptr_t last = address + size - 1;
  if (last < address) return false;
  if (r->thread && undead_stack_covers(r->thread, address) && last < r->thread->stack_high) {
    r->low = r->thread->stack_low;
    r->high = r->thread->stack_high;
    return true;
  }
  for (uintptr_t page = page_of(address); page <= last; page += UNDEAD_PAGE) {
    if (page - r->low < r->high - r->low) continue;
    if (!undead_page_is_readable(page)) return false;
    r->low = page;
    r->high = page + UNDEAD_PAGE;
  }
  return true;
}

INLINE bool is_readable(reader *r, uintptr_t address, size_t size) {
  if (UNLIKELY(address & 7)) return false;
  return LIKELY(address >= r->low && address < r->high && r->high - address >= size) || ask(r, address, size);
}

// A register that functions keep, as it was in the current frame.
typedef struct {
  uintptr_t value;
  const uintptr_t *slot;   // where an inner function saved it; NULL if none did
  bool known;
} kept;

typedef struct {
  reader *reader;
  undead_unwind_cache *cache;   // for what is known of addresses; NULL: the tables of all threads
  undead_frame frame;
  uint32_t pc_index;
  undead_rule rule;   // of `frame.pc`
  bool guessed;       // how `frame` was found
  const uintptr_t *bp_slot;   // of the frame's rbp, NULL if it is still that of the start
  bool bp_noted;
  bool asks_registers;        // one is needed
  kept *registers;            // NULL: they are not followed
  undead_walk_words *words;   // NULL: nobody wants to know
} walk;

static __attribute__((noinline)) void note(walk *w, const uintptr_t *slot, uintptr_t value) {
  if (w->words->next == w->words->end) w->words->incomplete = true;
  else *w->words->next++ = (undead_check){slot, value};
}

INLINE uintptr_t read_word(walk *w, uintptr_t slot) {
  uintptr_t value = *(const uintptr_t *)slot;
  if (UNLIKELY(w->words != NULL)) note(w, (const uintptr_t *)slot, value);
  return value;
}

// The frame's rbp, which is noted when something depends on it.
INLINE uintptr_t use_bp(walk *w) {
  if (UNLIKELY(w->words != NULL) && !w->bp_noted) {
    w->bp_noted = true;
    if (w->bp_slot) note(w, w->bp_slot, w->frame.bp);
    else w->words->uses_bp = true;
  }
  return w->frame.bp;
}

INLINE uintptr_t restore_bp(walk *w, uintptr_t slot) {
  w->bp_slot = (const uintptr_t *)slot;
  w->bp_noted = false;
  return *w->bp_slot;
}

// The interrupted frame: its address is one further, since every address kept here is that of the next instruction.
static bool step_signal(walk *w) {
  const greg_t *registers = ((const ucontext_t *)w->frame.sp)->uc_mcontext.gregs;
  if (!is_readable(w->reader, (uintptr_t)registers, (REG_RIP + 1) * sizeof *registers)) return false;
  static const int numbers[UNDEAD_KEPT_COUNT] = {REG_RBX, REG_R12, REG_R13, REG_R14, REG_R15};
  for (int index = 0; w->registers && index < UNDEAD_KEPT_COUNT; index++) {
    const uintptr_t *slot = (const uintptr_t *)&registers[numbers[index]];
    w->registers[index] = (kept){*slot, slot, true};
  }
  uintptr_t pc = read_word(w, (uintptr_t)&registers[REG_RIP]) + 1, sp = read_word(w, (uintptr_t)&registers[REG_RSP]);
  w->frame = (undead_frame){pc, sp, restore_bp(w, (uintptr_t)&registers[REG_RBP])};
  return true;
}

static __attribute__((noinline)) undead_saves find_saves(walk *w) {
  uintptr_t pc = w->frame.pc;
  if (!w->cache) return undead_saves_compute(pc - 1);
  undead_known_saves *known = &w->cache->saves[near_hash(pc) & (UNDEAD_KNOWN_SAVES - 1)];
  w->cache->knows_saves = true;
  if (known->pc != pc) *known = (undead_known_saves){pc, undead_saves_compute(pc - 1)};
  return known->saves;
}

// Goes on with the registers of the caller.
static __attribute__((noinline)) void restore_registers(walk *w, uintptr_t cfa) {
  undead_saves saves = find_saves(w);
  for (int index = 0; saves >> 12 * index; index++) {
    uint32_t saved = undead_saves_of(saves, (undead_kept_register)index);
    if (saved == 0) continue;
    uintptr_t base = saved & UNDEAD_SAVED_BY_RBP ? use_bp(w) : cfa;
    uintptr_t slot = base - (saved & (UNDEAD_SAVED_BY_RBP - 1)) * sizeof(uintptr_t);
    w->registers[index].known = saved != UNDEAD_SAVED_UNKNOWN && is_readable(w->reader, slot, 8);
    if (!w->registers[index].known) continue;
    w->registers[index] = (kept){*(const uintptr_t *)slot, (const uintptr_t *)slot, true};
  }
}

INLINE bool changes_stack(uintptr_t pc) { return pc == (uintptr_t)undead_room_return; }

// To the caller of a frame whose CFA is known; `saved`: distance of the slot of its rbp, 0 if it is in rbp.
INLINE bool step_to(walk *w, uintptr_t cfa, uintptr_t saved) {
  uintptr_t sp = w->frame.sp;
  bool is_odd = cfa <= sp || cfa - sp > MAX_FRAME_BYTES;
  if ((is_odd && !changes_stack(w->frame.pc)) || !is_readable(w->reader, cfa - 8, 8)) return false;
  if (saved && !is_readable(w->reader, cfa - saved, 8)) return false;
  if (UNLIKELY(w->registers != NULL)) restore_registers(w, cfa);
  uintptr_t bp = saved ? restore_bp(w, cfa - saved) : w->frame.bp;
  w->frame = (undead_frame){read_word(w, cfa - 8), cfa, bp};
  return true;
}

static bool step_realigned(walk *w) {
  uintptr_t bp = use_bp(w), slot = bp - undead_rule_offset(w->rule);
  if (!is_readable(w->reader, slot, 8) || !is_readable(w->reader, bp, 8)) return false;
  uintptr_t cfa = read_word(w, slot);
  if (cfa <= w->frame.sp || !is_readable(w->reader, cfa - 8, 8)) return false;
  if (w->registers) restore_registers(w, cfa);
  w->frame = (undead_frame){read_word(w, cfa - 8), cfa, restore_bp(w, bp)};
  return true;
}

static bool step_foreign(walk *w) {
  uintptr_t bp = use_bp(w);
  if (!is_readable(w->reader, bp, 16)) return false;
  if (w->registers) restore_registers(w, bp + 16);
  w->frame = (undead_frame){read_word(w, bp + 8), bp + 16, restore_bp(w, bp)};
  return true;
}

INLINE bool step_plain(walk *w) {
  uintptr_t base = w->rule & UNDEAD_RULE_BP ? use_bp(w) : w->frame.sp;
  return step_to(w, base + undead_rule_offset(w->rule), undead_rule_saved(w->rule));
}

static bool step_by_register(walk *w) {
  w->asks_registers = true;
  const kept *found = w->registers ? &w->registers[undead_rule_register(w->rule)] : NULL;
  if (!found || !found->known) return false;
  if (w->words && found->slot) note(w, found->slot, found->value);
  // What is still in the register is on no stack, so it cannot be compared.
  if (w->words && !found->slot) w->words->incomplete = true;
  return step_to(w, found->value + undead_rule_offset(w->rule), undead_rule_register_saved(w->rule));
}

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
  switch ((int)undead_rule_kind(w->rule)) {
  case UNDEAD_RULE_SIGNAL: return step_signal(w);
  case UNDEAD_RULE_DEREF: return step_realigned(w);
  case UNDEAD_RULE_FOREIGN: return step_foreign(w);
  case UNDEAD_RULE_REGISTER: return step_by_register(w);
  case 0: return step_plain(w);
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
      use_bp(w);
      if (!undead_is_frame_pointer(&w->frame)) return UNDEAD_WALK_COMPLETE;
    }
    if (!leave(w)) return UNDEAD_WALK_LOST;
  }
  return UNDEAD_WALK_DEEP;
}

// The state of its caller, after the return.
typedef struct {
  uintptr_t pc, sp, bp, kept[UNDEAD_KEPT_COUNT];
} here;
void undead_registers_here(here *state) __attribute__((visibility("hidden")));
_Static_assert(offsetof(here, kept) == 24, "written below");
__asm__(
    ".text\n"
    ".globl undead_registers_here\n"
    ".hidden undead_registers_here\n"
    ".type undead_registers_here, @function\n"
    "undead_registers_here:\n"
    ".cfi_startproc\n"
    "  movq (%rsp), %rax\n"
    "  movq %rax, (%rdi)\n"
    "  leaq 8(%rsp), %rax\n"
    "  movq %rax, 8(%rdi)\n"
    "  movq %rbp, 16(%rdi)\n"
    "  movq %rbx, 24(%rdi)\n"
    "  movq %r12, 32(%rdi)\n"
    "  movq %r13, 40(%rdi)\n"
    "  movq %r14, 48(%rdi)\n"
    "  movq %r15, 56(%rdi)\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size undead_registers_here, . - undead_registers_here\n");

#define OWN_FRAMES 40u   // at most, from here to the program's

// What the kept registers were in a frame that called the instrument: by way of the instrument's own frames.
static void find_registers(const walk *start, kept *registers) {
  here state;
  undead_registers_here(&state);
  for (int index = 0; index < UNDEAD_KEPT_COUNT; index++) registers[index] = (kept){state.kept[index], NULL, true};
  reader own = {.thread = start->reader->thread};
  walk w = {.reader = &own, .cache = start->cache, .frame = {state.pc, state.sp, state.bp}, .registers = registers};
  bool found = false;
  for (uint32_t count = 0; !found && count < OWN_FRAMES && look(&w) && leave(&w); count++)
    found = w.frame.pc == start->frame.pc && w.frame.sp == start->frame.sp;
  for (int index = 0; index < UNDEAD_KEPT_COUNT; index++) {
    registers[index].slot = NULL;
    registers[index].known &= found;
  }
}

// Where the kept registers are followed: not at first, from where a function saved them, or from the start.
typedef enum { FOLLOWS_NONE, FOLLOWS_SAVED, FOLLOWS_ALL } follows;

static __attribute__((noinline)) undead_walk_end walk_with_registers(walk *w, follows what, uint32_t *indices, uint32_t max,
                                                                     uint32_t *count) {
  kept registers[UNDEAD_KEPT_COUNT] = {{0}};
  if (what == FOLLOWS_ALL) find_registers(w, registers);
  w->registers = registers;
  return walk_all(w, indices, max, count);
}

// Begins anew with more registers as long as one is missing. `last`: all of them are there for the stack that this runs on.
INLINE undead_walk_end walk_stack(const walk *start, follows first, follows last, uint32_t *indices, uint32_t max,
                                  uint32_t *count) {
  undead_walk_words empty = start->words ? *start->words : (undead_walk_words){0};
  for (follows what = first;; what++) {
    walk w = *start;
    if (w.words) *w.words = empty;
    undead_walk_end end = LIKELY(what == FOLLOWS_NONE) ? walk_all(&w, indices, max, count)
                                                       : walk_with_registers(&w, what, indices, max, count);
    if (LIKELY(end != UNDEAD_WALK_LOST) || !w.asks_registers || what == last) return end;
  }
}

undead_walk_end undead_walk(undead_thread_state *thread, undead_frame frame, uint32_t *indices, uint32_t max,
                            uint32_t *count) {
  reader r = {.thread = thread};
  walk w = {.reader = &r, .frame = frame};
  // Of another thread, what it has in its registers is not known.
  return walk_stack(&w, FOLLOWS_NONE, thread == &undead_thread ? FOLLOWS_ALL : FOLLOWS_SAVED, indices, max, count);
}

undead_walk_end undead_walk_from(uintptr_t place, undead_unwind_cache *cache, undead_thread_state *thread,
                                 undead_frame frame, undead_walk_words *words, uint32_t *count) {
  reader r = {thread, page_of(place), page_of(place) + UNDEAD_PAGE};
  walk w = {.reader = &r, .cache = cache, .frame = frame, .words = words};
  // Where they were needed once they mostly are again.
  follows first = cache->knows_saves ? FOLLOWS_SAVED : FOLLOWS_NONE;
  return walk_stack(&w, first, FOLLOWS_ALL, cache->indices, UNDEAD_DEPTH_LIMIT, count);
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
  walk w = {.reader = &r, .frame = *frame};
  w.rule = frame->pc ? undead_rule_compute(frame->pc - 1) : 0;
  undead_rule_special kind = undead_rule_kind(w.rule);
  if (!w.rule || kind == UNDEAD_RULE_FOREIGN || (w.rule & UNDEAD_RULE_GUESS && !(w.rule & UNDEAD_RULE_FOLLOWED)))
    return UNDEAD_STEP_LOST;
  if (!leave(&w)) return UNDEAD_STEP_LOST;
  *frame = w.frame;
  return kind == UNDEAD_RULE_SIGNAL ? UNDEAD_STEP_INTERRUPTED : UNDEAD_STEP_CALLER;
}
