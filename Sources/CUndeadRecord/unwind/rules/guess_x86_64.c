// swiftc and clang without -g leave out the unwind information of functions that throw nothing, and optimised ones have
// no frame pointer. Every way out of a function takes off the stack what is on it, so one way is enough.
#include "unwind/rules/guess_x86_64.h"
#include "platform/memory/memory.h"
#include "platform/memory/page.h"
#include "undead_instruction_x86_64.h"
#include <string.h>

static const undead_rule unknown = UNDEAD_RULE_SPECIAL | UNDEAD_RULE_VALID | (uint64_t)UNDEAD_RULE_UNKNOWN << 32;

enum { MAX_STEPS = 4000, MAX_BRANCHES = 64, RSP = 4, RBP = 5, REX_WIDE = 8, REX_R = 4, REX_B = 1 };

// Where rsp is: relative to rsp or rbp as they are at the start.
typedef struct {
  uintptr_t at;
  bool by_rbp;
  bool saved;              // rbp was taken from the stack, from `slot` relative to the same base
  int64_t rsp, slot;
  int64_t fresh;           // bytes that were put on the stack on the way: by a function that is jumped to, for one
} state;

typedef enum { GOES_ON, RETURNS, LEADS_NOWHERE } outcome;

typedef struct {
  const undead_image *image;
  state now;
  state branches[MAX_BRANCHES];   // ways that were not taken yet
  uintptr_t seen[MAX_BRANCHES];   // where they begin
  unsigned branch_count, seen_count;
  uintptr_t readable_page;
} follower;

static bool is_code(follower *f, uintptr_t at) {
  if (at < f->image->low || at >= f->image->high) return false;
  uintptr_t page = undead_page_of(at);
  if (page == f->readable_page) return true;
  if (!undead_page_is_readable(page)) return false;
  f->readable_page = page;
  return true;
}

static bool decode(follower *f, uintptr_t at, undead_instruction *instruction) {
  if (!is_code(f, at)) return false;
  uintptr_t end = undead_page_of(at) + UNDEAD_PAGE;
  // Its last bytes may be on the next page.
  if (end - at < 16 && is_code(f, end)) end += UNDEAD_PAGE;
  return undead_instruction_decode((const uint8_t *)at, end - at, instruction);
}

static bool is_one_byte(const undead_instruction *i) { return i->map == UNDEAD_MAP_ONE_BYTE && !i->is_vector; }

// The function that a jump leads to begins with a jump through memory: an entry of the PLT.
static bool leads_away(follower *f, uintptr_t target) {
  static const uint8_t end_branch[4] = {0xF3, 0x0F, 0x1E, 0xFA};
  undead_instruction first;
  if (is_code(f, target) && memcmp((const void *)target, end_branch, sizeof end_branch) == 0) target += 4;
  return decode(f, target, &first) && is_one_byte(&first) && first.opcode == 0xFF && first.modrm == 0x25;
}

static bool is_first_visit(follower *f, uintptr_t target) {
  for (unsigned i = 0; i < f->seen_count; i++)
    if (f->seen[i] == target) return false;
  if (f->seen_count == MAX_BRANCHES) return false;
  f->seen[f->seen_count++] = target;
  return true;
}

static void keep_branch(follower *f, uintptr_t target) {
  if (f->branch_count == MAX_BRANCHES || !is_first_visit(f, target)) return;
  f->branches[f->branch_count] = f->now;
  f->branches[f->branch_count++].at = target;
}

static outcome jump(follower *f, uintptr_t target) {
  if (leads_away(f, target)) return RETURNS;
  if (!is_first_visit(f, target)) return LEADS_NOWHERE;
  f->now.at = target;
  return GOES_ON;
}

static outcome move_rsp(follower *f, int64_t bytes) {
  f->now.rsp += bytes;
  f->now.fresh -= bytes;
  if (f->now.fresh < 0) f->now.fresh = 0;
  return GOES_ON;
}

static outcome pop(follower *f, unsigned reg) {
  if (reg == RSP) return LEADS_NOWHERE;
  if (reg == RBP && !f->now.fresh) {
    f->now.saved = true;
    f->now.slot = f->now.rsp;
  }
  return move_rsp(f, 8);
}

static outcome load_rsp_from_rbp(follower *f, int64_t offset) {
  // Once rbp is the caller's, nothing is found by it any more.
  if (f->now.saved) return LEADS_NOWHERE;
  f->now.by_rbp = true;
  f->now.rsp = offset;
  f->now.fresh = 0;
  return GOES_ON;
}

