// A small interpreter of .eh_frame: computes the rule of one instruction. The CFA, the return address and the registers that
// functions keep are followed; what needs another one is left to libunwind.
#include "platform/processor/processor.h"
#include "unwind/rules/dwarf_reader.h"
#include "unwind/rules/guess_x86_64.h"
#include "unwind/rules/images.h"
#include "unwind/rule_x86_64.h"
#include <string.h>

enum { REGISTER_RBX = 3, REGISTER_RBP = 6, REGISTER_RSP = 7, REGISTER_R12 = 12, REGISTER_R15 = 15, REGISTER_RIP = 16 };

// An address or a number that is known but for the value of one register at run time.
typedef struct {
  enum { VALUE_ODD, VALUE_NUMBER, VALUE_RSP, VALUE_RBP, VALUE_AT_RBP, VALUE_KEPT } base;   // AT_RBP: the word at rbp + offset
  int64_t offset;
  undead_kept_register kept;
} symbolic_value;

typedef struct {
  enum { SAVED_NOWHERE, SAVED_AT_CFA, SAVED_AT_RBP, SAVED_ODD } where;
  int32_t offset;
} saved_place;

enum { PLACE_RBP = UNDEAD_KEPT_COUNT, PLACES, NO_PLACE = -1 };
typedef struct {
  symbolic_value cfa;
  saved_place places[PLACES];   // of the kept registers, and of rbp
  enum { RETURN_ODD, RETURN_AT_CFA, RETURN_UNDEFINED } return_address;
} row;

static int place_of_register(uint64_t number) {
  if (number == REGISTER_RBP) return PLACE_RBP;
  if (number == REGISTER_RBX) return UNDEAD_RBX;
  return number >= REGISTER_R12 && number <= REGISTER_R15 ? UNDEAD_R12 + (int)(number - REGISTER_R12) : NO_PLACE;
}

typedef struct {
  const uint8_t *instructions, *end;
  uint64_t code_factor;
  int64_t data_factor;
  uint8_t pointer_encoding;
  bool augmented, signal_frame;
} common_entry;

#define STATE_DEPTH 8
typedef struct {
  uintptr_t pc, location;
  const common_entry *common;
  row current, initial, remembered[STATE_DEPTH];
  unsigned depth;
  bool odd;        // something that this interpreter does not know
  bool finished;   // the row for `pc` is complete
} machine;

static symbolic_value operate(uint8_t operation, symbolic_value left, symbolic_value right) {
  symbolic_value odd = {.base = VALUE_ODD};
  if (operation == DW_OP_plus && left.base == VALUE_NUMBER && right.base != VALUE_ODD && right.base != VALUE_AT_RBP)
    return (symbolic_value){.base = right.base, .offset = left.offset + right.offset};
  if (right.base != VALUE_NUMBER || left.base == VALUE_ODD || left.base == VALUE_AT_RBP) return odd;
  if (operation == DW_OP_plus) return (symbolic_value){.base = left.base, .offset = left.offset + right.offset};
  if (operation == DW_OP_minus) return (symbolic_value){.base = left.base, .offset = left.offset - right.offset};
  if (left.base != VALUE_NUMBER) return odd;
  switch (operation) {
  case DW_OP_and: return (symbolic_value){.base = VALUE_NUMBER, .offset = left.offset & right.offset};
  case DW_OP_ge: return (symbolic_value){.base = VALUE_NUMBER, .offset = left.offset >= right.offset};
  case DW_OP_shl:
    return right.offset >= 0 && right.offset < 63
               ? (symbolic_value){.base = VALUE_NUMBER, .offset = (int64_t)((uint64_t)left.offset << right.offset)}
               : odd;
  default: return odd;
  }
}

