// Knows the few instructions with which compilers move values between two calls; at any other it gives up.
#include "zombies/next_call_x86_64.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)

enum { LONGEST_RUN = 16, SELF = 13, REX_W = 8, REX_R = 4, REX_B = 1 };

typedef struct {
  const uint8_t *next;
  uint8_t rex;
  uint8_t mode, reg, rm;     // of the ModRM byte, with the bits of REX
  int32_t displacement;
} instruction;

static int32_t read32(const uint8_t *bytes) {
  int32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

// Reads the ModRM byte at `next`, with the SIB byte and the displacement.
static void read_operands(instruction *in) {
  uint8_t modrm = *in->next++;
  uint8_t base = modrm & 7;
  in->mode = modrm >> 6;
  in->reg = (uint8_t)((modrm >> 3 & 7) | ((in->rex & REX_R) ? 8 : 0));
  in->rm = (uint8_t)(base | ((in->rex & REX_B) ? 8 : 0));
  in->displacement = 0;
  if (in->mode == 3) return;
  bool is_absolute = in->mode == 0 && base == 5;
  if (base == 4) {
    uint8_t sib = *in->next++;
    is_absolute = in->mode == 0 && (sib & 7) == 5;
    in->rm = 0xFF;
  }
  if (in->mode == 1) {
    in->displacement = (int8_t)*in->next++;
  } else if (in->mode == 2 || is_absolute) {
    in->displacement = read32(in->next);
    in->next += 4;
    if (is_absolute) in->rm = 0xFF;
  }
}

typedef enum { TO_REGISTER, TO_OPERAND, NO_MOVE } direction;

// Direction and bytes of the immediate of a one-byte opcode with a ModRM byte.
static direction classify(uint8_t opcode, int *immediate) {
  *immediate = 0;
  switch (opcode) {
    case 0x8B: case 0x8D: case 0x8A: case 0x33: case 0x03: case 0x2B: case 0x63: return TO_REGISTER;
    case 0x89: case 0x88: case 0x31: case 0x01: case 0x29: return TO_OPERAND;
    case 0xC6: case 0x83: *immediate = 1; return TO_OPERAND;
    case 0xC7: case 0x81: *immediate = 4; return TO_OPERAND;
    default: return NO_MOVE;
  }
}

// Opcodes after 0x0F: moves of vector registers, which leave r13 alone, widening moves, and no-operations.
static bool read_two_byte_opcode(instruction *in) {
  uint8_t opcode = *in->next++;
  bool is_vector = opcode == 0x10 || opcode == 0x11 || opcode == 0x28 || opcode == 0x29 || opcode == 0x57 ||
                   opcode == 0x6F || opcode == 0x7F || opcode == 0xD6;
  bool is_widening = opcode == 0xB6 || opcode == 0xB7;
  if (!is_vector && !is_widening && opcode != 0x1F) return false;
  read_operands(in);
  return !(is_widening && in->reg == SELF);
}

static bool loads_class_of_self(const instruction *in, uint8_t opcode) {
  return opcode == 0x8B && (in->rex & REX_W) != 0 && in->mode != 3 && in->rm == SELF && in->displacement == 0;
}

// Passes an instruction that is no call and leaves r13 as it is; false at any other.
static bool pass(instruction *in, uint8_t opcode, bool *has_class) {
  if (opcode == 0x90) return true;
  if (opcode == 0x0F) return read_two_byte_opcode(in);
  if (opcode >= 0xB8 && opcode <= 0xBF) {
    in->next += (in->rex & REX_W) ? 8 : 4;
    return ((opcode & 7) | ((in->rex & REX_B) ? 8 : 0)) != SELF;
  }
  int immediate;
  direction direction = classify(opcode, &immediate);
  if (direction == NO_MOVE) return false;
  read_operands(in);
  in->next += immediate;
  if (direction == TO_REGISTER && in->reg == SELF) return false;
  if (direction == TO_OPERAND && in->mode == 3 && in->rm == SELF) return false;
  if (loads_class_of_self(in, opcode)) *has_class = true;
  return true;
}

// The function behind an entry of the procedure linkage table: [endbr64] [bnd] jmp *slot(%rip).
static uintptr_t behind_linkage_table(uintptr_t target) {
  const uint8_t *code = (const uint8_t *)target;
  if (code[0] == 0xF3 && code[1] == 0x0F && code[2] == 0x1E && code[3] == 0xFA) code += 4;
  if (code[0] == 0xF2) code++;
  if (code[0] != 0xFF || code[1] != 0x25) return target;
  return *(const uintptr_t *)((uintptr_t)code + 6 + (uintptr_t)(intptr_t)read32(code + 2));
}

undead_next_call undead_find_next_call(uintptr_t address, uintptr_t *target) {
  instruction in = {.next = (const uint8_t *)address};
  bool has_class = false;
  *target = 0;
  for (int count = 0; count < LONGEST_RUN; count++) {
    uint8_t opcode = *in.next++;
    in.rex = 0;
    while (opcode == 0x66 || opcode == 0xF2 || opcode == 0xF3) opcode = *in.next++;
    if ((opcode & 0xF0) == 0x40) {
      in.rex = opcode;
      opcode = *in.next++;
    }
    if (opcode == 0xE8) {
      *target = behind_linkage_table((uintptr_t)in.next + 4 + (uintptr_t)(intptr_t)read32(in.next));
      return UNDEAD_NEXT_FUNCTION;
    }
    if (opcode == 0xFF) {
      read_operands(&in);
      bool is_call = (in.reg & 7) == 2;
      return is_call && has_class ? UNDEAD_NEXT_MESSAGE : UNDEAD_NEXT_UNKNOWN;
    }
    if (!pass(&in, opcode, &has_class)) return UNDEAD_NEXT_UNKNOWN;
  }
  return UNDEAD_NEXT_UNKNOWN;
}

#endif