// Instructions that write to rsp, other than push, pop and those that leave the function.
static outcome set_rsp(follower *f, const undead_instruction *i) {
  unsigned mod = UNDEAD_MODRM_MOD(i->modrm), reg = UNDEAD_MODRM_REG(i->modrm), rm = UNDEAD_MODRM_RM(i->modrm);
  if ((i->opcode == 0x81 || i->opcode == 0x83) && (reg == 0 || reg == 5))
    return move_rsp(f, reg == 0 ? i->immediate : -i->immediate);
  bool extended = i->rex & REX_B;
  if (i->opcode == 0x8D && !extended && rm == RBP && (mod == 1 || mod == 2))
    return load_rsp_from_rbp(f, i->displacement);
  if (i->opcode == 0x8D && !extended && rm == RSP && (mod == 1 || mod == 2)) {   // by way of a SIB byte: rsp alone?
    const uint8_t *sib = (const uint8_t *)f->now.at + (i->rex ? 3 : 2);
    return *sib == 0x24 ? move_rsp(f, i->displacement) : LEADS_NOWHERE;
  }
  if (i->opcode == 0x89 && reg == RBP && !(i->rex & REX_R)) return load_rsp_from_rbp(f, 0);
  if (i->opcode == 0x8B && mod == 3 && rm == RBP && !extended) return load_rsp_from_rbp(f, 0);
  return LEADS_NOWHERE;
}

// True if the instruction, of the one-byte map with a ModRM byte, writes to rsp or a part of it.
static bool writes_rsp(const undead_instruction *i) {
  uint8_t opcode = i->opcode;
  bool to_rm = UNDEAD_MODRM_MOD(i->modrm) == 3 && UNDEAD_MODRM_RM(i->modrm) == RSP && !(i->rex & REX_B);
  bool to_reg = UNDEAD_MODRM_REG(i->modrm) == RSP && !(i->rex & REX_R);
  if (opcode < 0x38) return (opcode & 7) == 1 ? to_rm : (opcode & 7) == 3 ? to_reg : false;
  if (opcode == 0x81 || opcode == 0x83) return to_rm && UNDEAD_MODRM_REG(i->modrm) != 7;
  if (opcode == 0x89 || opcode == 0xC7) return to_rm;
  if (opcode == 0x87) return to_rm || to_reg;
  return (opcode == 0x8B || opcode == 0x8D || opcode == 0x63) && to_reg;
}

// Padding behind a call: what was called never comes back, and another function begins.
static bool is_padding(const undead_instruction *i) {
  return (is_one_byte(i) && (i->opcode == 0x90 || i->opcode == 0xCC)) || (i->map == UNDEAD_MAP_0F && i->opcode == 0x1F);
}

static outcome call(follower *f, uintptr_t next) {
  undead_instruction following;
  return decode(f, next, &following) && !is_padding(&following) ? GOES_ON : LEADS_NOWHERE;
}

// FF: calls, jumps and pushes by way of a register or of memory.
static outcome group_five(follower *f, const undead_instruction *i, uintptr_t next) {
  bool by_register = UNDEAD_MODRM_MOD(i->modrm) == 3;
  switch (UNDEAD_MODRM_REG(i->modrm)) {
  case 2: return call(f, next);
  // A function of a class or witness table; tables of jumps are read into a register first.
  case 4: return by_register ? LEADS_NOWHERE : RETURNS;
  case 6: return move_rsp(f, -8);
  default: return GOES_ON;
  }
}

static outcome step_one_byte(follower *f, const undead_instruction *i, uintptr_t next) {
  uint8_t opcode = i->opcode;
  if (opcode >= 0x50 && opcode <= 0x57) return move_rsp(f, -8);
  if (opcode >= 0x58 && opcode <= 0x5F) return pop(f, opcode - 0x58u + (i->rex & REX_B ? 8 : 0));
  if ((opcode >= 0x70 && opcode <= 0x7F) || (opcode >= 0xE0 && opcode <= 0xE3)) {
    keep_branch(f, next + (uintptr_t)i->immediate);
    return GOES_ON;
  }
  switch (opcode) {
  case 0x68: case 0x6A: return move_rsp(f, -8);
  case 0x8F: return move_rsp(f, 8);
  case 0xC2: case 0xC3: return RETURNS;
  case 0xC9: return load_rsp_from_rbp(f, 0) == GOES_ON ? pop(f, RBP) : LEADS_NOWHERE;
  case 0xCC: case 0xF4: case 0xCF: return LEADS_NOWHERE;
  case 0xE8: return call(f, next);
  case 0xE9: case 0xEB: return jump(f, next + (uintptr_t)i->immediate);
  case 0xFF: return group_five(f, i, next);
  default: return i->has_modrm && writes_rsp(i) ? set_rsp(f, i) : GOES_ON;
  }
}