// Pushes the constant or register of an operation; false if the operation is neither.
static bool push_operand(dwarf_reader *reader, uint8_t operation, uintptr_t pc, symbolic_value *value) {
  value->base = VALUE_NUMBER;
  if (operation >= DW_OP_lit0 && operation < DW_OP_lit0 + 32) {
    value->offset = operation - DW_OP_lit0;
  } else if (operation >= DW_OP_breg0 && operation < DW_OP_breg0 + 32) {
    int number = operation - DW_OP_breg0;
    value->offset = dwarf_sleb(reader);
    if (number == REGISTER_RIP) value->offset += (int64_t)pc;
    else value->base = number == REGISTER_RSP ? VALUE_RSP : number == REGISTER_RBP ? VALUE_RBP : VALUE_ODD;
  } else if (operation == DW_OP_const1u) {
    value->offset = dwarf_u8(reader);
  } else if (operation == DW_OP_const1s) {
    value->offset = (int8_t)dwarf_u8(reader);
  } else if (operation == DW_OP_constu) {
    value->offset = (int64_t)dwarf_uleb(reader);
  } else if (operation == DW_OP_consts) {
    value->offset = dwarf_sleb(reader);
  } else {
    return false;
  }
  return true;
}

static symbolic_value evaluate(const uint8_t *start, uint64_t length, uintptr_t pc) {
  symbolic_value odd = {.base = VALUE_ODD}, stack[8], operand;
  unsigned depth = 0;
  dwarf_reader reader = {start, start + length, false};
  while (reader.at < reader.end) {
    uint8_t operation = dwarf_u8(&reader);
    if (push_operand(&reader, operation, pc, &operand)) {
      if (depth == 8) return odd;
      stack[depth++] = operand;
    } else if (operation == DW_OP_deref && depth > 0 && stack[depth - 1].base == VALUE_RBP) {
      stack[depth - 1].base = VALUE_AT_RBP;
    } else if (operation == DW_OP_plus_uconst && depth > 0 && stack[depth - 1].base != VALUE_AT_RBP) {
      stack[depth - 1].offset += (int64_t)dwarf_uleb(&reader);
    } else if (depth >= 2) {
      depth--;
      stack[depth - 1] = operate(operation, stack[depth - 1], stack[depth]);
    } else {
      return odd;
    }
  }
  return depth == 1 && !reader.failed ? stack[0] : odd;
}

static symbolic_value register_value(uint64_t number, int64_t offset) {
  if (number == REGISTER_RSP) return (symbolic_value){.base = VALUE_RSP, .offset = offset};
  if (number == REGISTER_RBP) return (symbolic_value){.base = VALUE_RBP, .offset = offset};
  int place = place_of_register(number);
  if (place == NO_PLACE) return (symbolic_value){.base = VALUE_ODD, .offset = offset};
  return (symbolic_value){.base = VALUE_KEPT, .offset = offset, .kept = (undead_kept_register)place};
}

static void set_place(row *current, uint64_t number, saved_place saved) {
  int place = place_of_register(number);
  if (place != NO_PLACE) current->places[place] = saved;
}

static void set_offset(row *current, uint64_t number, int64_t offset) {
  set_place(current, number, (saved_place){offset == (int32_t)offset ? SAVED_AT_CFA : SAVED_ODD, (int32_t)offset});
  if (number == REGISTER_RIP) current->return_address = offset == -8 ? RETURN_AT_CFA : RETURN_ODD;
}

static void set_odd(row *current, uint64_t number) {
  set_place(current, number, (saved_place){.where = SAVED_ODD});
  if (number == REGISTER_RIP) current->return_address = RETURN_ODD;
}

static void restore(machine *m, uint64_t number) {
  int place = place_of_register(number);
  if (place != NO_PLACE) m->current.places[place] = m->initial.places[place];
  if (number == REGISTER_RIP) m->current.return_address = m->initial.return_address;
}

static void set_undefined(row *current, uint64_t number) {
  // Of an rbp that has no value nobody depends; another register is looked for only where somebody does.
  set_place(current, number, (saved_place){.where = number == REGISTER_RBP ? SAVED_NOWHERE : SAVED_ODD});
  if (number == REGISTER_RIP) current->return_address = RETURN_UNDEFINED;
}

