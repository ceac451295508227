// What the hooks of the files beside this one share.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNDEAD_INLINE static inline __attribute__((always_inline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#pragma GCC visibility push(hidden)

// A hook's frame: where it returns to and the frame pointer that it saved. Keeps the hook's own frame out.
typedef struct {
  uintptr_t saved_frame_pointer, return_address;
} hook_frame;
#define HOOK_FRAME ((const hook_frame *)__builtin_frame_address(0))

// Like the functions in hooks.c, as calls. Registers a new block; false if nothing is recorded or the thread is the
// tool's own. `usable`: its bytes, only needed while backtraces are sampled.
bool undead_hook_record(void *block, size_t usable, const hook_frame *frame);
// Takes the block out of the registry; returns its word, 0 if it was unknown. And puts it back.
uint32_t undead_hook_forget(void *block);
void undead_hook_put_back(void *block, uint32_t word);
// True if the program's free() of the block is not to be made.
bool undead_hook_keeps(void *block, const hook_frame *frame);

// With another allocator than glibc's (other_allocator.c).
void *undead_detour_malloc(size_t size, const hook_frame *frame);
void undead_detour_free(void *block, const hook_frame *frame);
void *undead_detour_calloc(size_t count, size_t size, const hook_frame *frame);
void *undead_detour_realloc(void *old, size_t size, const hook_frame *frame);
void *undead_detour_aligned(size_t alignment, size_t size, const hook_frame *frame);
int undead_detour_posix_memalign(void **result, size_t alignment, size_t size, const hook_frame *frame);
void *undead_detour_pvalloc(size_t size, const hook_frame *frame);
void *undead_detour_aligned_alloc(size_t alignment, size_t size, const hook_frame *frame);

#pragma GCC visibility pop