static outcome follow_step(follower *f) {
  undead_instruction i;
  uintptr_t at = f->now.at;
  if (!decode(f, at, &i)) return LEADS_NOWHERE;
  uintptr_t next = at + i.length;
  outcome result = GOES_ON;
  if (is_one_byte(&i)) {
    result = step_one_byte(f, &i, next);
  } else if (i.map == UNDEAD_MAP_0F && !i.is_vector) {
    if (i.opcode >= 0x80 && i.opcode <= 0x8F) keep_branch(f, next + (uintptr_t)i.immediate);
    else if (i.opcode == 0x0B) result = LEADS_NOWHERE;   // ud2
  }
  if (result == GOES_ON && f->now.at == at) f->now.at = next;
  return result;
}

static undead_rule rule_of(const state *end, bool is_called) {
  enum { FARTHEST_OF_RBP = 64 };
  int64_t offset = end->rsp + 8, saved = end->saved ? offset - end->slot : 0;
  if (offset < 8 || offset > (end->by_rbp ? FARTHEST_OF_RBP : UNDEAD_RULE_FIELD)) return unknown;
  if (saved < 0 || saved > offset) return unknown;
  if ((offset | saved) & 7 || (end->by_rbp && !end->saved)) return unknown;
  // At a call, rsp and the CFA are multiples of 16 (System V ABI, 3.2.2): else another function was run into.
  if (is_called && !end->by_rbp && offset & 15) return unknown;
  uint64_t flags = UNDEAD_RULE_GUESS | UNDEAD_RULE_FOLLOWED | (end->by_rbp ? UNDEAD_RULE_BP : 0);
  return undead_rule_make(flags, (uint64_t)offset, (uint64_t)saved);
}

undead_rule undead_rule_of_epilogue(const undead_image *image, uintptr_t pc, bool is_called) {
  follower f = {.image = image, .now = {.at = pc}};
  undead_instruction first;
  if (!decode(&f, pc, &first) || is_padding(&first)) return unknown;
  for (int steps = 0; steps < MAX_STEPS; steps++) {
    outcome result = follow_step(&f);
    if (result == RETURNS) return rule_of(&f.now, is_called);
    if (result == GOES_ON) continue;
    if (!f.branch_count) break;
    f.now = f.branches[--f.branch_count];
  }
  return unknown;
}

// Functions without unwind information occur in the toolchain's libraries; they begin with a frame pointer prologue
// ("push rbp; mov rbp, rsp"). Looks for it between `low`, where the function before ends, and `pc`.
static undead_rule rule_of_prologue(uintptr_t pc, uintptr_t low) {
  static const uint8_t prologue[4] = {0x55, 0x48, 0x89, 0xE5};
  const uintptr_t far = 16384, near = 1024;
  undead_rule found = undead_rule_make(UNDEAD_RULE_BP | UNDEAD_RULE_GUESS, 16, 16);
  uintptr_t page = undead_page_of(pc);
  for (uintptr_t at = pc & ~(uintptr_t)15; at >= low && pc - at < far; at -= 16) {
    if (at < page && !undead_page_is_readable(page = undead_page_of(at))) break;
    if (memcmp((const void *)at, prologue, sizeof prologue) == 0) return found;
  }
  for (uintptr_t at = pc - sizeof prologue; at >= low && at >= page && pc - at < near; at--)
    if (memcmp((const void *)at, prologue, sizeof prologue) == 0) return found;
  return unknown;
}

// True if `next` is where a call returns to: right behind E8 and 4 bytes, or FF /2 with an operand of up to 6 bytes.
static bool is_behind_call(uintptr_t next) {
  enum { CALL = 0xE8, GROUP_FIVE = 0xFF, LONGEST = 7 };
  const uint8_t *end = (const uint8_t *)next;
  if (!undead_page_is_readable(next - LONGEST)) return false;
  if (end[-5] == CALL) return true;
  for (int back = 2; back <= LONGEST; back++)
    if (end[-back] == GROUP_FIVE && (end[1 - back] >> 3 & 7) == 2) return true;
  return false;
}

undead_rule undead_rule_without_entry(const undead_image *image, uintptr_t pc, uintptr_t low) {
  bool is_called = is_behind_call(pc + 1);
  undead_rule rule = undead_rule_of_epilogue(image, is_called ? pc + 1 : pc, is_called);
  if (undead_rule_kind(rule)) return rule_of_prologue(pc, low);
  // With a frame pointer libunwind gets out, too.
  bool has_frame_pointer = undead_rule_saved(rule) == 16 && !undead_rule_kind(rule_of_prologue(pc, low));
  return has_frame_pointer ? rule & ~(undead_rule)UNDEAD_RULE_FOLLOWED : rule;
}
