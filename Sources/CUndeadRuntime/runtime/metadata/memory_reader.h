// Reads of memory that may be anything: what is read was proved to be readable (platform/memory/readable.h), on the scan's thread by the
// memory map, on a thread of the program by the kernel.
#pragma once
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include <string.h>

static inline bool read_bytes(uintptr_t address, void *value, size_t size) {
  if (!undead_is_readable(address, size)) return false;
  memcpy(value, (const void *)address, size);
  return true;
}

// These give 0 for what cannot be read.
static inline uintptr_t read_word(uintptr_t address) {
  uintptr_t value = 0;
  return read_bytes(address, &value, sizeof value) ? value : 0;
}

static inline uint32_t read_u32(uintptr_t address) {
  uint32_t value = 0;
  return read_bytes(address, &value, sizeof value) ? value : 0;
}

// The target of the relative pointer at `address`, 0 if it is null.
static inline uintptr_t read_relative(uintptr_t address) {
  int32_t distance = (int32_t)read_u32(address);
  return distance ? address + (uintptr_t)(intptr_t)distance : 0;
}

// The same for pointers whose lowest bit says that they lead to a pointer to the target.
static inline uintptr_t read_relative_indirectable(uintptr_t address) {
  int32_t distance = (int32_t)read_u32(address);
  if (!distance) return 0;
  uintptr_t target = address + (uintptr_t)(intptr_t)(distance & ~1);
  return distance & 1 ? read_word(target) : target;
}

// A zero-terminated text of at most `max` bytes, or NULL.
static inline const char *read_text(uintptr_t address, size_t max) {
  size_t available = undead_readable_bytes(address, max);
  return available && memchr((const void *)address, 0, available) ? (const char *)address : NULL;
}