static void advance(machine *m, uintptr_t location) {
  if (location > m->pc) m->finished = true;
  else m->location = location;
}

static void set_expression(machine *m, dwarf_reader *reader, bool is_value) {
  uint64_t number = dwarf_uleb(reader), length = dwarf_uleb(reader);
  const uint8_t *start = dwarf_skip(reader, length);
  if (!start) return;
  symbolic_value slot = evaluate(start, length, m->pc);
  bool fits = !is_value && slot.base == VALUE_RBP && slot.offset == (int32_t)slot.offset;
  if (fits && place_of_register(number) != NO_PLACE) set_place(&m->current, number, (saved_place){SAVED_AT_RBP, (int32_t)slot.offset});
  else set_odd(&m->current, number);
}

static void push_row(machine *m) {
  if (m->depth == STATE_DEPTH) m->odd = true;
  else m->remembered[m->depth++] = m->current;
}

static void recall(machine *m) {
  if (m->depth == 0) m->odd = true;
  else m->current = m->remembered[--m->depth];
}

static void define_cfa(machine *m, uint8_t instruction, dwarf_reader *reader) {
  row *current = &m->current;
  int64_t factor = m->common->data_factor;
  uint64_t number, length;
  const uint8_t *start;
  switch (instruction) {
  case DW_CFA_def_cfa:
    number = dwarf_uleb(reader);
    current->cfa = register_value(number, (int64_t)dwarf_uleb(reader));
    break;
  case DW_CFA_def_cfa_sf:
    number = dwarf_uleb(reader);
    current->cfa = register_value(number, dwarf_sleb(reader) * factor);
    break;
  case DW_CFA_def_cfa_register:
    current->cfa = register_value(dwarf_uleb(reader), current->cfa.offset);
    break;
  case DW_CFA_def_cfa_offset: current->cfa.offset = (int64_t)dwarf_uleb(reader); break;
  case DW_CFA_def_cfa_offset_sf: current->cfa.offset = dwarf_sleb(reader) * factor; break;
  case DW_CFA_def_cfa_expression:
    length = dwarf_uleb(reader);
    start = dwarf_skip(reader, length);
    if (start) current->cfa = evaluate(start, length, m->pc);
    break;
  default: m->odd = true;
  }
}

// The instructions whose operands are not in the opcode itself.
static void step_extended(machine *m, uint8_t instruction, dwarf_reader *reader) {
  int64_t factor = m->common->data_factor;
  uint64_t number;
  switch (instruction) {
  case DW_CFA_nop: break;
  case DW_CFA_set_loc: advance(m, dwarf_encoded(reader, m->common->pointer_encoding, 0)); break;
  case DW_CFA_advance_loc1: advance(m, m->location + dwarf_u8(reader) * m->common->code_factor); break;
  case DW_CFA_advance_loc2: advance(m, m->location + dwarf_u16(reader) * m->common->code_factor); break;
  case DW_CFA_advance_loc4: advance(m, m->location + dwarf_u32(reader) * m->common->code_factor); break;
  case DW_CFA_offset_extended:
    number = dwarf_uleb(reader);
    set_offset(&m->current, number, (int64_t)dwarf_uleb(reader) * factor);
    break;
  case DW_CFA_offset_extended_sf:
    number = dwarf_uleb(reader);
    set_offset(&m->current, number, dwarf_sleb(reader) * factor);
    break;
  case DW_CFA_restore_extended: restore(m, dwarf_uleb(reader)); break;
  case DW_CFA_undefined: set_undefined(&m->current, dwarf_uleb(reader)); break;
  case DW_CFA_same_value:
    number = dwarf_uleb(reader);
    if (place_of_register(number) == NO_PLACE) set_odd(&m->current, number);
    else set_place(&m->current, number, (saved_place){.where = SAVED_NOWHERE});
    break;
  case DW_CFA_register:
  case DW_CFA_val_offset:
  case DW_CFA_val_offset_sf:
    set_odd(&m->current, dwarf_uleb(reader));
    dwarf_uleb(reader);
    break;
  case DW_CFA_remember_state: push_row(m); break;
  case DW_CFA_restore_state: recall(m); break;
  case DW_CFA_expression: set_expression(m, reader, false); break;
  case DW_CFA_val_expression: set_expression(m, reader, true); break;
  case DW_CFA_GNU_args_size: dwarf_uleb(reader); break;
  default: define_cfa(m, instruction, reader);
  }
}

