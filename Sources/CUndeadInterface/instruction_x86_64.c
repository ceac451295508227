// Intel SDM vol. 2, chapter 2 (formats) and appendix A (opcode maps).
#include "undead_instruction_x86_64.h"

enum { REX_W = 8 };

typedef struct {
  const uint8_t *at, *end;
  bool failed;
  bool narrow;   // operands of 16 bits
} reader;

static uint8_t next(reader *r) {
  if (r->at < r->end) return *r->at++;
  r->failed = true;
  return 0;
}

static int64_t number(reader *r, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)next(r) << 8 * i;
  unsigned unused = bytes ? 64 - 8 * bytes : 0;
  return (int64_t)(value << unused) >> unused;
}

// For each opcode of a map, four bits: a ModRM byte follows (1), and an immediate of 1 (2) or of 2 or 4 bytes (4);
// 8: not in 64-bit code, or special.
#define ARITHMETIC 1, 1, 1, 1, 2, 4
static const uint8_t one_byte[256] = {
  ARITHMETIC, 8, 8, ARITHMETIC, 8, 8,                // 00, 08 (0F is the escape)
  ARITHMETIC, 8, 8, ARITHMETIC, 8, 8,                // 10, 18
  ARITHMETIC, 8, 8, ARITHMETIC, 8, 8,                // 20, 28
  ARITHMETIC, 8, 8, ARITHMETIC, 8, 8,                // 30, 38
  8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,    // 40: REX
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    // 50: push, pop
  8, 8, 8, 1, 8, 8, 8, 8, 4, 5, 2, 3, 0, 0, 0, 0,    // 60
  2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,    // 70: jumps
  3, 5, 8, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,    // 80
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0,    // 90
  8, 8, 8, 8, 0, 0, 0, 0, 2, 4, 0, 0, 0, 0, 0, 0,    // A0
  2, 2, 2, 2, 2, 2, 2, 2, 8, 8, 8, 8, 8, 8, 8, 8,    // B0 (B8: the immediate may have 8 bytes)
  3, 3, 8, 0, 8, 8, 3, 5, 8, 0, 8, 0, 0, 2, 8, 0,    // C0 (C2: ret)
  1, 1, 1, 1, 8, 8, 8, 0, 1, 1, 1, 1, 1, 1, 1, 1,    // D0
  2, 2, 2, 2, 2, 2, 2, 2, 8, 8, 8, 2, 0, 0, 0, 0,    // E0 (E8, E9: 4 bytes always)
  8, 0, 8, 8, 0, 0, 8, 8, 0, 0, 0, 0, 0, 0, 1, 1,    // F0 (F6, F7: an immediate for test only)
};

// Of the map 0F only these differ from "ModRM and nothing else".
static uint8_t form_of_0f(uint8_t opcode) {
  if (opcode >= 0x80 && opcode <= 0x8F) return 8;   // jumps: 4 bytes always
  if ((opcode >= 0x30 && opcode <= 0x37) || (opcode >= 0xC8 && opcode <= 0xCF)) return 0;
  if ((opcode >= 0x70 && opcode <= 0x73) || (opcode >= 0xC4 && opcode <= 0xC6)) return 3;
  switch (opcode) {
  case 0x05: case 0x06: case 0x08: case 0x09: case 0x0B: case 0x77: case 0xA0: case 0xA1: case 0xA2: case 0xA8:
  case 0xA9: return 0;
  case 0xA4: case 0xAC: case 0xBA: case 0xC2: return 3;
  default: return 1;
  }
}

static uint8_t read_prefixes(reader *r, undead_instruction *found) {
  for (;;) {
    uint8_t byte = next(r);
    switch (byte) {
    case 0x66: r->narrow = found->is_narrow = true; continue;
    case 0xF2: case 0xF3: found->repeat = byte; continue;
    case 0xF0: case 0x2E: case 0x36: case 0x3E: case 0x26: case 0x64: case 0x65:
    case 0x67: continue;
    default: break;
    }
    if ((byte & 0xF0) != 0x40) return byte;
    found->rex = byte;
    return next(r);
  }
}

