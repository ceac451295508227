// The length and the parts of one machine instruction of 64-bit code, as compilers write it. The instrument follows code to where a
// function returns; the tool, to what a closure reads of an object.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef enum { UNDEAD_MAP_ONE_BYTE, UNDEAD_MAP_0F, UNDEAD_MAP_0F38, UNDEAD_MAP_0F3A } undead_opcode_map;

typedef struct {
  uint8_t length;   // in bytes
  uint8_t map;      // undead_opcode_map
  uint8_t opcode, rex, modrm;
  bool has_modrm, is_vector;   // is_vector: VEX or EVEX, whose opcodes are others
  bool has_sib, is_narrow;     // is_narrow: the prefix 66
  uint8_t sib, repeat;         // repeat: F2 or F3, of SSE instructions a part of the opcode; 0: neither
  int64_t displacement, immediate;
} undead_instruction;

// Decodes the instruction at `code`, of which `size` bytes can be read. False if it is not known.
bool undead_instruction_decode(const uint8_t *code, uint64_t size, undead_instruction *instruction);

#define UNDEAD_MODRM_MOD(modrm) ((modrm) >> 6)
#define UNDEAD_MODRM_REG(modrm) ((modrm) >> 3 & 7)
#define UNDEAD_MODRM_RM(modrm) ((modrm)&7)

#pragma GCC visibility pop
