// What the scan must know about the loaded images and about glibc's threads. Collected while the program runs.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uintptr_t low, high;
} undead_interval;

#define UNDEAD_MAX_SEGMENTS 8192
#define UNDEAD_DISPATCH_PARTS 8u

typedef struct {
  undead_interval *writable;         // segments that are or were writable
  uint32_t writable_count;
  undead_interval libc, loader;      // code and data of libc.so and ld.so
  undead_interval dispatch, concurrency;   // libraries of their own, not linked into the program
  undead_interval dispatch_image;    // whatever holds libdispatch: the library, or the program
  // With libdispatch linked into the program: its variables that lead to sources and queues, and its vtables.
  undead_interval dispatch_parts[UNDEAD_DISPATCH_PARTS];
  uint32_t dispatch_part_count;
  size_t dispatch_tls_module;        // of the dynamic TLS that holds libdispatch's thread data, 0 if unknown
  size_t dispatch_tls_offset;

  size_t static_tls_bytes;           // below the thread pointer
  size_t thread_descriptor_bytes;    // struct pthread, from the thread pointer on
  size_t stack_field;                // offset of {stack block, size} in struct pthread, 0 if unknown
  size_t list_field;                 // of its links in one of glibc's lists of stacks, the thread's id behind them; likewise
  uintptr_t context_start;           // where functions that makecontext prepares return to, 0 if unknown
} undead_images;

extern undead_images undead_image_facts;

// On the scanning thread, with the world running, after undead_modules_refresh. False without memory.
bool undead_images_refresh(void);
// Reads the memory map, unless this function was the last to do so and no image came or went since: what is learned once of images
// needs no newer one. False if it cannot be read.
bool undead_images_map(void);

static inline bool undead_in(undead_interval interval, uintptr_t address) {
  return address >= interval.low && address < interval.high;
}

// True for data of libdispatch, wherever it is linked.
static inline bool undead_is_dispatch_data(uintptr_t address) {
  const undead_images *facts = &undead_image_facts;
  if (undead_in(facts->dispatch, address)) return true;
  for (uint32_t i = 0; i < facts->dispatch_part_count; i++)
    if (undead_in(facts->dispatch_parts[i], address)) return true;
  return false;
}

// True for code of libc itself, whose system calls leave nothing in the red zone or the vector registers.
static inline bool undead_is_libc_code(uintptr_t address) {
  return undead_in(undead_image_facts.libc, address) || undead_in(undead_image_facts.loader, address);
}