// The rest of a VEX (C4, C5) or EVEX (62) prefix, and the opcode behind it.
static void read_vector(reader *r, uint8_t prefix, undead_instruction *found) {
  found->is_vector = true;
  uint8_t first = next(r);
  found->map = prefix == 0xC5 ? UNDEAD_MAP_0F : prefix == 0xC4 ? first & 0x1F : first & 7;
  for (unsigned more = prefix == 0xC5 ? 0 : prefix == 0xC4 ? 1 : 2; more > 0; more--) next(r);
  found->opcode = next(r);
  if (found->map < UNDEAD_MAP_0F || found->map > UNDEAD_MAP_0F3A) r->failed = true;
}

static void read_opcode(reader *r, undead_instruction *found) {
  found->opcode = read_prefixes(r, found);
  if (found->opcode == 0xC4 || found->opcode == 0xC5 || found->opcode == 0x62) {
    read_vector(r, found->opcode, found);
  } else if (found->opcode == 0x0F) {
    found->map = UNDEAD_MAP_0F;
    found->opcode = next(r);
    if (found->opcode == 0x38 || found->opcode == 0x3A) {
      found->map = found->opcode == 0x38 ? UNDEAD_MAP_0F38 : UNDEAD_MAP_0F3A;
      found->opcode = next(r);
    }
  }
}

static void read_modrm(reader *r, undead_instruction *found) {
  uint8_t modrm = found->modrm = next(r), mod = UNDEAD_MODRM_MOD(modrm), rm = UNDEAD_MODRM_RM(modrm);
  found->has_modrm = true;
  if (mod == 3) return;
  found->has_sib = rm == 4;
  if (found->has_sib) found->sib = next(r);
  uint8_t base = found->has_sib ? found->sib & 7 : rm;
  if (mod == 1) found->displacement = number(r, 1);
  else if (mod == 2 || base == 5) found->displacement = number(r, 4);
}

// What follows an opcode of the one-byte map that the table does not say.
static void read_special(reader *r, undead_instruction *found) {
  uint8_t opcode = found->opcode;
  if (opcode == 0xE8 || opcode == 0xE9) {
    found->immediate = number(r, 4);
  } else if (opcode >= 0xB8 && opcode <= 0xBF) {
    found->immediate = number(r, found->rex & REX_W ? 8 : r->narrow ? 2 : 4);
  } else if (opcode == 0xC2) {
    found->immediate = number(r, 2);
  } else if (opcode == 0xF6 || opcode == 0xF7) {
    read_modrm(r, found);
    if (UNDEAD_MODRM_REG(found->modrm) < 2) found->immediate = number(r, opcode == 0xF6 ? 1 : r->narrow ? 2 : 4);
  } else {
    r->failed = true;
  }
}

static uint8_t form_of(const undead_instruction *found) {
  switch (found->map) {
  case UNDEAD_MAP_ONE_BYTE: return one_byte[found->opcode];
  case UNDEAD_MAP_0F: return form_of_0f(found->opcode);
  case UNDEAD_MAP_0F38: return 1;
  default: return 3;
  }
}

bool undead_instruction_decode(const uint8_t *code, uint64_t size, undead_instruction *instruction) {
  enum { LONGEST = 15 };
  reader r = {code, code + (size < LONGEST ? size : LONGEST), false, false};
  *instruction = (undead_instruction){0};
  read_opcode(&r, instruction);
  uint8_t form = form_of(instruction);
  if (form == 8) {
    if (instruction->map == UNDEAD_MAP_ONE_BYTE) read_special(&r, instruction);
    else instruction->immediate = number(&r, 4);
  }
  if (form & 1) read_modrm(&r, instruction);
  if (form & 2) instruction->immediate = number(&r, 1);
  if (form & 4) instruction->immediate = number(&r, r.narrow ? 2 : 4);
  instruction->length = (uint8_t)(r.at - code);
  return !r.failed;
}
