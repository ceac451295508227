// Which pages of a mapping hold something that the program may have put there.
#pragma once
#include "platform/maps/maps.h"
#include "world/images.h"

typedef struct {
  long pagemap;           // descriptor of /proc/self/pagemap, negative if there is none
  uint64_t *entries;      // of a piece of the map
  uint8_t *resident;      // likewise, for shared memory
  bool no_swap;           // nothing is swapped out: shared memory that is not resident is a hole
  int64_t started;        // when the program was started, in seconds of the file systems' clock
} undead_pages;

// False without memory.
bool undead_pages_open(undead_pages *pages, int32_t process);
void undead_pages_close(undead_pages *pages);

// True if what stands in the mapping's pages may change without this process: a file that the program may write.
bool undead_pages_may_change(const undead_pages *pages, const undead_mapping *mapping);

typedef void (*undead_run_visitor)(void *context, const undead_mapping *mapping, undead_interval run);

// Calls `visit` for runs of whole pages between `low` and `high` of the mapping, in address order: of private memory
// the pages that were written, of shared memory and of files that were changed since the program started all that have
// contents. Reading those takes no memory. Holes, device memory and guards are left out.
void undead_pages_each(undead_pages *pages, const undead_mapping *mapping, uintptr_t low, uintptr_t high,
                       undead_run_visitor visit, void *context);
