// Premises about the C library: chunks, arenas and threads' caches of its malloc (glibc/layout.h), what it hides addresses with,
// and its descriptors of threads. The known objects are blocks of this thread, and the thread itself.
#include "glibc/heap.h"
#include "glibc/layout.h"
#include "platform/maps/maps.h"
#include "platform/processor/processor.h"
#include "record/allocator.h"
#include "scan/blocks/arenas.h"
#include "scan/premises/premises_internal.h"
#include "world/given.h"
#include "world/images.h"
#include <malloc.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#define LEAKS(holds, what) undead_premise(premises, UNDEAD_PREMISE_LEAKS, holds, what)

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

enum { SMALL = 1000, HUGE_BYTES = 1 << 26 };   // the latter above all limits from which a block is mapped on its own

static void check_chunks(undead_premises *premises) {
  void *small = __libc_malloc(SMALL), *next = __libc_malloc(SMALL), *large = __libc_malloc(HUGE_BYTES);
  if (small && next && large) {
    uintptr_t chunk = (uintptr_t)small - CHUNK_HEADER, mapped = (uintptr_t)large - CHUNK_HEADER;
    size_t usable = malloc_usable_size(small);
    LEAKS(undead_chunk_bytes(chunk) == usable + CHUNK_SIZE, "the size of a block in its head");
    LEAKS(undead_chunk_head(chunk + undead_chunk_bytes(chunk)) & CHUNK_PREVIOUS_IN_USE, "the mark of a block in use");
    LEAKS(undead_chunk_head(mapped) & CHUNK_MAPPED && !(undead_chunk_head(chunk) & CHUNK_MAPPED),
          "the mark of a block with a mapping of its own");
  }
  __libc_free(large);
  __libc_free(next);
  __libc_free(small);
  void *least = __libc_malloc(1);
  // What would be left of a chunk stays with the block if it is too small for one.
  size_t least_bytes = least ? undead_chunk_bytes((uintptr_t)least - CHUNK_HEADER) : CHUNK_SMALLEST;
  LEAKS(least_bytes >= CHUNK_SMALLEST && least_bytes < 2 * CHUNK_SMALLEST, "the size of the smallest block");
  __libc_free(least);
}

// What a register holds that setjmp hid: this frame's stack pointer.
static __attribute__((noinline)) bool reads_hidden_pointers(void) {
  enum { HIDDEN_SP = 6 };
  jmp_buf buffer;
  if (_setjmp(buffer)) return false;
  uintptr_t hidden = ((uintptr_t *)buffer)[HIDDEN_SP], guard = undead_pointer_guard();
  uintptr_t sp = (hidden >> UNDEAD_POINTER_ROTATION | hidden << (64 - UNDEAD_POINTER_ROTATION)) ^ guard;
  return sp - (uintptr_t)__builtin_frame_address(0) + 4096 < 8192;
}

// The program goes on meanwhile: what its threads change under a look is seen as it is at the next one.
static bool holds_at_last(bool (*premise)(void)) {
  enum { LOOKS = 200, PAUSE_NANOSECONDS = 20000 };
  for (int look = 0; look < LOOKS; look++) {
    if (premise()) return true;
    undead_raw4(SYS_nanosleep, (long)&(struct timespec){.tv_nsec = PAUSE_NANOSECONDS * (look + 1)}, 0, 0, 0);
    undead_images_refresh();
    undead_maps_refresh();
    undead_arenas_learn();
  }
  return false;
}

void undead_premises_of_allocator(undead_premises *premises) {
  const undead_images *images = &undead_image_facts;
  LEAKS(images->list_field && images->stack_field, "the descriptor of a thread");
  LEAKS(images->libc.low != 0, "the C library among the loaded images");
  if (!undead_given()) LEAKS(reads_hidden_pointers(), "what setjmp hides addresses with");
  // What the allocator's own tables said is known to fit them.
  if (undead_glibc_found() || undead_allocator_is_other()) return;
  check_chunks(premises);
  LEAKS(holds_at_last(undead_arenas_are_known), "the arenas of malloc");
  LEAKS(holds_at_last(undead_caches_are_known), "the threads' caches of malloc");
}