static void run(machine *m, const uint8_t *start, const uint8_t *end) {
  dwarf_reader reader = {start, end, false};
  while (reader.at < reader.end && !m->finished && !m->odd) {
    uint8_t instruction = dwarf_u8(&reader);
    uint8_t low = instruction & 63;
    switch (instruction >> 6) {
    case 1: advance(m, m->location + low * m->common->code_factor); break;
    case 2: set_offset(&m->current, low, (int64_t)dwarf_uleb(&reader) * m->common->data_factor); break;
    case 3: restore(m, low); break;
    default: step_extended(m, low, &reader);
    }
    if (reader.failed) m->odd = true;
  }
}

static bool read_common_entry(const uint8_t *entry, common_entry *common) {
  uint32_t length;
  memcpy(&length, entry, 4);
  if (length == 0xFFFFFFFF) return false;
  dwarf_reader reader = {entry + 8, entry + 4 + length, false};
  uint8_t version = dwarf_u8(&reader);
  const char *augmentation = (const char *)reader.at;
  dwarf_skip(&reader, strlen(augmentation) + 1);
  *common = (common_entry){.end = reader.end, .augmented = augmentation[0] == 'z'};
  common->code_factor = dwarf_uleb(&reader);
  common->data_factor = dwarf_sleb(&reader);
  uint64_t return_register = version == 1 ? dwarf_u8(&reader) : dwarf_uleb(&reader);
  if (return_register != REGISTER_RIP || (augmentation[0] && !common->augmented)) return false;
  uint64_t data_length = common->augmented ? dwarf_uleb(&reader) : 0;
  common->instructions = reader.at + data_length;
  for (const char *letter = augmentation; *letter; letter++) {
    if (*letter == 'R') common->pointer_encoding = dwarf_u8(&reader);
    else if (*letter == 'P') dwarf_encoded(&reader, dwarf_u8(&reader) & 0x7F, 0);
    else if (*letter == 'L') dwarf_u8(&reader);
    else if (*letter == 'S') common->signal_frame = true;
    else if (*letter != 'z') return false;
  }
  return !reader.failed;
}

static undead_rule special(undead_rule_special kind) {
  return undead_rule_make(UNDEAD_RULE_SPECIAL, 0, kind);
}

static undead_rule foreign_rule(void) {
  return undead_rule_make(UNDEAD_RULE_SPECIAL | UNDEAD_RULE_BP, 0, UNDEAD_RULE_FOREIGN);
}

#define MAX_RBP_OFFSET 64   // it is 16 in practice

// CFA = a kept register + offset.
static undead_rule rule_by_register(const row *current) {
  const saved_place *rbp = &current->places[PLACE_RBP];
  int64_t offset = current->cfa.offset, saved = rbp->where == SAVED_AT_CFA ? -(int64_t)rbp->offset : 0;
  if (rbp->where == SAVED_AT_RBP || offset < 8 || offset > UNDEAD_RULE_FIELD) return special(UNDEAD_RULE_UNKNOWN);
  if (saved < 0 || saved > UNDEAD_RULE_FIELD || ((offset | saved) & 7)) return special(UNDEAD_RULE_UNKNOWN);
  uint64_t details = UNDEAD_RULE_REGISTER | (uint64_t)current->cfa.kept << 4 | (uint64_t)saved << 8;
  return undead_rule_make(UNDEAD_RULE_SPECIAL, (uint64_t)offset, details);
}

