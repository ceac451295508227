// Reads the encodings of .eh_frame, within bounds.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// DWARF 5, sections 2.5.1, 7.7.1 and 7.24; Linux Standard Base, "Exception Frames".
enum {
  DW_OP_deref = 0x06, DW_OP_const1u = 0x08, DW_OP_const1s = 0x09, DW_OP_constu = 0x10, DW_OP_consts = 0x11,
  DW_OP_and = 0x1A, DW_OP_minus = 0x1C, DW_OP_plus = 0x22, DW_OP_plus_uconst = 0x23, DW_OP_shl = 0x24,
  DW_OP_ge = 0x2A, DW_OP_lit0 = 0x30, DW_OP_breg0 = 0x70,
  DW_CFA_nop = 0x00, DW_CFA_set_loc = 0x01, DW_CFA_advance_loc1 = 0x02, DW_CFA_advance_loc2 = 0x03,
  DW_CFA_advance_loc4 = 0x04, DW_CFA_offset_extended = 0x05, DW_CFA_restore_extended = 0x06,
  DW_CFA_undefined = 0x07, DW_CFA_same_value = 0x08, DW_CFA_register = 0x09, DW_CFA_remember_state = 0x0A,
  DW_CFA_restore_state = 0x0B, DW_CFA_def_cfa = 0x0C, DW_CFA_def_cfa_register = 0x0D,
  DW_CFA_def_cfa_offset = 0x0E, DW_CFA_def_cfa_expression = 0x0F, DW_CFA_expression = 0x10,
  DW_CFA_offset_extended_sf = 0x11, DW_CFA_def_cfa_sf = 0x12, DW_CFA_def_cfa_offset_sf = 0x13,
  DW_CFA_val_offset = 0x14, DW_CFA_val_offset_sf = 0x15, DW_CFA_val_expression = 0x16, DW_CFA_GNU_args_size = 0x2E,
  DW_EH_PE_absptr = 0x00, DW_EH_PE_uleb128 = 0x01, DW_EH_PE_udata2 = 0x02, DW_EH_PE_udata4 = 0x03,
  DW_EH_PE_udata8 = 0x04, DW_EH_PE_sleb128 = 0x09, DW_EH_PE_sdata2 = 0x0A, DW_EH_PE_sdata4 = 0x0B,
  DW_EH_PE_sdata8 = 0x0C, DW_EH_PE_pcrel = 0x10, DW_EH_PE_datarel = 0x30, DW_EH_PE_indirect = 0x80,
  DW_EH_PE_omit = 0xFF,
};

typedef struct {
  const uint8_t *at, *end;
  bool failed;   // something would have been read beyond the end
} dwarf_reader;

// Moves on by `length` bytes and returns where they start; NULL if there are not so many.
static inline const uint8_t *dwarf_skip(dwarf_reader *reader, uint64_t length) {
  if (length > (uint64_t)(reader->end - reader->at)) {
    reader->failed = true;
    reader->at = reader->end;
    return NULL;
  }
  const uint8_t *start = reader->at;
  reader->at += length;
  return start;
}

#define DWARF_FIXED(name, type)                             \
  static inline type name(dwarf_reader *reader) {           \
    type value = 0;                                         \
    const uint8_t *start = dwarf_skip(reader, sizeof value); \
    if (start) memcpy(&value, start, sizeof value);         \
    return value;                                           \
  }
DWARF_FIXED(dwarf_u8, uint8_t)
DWARF_FIXED(dwarf_u16, uint16_t)
DWARF_FIXED(dwarf_u32, uint32_t)
DWARF_FIXED(dwarf_u64, uint64_t)
#undef DWARF_FIXED

static inline uint64_t dwarf_uleb(dwarf_reader *reader) {
  uint64_t value = 0;
  uint8_t byte = 0x80;
  for (unsigned shift = 0; (byte & 0x80) && !reader->failed; shift += 7) {
    byte = dwarf_u8(reader);
    if (shift < 64) value |= (uint64_t)(byte & 0x7F) << shift;
  }
  return value;
}

static inline int64_t dwarf_sleb(dwarf_reader *reader) {
  uint64_t value = 0;
  uint8_t byte = 0x80;
  unsigned shift = 0;
  for (; (byte & 0x80) && !reader->failed; shift += 7) {
    byte = dwarf_u8(reader);
    if (shift < 64) value |= (uint64_t)(byte & 0x7F) << shift;
  }
  if (shift < 64 && (byte & 0x40)) value |= ~0ull << shift;
  return (int64_t)value;
}

// A pointer in one of the DW_EH_PE encodings; `data` is the base of datarel.
static inline uintptr_t dwarf_encoded(dwarf_reader *reader, uint8_t encoding, uintptr_t data) {
  if (encoding == DW_EH_PE_omit) return 0;
  uintptr_t position = (uintptr_t)reader->at, value = 0;
  switch (encoding & 0x0F) {
  case DW_EH_PE_absptr:
  case DW_EH_PE_udata8:
  case DW_EH_PE_sdata8: value = dwarf_u64(reader); break;
  case DW_EH_PE_uleb128: value = dwarf_uleb(reader); break;
  case DW_EH_PE_sleb128: value = (uintptr_t)dwarf_sleb(reader); break;
  case DW_EH_PE_udata2: value = dwarf_u16(reader); break;
  case DW_EH_PE_sdata2: value = (uintptr_t)(int16_t)dwarf_u16(reader); break;
  case DW_EH_PE_udata4: value = dwarf_u32(reader); break;
  case DW_EH_PE_sdata4: value = (uintptr_t)(int32_t)dwarf_u32(reader); break;
  default: reader->failed = true;
  }
  if (!value || reader->failed) return 0;
  if ((encoding & 0x70) == DW_EH_PE_pcrel) value += position;
  if ((encoding & 0x70) == DW_EH_PE_datarel) value += data;
  return encoding & DW_EH_PE_indirect ? *(const uintptr_t *)value : value;
}
