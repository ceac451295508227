#include "unwind/code.h"
#include "unwind/rules/images.h"

// .eh_frame_hdr (Linux Standard Base): version, encodings of three fields, the address of .eh_frame, the number of functions, and
// for each its start and its record, from here on, sorted.
enum { VERSION = 1, UDATA4 = 0x03, SDATA4_FROM_HERE = 0x3B, COUNT = 8, TABLE = 12, ENTRY = 8 };

undead_code undead_code_at(uintptr_t address) {
  undead_image image;
  if (!undead_image_find(address, &image) || !image.eh_frame_hdr) return UNDEAD_CODE_UNKNOWN;
  const uint8_t *header = image.eh_frame_hdr;
  if (header[0] != VERSION || header[2] != UDATA4 || header[3] != SDATA4_FROM_HERE) return UNDEAD_CODE_UNKNOWN;
  uint32_t count = *(const uint32_t *)(header + COUNT);
  if (!count) return UNDEAD_CODE_UNKNOWN;
  intptr_t low = *(const int32_t *)(header + TABLE), high = *(const int32_t *)(header + TABLE + (uintptr_t)(count - 1) * ENTRY);
  intptr_t at = (intptr_t)(address - (uintptr_t)header);
  return at >= low && at <= high ? UNDEAD_CODE : UNDEAD_NO_CODE;
}