static undead_rule rule_of_row(const row *current) {
  const saved_place *rbp = &current->places[PLACE_RBP];
  if (current->return_address == RETURN_UNDEFINED) return special(UNDEAD_RULE_STOP);
  if (current->return_address != RETURN_AT_CFA || rbp->where == SAVED_ODD) return special(UNDEAD_RULE_UNKNOWN);
  if (current->cfa.base == VALUE_KEPT) return rule_by_register(current);
  if (current->cfa.base == VALUE_AT_RBP) {
    int64_t offset = -current->cfa.offset;
    bool fits = offset >= 0 && offset <= UNDEAD_RULE_FIELD && rbp->where == SAVED_AT_RBP && rbp->offset == 0;
    return fits ? undead_rule_make(UNDEAD_RULE_SPECIAL | UNDEAD_RULE_BP, (uint64_t)offset, UNDEAD_RULE_DEREF)
                : special(UNDEAD_RULE_UNKNOWN);
  }
  bool by_rbp = current->cfa.base == VALUE_RBP;
  if (!by_rbp && current->cfa.base != VALUE_RSP) return special(UNDEAD_RULE_UNKNOWN);
  int64_t offset = current->cfa.offset;
  int64_t saved = rbp->where == SAVED_AT_CFA ? -(int64_t)rbp->offset : 0;
  if (rbp->where == SAVED_AT_RBP) saved = by_rbp ? offset - rbp->offset : -1;
  // What follows a rule relies on this: slots are aligned and not far below the stack pointer. Where a signal comes between the last
  // pop and the return, the slot is below it: what is there stays, as in a function that saves rbp there without a push.
  int64_t farthest = offset + (by_rbp ? 0 : UNDEAD_RED_ZONE);
  if (offset < 8 || offset > (by_rbp ? MAX_RBP_OFFSET : UNDEAD_RULE_FIELD) || saved < 0 || saved > farthest || ((offset | saved) & 7))
    return special(UNDEAD_RULE_UNKNOWN);
  return undead_rule_make(by_rbp ? UNDEAD_RULE_BP : 0, (uint64_t)offset, (uint64_t)saved);
}

// The entry of the sorted table in .eh_frame_hdr that may cover `pc`; NULL if there is none.
static const uint8_t *find_entry(const undead_image *image, uintptr_t pc) {
  const uint8_t *header = image->eh_frame_hdr;
  if (!header || header[0] != 1 || header[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4)) return NULL;
  dwarf_reader reader = {header + 4, header + 4 + 16, false};
  dwarf_encoded(&reader, header[1], (uintptr_t)header);
  uintptr_t count = dwarf_encoded(&reader, header[2], (uintptr_t)header);
  const int32_t *table = (const int32_t *)reader.at;
  uintptr_t low = 0, high = count;
  while (low < high) {
    uintptr_t middle = (low + high) / 2;
    if ((uintptr_t)header + (uintptr_t)(intptr_t)table[2 * middle] <= pc) low = middle + 1;
    else high = middle;
  }
  return low ? header + table[2 * (low - 1) + 1] : NULL;
}

static undead_rule compute_without_entry(const undead_image *image, uintptr_t pc, uintptr_t low) {
  undead_rule rule = undead_rule_without_entry(image, pc, low);
  return undead_rule_kind(rule) == UNDEAD_RULE_UNKNOWN ? foreign_rule() : rule;
}

// Asynchronous Swift functions save their context right after rbp: "push rbp; push r14; lea rbp, [rsp + 8]".
static bool is_asynchronous(uintptr_t start, uintptr_t pc) {
  static const uint8_t prologue[] = {0x55, 0x41, 0x56, 0x48, 0x8D, 0x6C, 0x24, 0x08};
  return pc - start >= sizeof prologue && memcmp((const void *)start, prologue, sizeof prologue) == 0;
}

// What the tables say of an address.
typedef struct {
  enum { ENTRY_NONE, ENTRY_ODD, ENTRY_SIGNAL, ENTRY_ROW } kind;
  uintptr_t start;   // of the function; without an entry where the one before ends
  row row;
} table_entry;

static void read_table_entry(const undead_image *image, uintptr_t pc, table_entry *found) {
  *found = (table_entry){.kind = ENTRY_NONE, .start = image->low};
  const uint8_t *entry = find_entry(image, pc);
  if (!entry) return;
  found->kind = ENTRY_ODD;
  uint32_t length, back;
  memcpy(&length, entry, 4);
  memcpy(&back, entry + 4, 4);
  undead_table_pages_note(image, entry, entry + 4 - back);
  common_entry common;
  if (length == 0xFFFFFFFF || !read_common_entry(entry + 4 - back, &common)) return;
  dwarf_reader reader = {entry + 8, entry + 4 + length, false};
  uintptr_t start = dwarf_encoded(&reader, common.pointer_encoding, 0);
  uintptr_t size = dwarf_encoded(&reader, common.pointer_encoding & 0x0F, 0);
  if (pc < start || reader.failed) return;
  bool is_within = pc < start + size;
  found->start = is_within ? start : start + size;
  found->kind = !is_within ? ENTRY_NONE : common.signal_frame ? ENTRY_SIGNAL : ENTRY_ODD;
  if (found->kind != ENTRY_ODD) return;
  if (common.augmented) dwarf_skip(&reader, dwarf_uleb(&reader));

  machine m = {.pc = pc, .location = start, .common = &common};
  m.current = (row){.cfa = {.base = VALUE_RSP, .offset = 8}, .return_address = RETURN_ODD};
  run(&m, common.instructions, common.end);
  m.initial = m.current;
  if (!m.finished) run(&m, reader.at, reader.end);
  if (m.odd) return;
  found->kind = ENTRY_ROW;
  found->row = m.current;
}

static undead_rule compute_in_image(const undead_image *image, uintptr_t pc) {
  table_entry entry;
  read_table_entry(image, pc, &entry);
  if (entry.kind == ENTRY_NONE) return compute_without_entry(image, pc, entry.start);
  if (entry.kind != ENTRY_ROW) return special(entry.kind == ENTRY_SIGNAL ? UNDEAD_RULE_SIGNAL : UNDEAD_RULE_UNKNOWN);
  undead_rule rule = rule_of_row(&entry.row);
  bool saves_context = undead_rule_kind(rule) == 0 && undead_rule_saved(rule) == 16 && is_asynchronous(entry.start, pc);
  return saves_context ? rule | UNDEAD_RULE_ASYNC : rule;
}

static uint64_t saves_of_place(const saved_place *place) {
  int64_t words = -(int64_t)place->offset / 8;
  bool is_slot = place->where == SAVED_AT_CFA || place->where == SAVED_AT_RBP;
  if (place->where == SAVED_NOWHERE) return 0;
  // No slot lies at the CFA itself; at rbp there may be one.
  int64_t least = place->where == SAVED_AT_CFA ? 1 : 0;
  if (!is_slot || place->offset & 7 || words < least || words >= 0x7FF) return UNDEAD_SAVED_UNKNOWN;
  return (uint64_t)words | (place->where == SAVED_AT_RBP ? UNDEAD_SAVED_BY_RBP : 0);
}

undead_saves undead_saves_compute(uintptr_t pc) {
  undead_image image;
  table_entry entry = {.kind = ENTRY_NONE};
  if (undead_image_find(pc, &image)) read_table_entry(&image, pc, &entry);
  undead_saves saves = 0;
  for (int place = 0; place < UNDEAD_KEPT_COUNT; place++)
    saves |= (entry.kind == ENTRY_ROW ? saves_of_place(&entry.row.places[place]) : UNDEAD_SAVED_UNKNOWN) << 12 * place;
  return saves;
}

undead_rule undead_rule_compute(uintptr_t pc) {
  undead_image image;
  if (!undead_image_find(pc, &image)) {
    undead_image_note_foreign(pc);
    return foreign_rule();
  }
  undead_rule rule = compute_in_image(&image, pc);
  return undead_is_loader(pc) ? rule | UNDEAD_RULE_LOADER : rule;
}
