// Marks every live block that the roots reach, in the registry's words.
#pragma once
#include "scan/blocks/worklist.h"
#include "scan/bodies/body.h"
#include "scan/mark/pool.h"
#include "scan/roots/roots.h"
#include "scan/scan.h"

#define UNDEAD_CANDIDATE_RING 32u   // candidates whose registry word is on its way to the cache
#define UNDEAD_BLOCK_RING 16u       // marked blocks whose memory is

// Of a block that weak evidence alone named so far (scan/counts/counts.h). The bit is free while the first pass lasts.
#define UNDEAD_WORD_DOUBTED UNDEAD_WORD_MARK_AGAIN

typedef struct undead_marker undead_marker;
struct undead_reference;

// In a second pass: whether the reference in the block `from` (0: in a root, at `place`) to `to` is left out.
typedef bool (*undead_cut)(const undead_marker *marker, uintptr_t from, uintptr_t place, uintptr_t to);
// Whether a doubtful word of a block keeps nothing, whatever the counts say.
typedef bool (*undead_idle)(const undead_marker *marker, const struct undead_reference *reference);

// What becomes of the blocks that only weak evidence names.
typedef enum {
  UNDEAD_WEAK_IS_FOLLOWED = 0,   // like any reference
  UNDEAD_WEAK_IS_LISTED,         // on `doubted`; also with UNDEAD_NAMED_BY_PLACE, if a place names it that may be out of use
  UNDEAD_WEAK_IS_IGNORED,
} undead_weak_mode;
#define UNDEAD_NAMED_BY_PLACE 1u

struct undead_marker {
  undead_bodies *bodies;
  const undead_heap *heap;
  uint32_t bit;                // of the registry word
  uint32_t except;             // blocks with one of these bits are left alone
  uint32_t within;             // if not 0: only blocks with one of these bits are marked
  uint32_t listed;             // bit of a block on `doubted`; 0: it may be there more than once
  uint32_t listed_by_place;    // likewise, with UNDEAD_NAMED_BY_PLACE; gone when the block is marked
  undead_weak_mode weak;
  undead_cut cut;              // NULL: none; asked only about blocks with UNDEAD_WORD_SPECIAL
  undead_idle is_idle;         // NULL: none; in a second pass
  void *context;               // for `cut`, `is_idle` and `note`
  undead_scan_result *result;  // NULL, or gets the scopes of what only threads lead to
  int32_t caller;              // the thread whose stack and registers are no such roots
  bool only_threads;           // the rest of the roots has been followed
  uint32_t late;               // also set in the words of blocks that are marked after all roots but the doubtful ones
  uint64_t doubtful_blocks;    // marked from doubtful roots; if there are none, `late` is not used
  undead_worklist *kept;       // NULL, or gets the late blocks that the counts say others own (scan/counts/counts.h)
  uint64_t blocks, bytes;      // marked so far
  // Bits to set in the word of a marked block, or NULL. Not asked about objects of plain classes (scan/bodies/plain.h).
  uint32_t (*note)(undead_marker *marker, uintptr_t block, size_t size, const undead_body *body);
  undead_worklist doubted;
  undead_worklist *reasons;    // NULL, or where to note why blocks that the counts gave up are garbage (scan/counts/counts.h)
  bool doubts_all;             // not what is named is doubted, but all that was not marked
  undead_worklist waiting;
  uint32_t threads;            // that may mark together what many blocks lead to; only without `except`, `within` and `cut`
  void (*together)(undead_marker *marker);   // how they do, where there are several
  undead_pool *pool;           // while they do, else NULL
  bool is_first;               // of them: this one looks at what only one may
  undead_worklist for_first;   // blocks that it is to look at
  // First in, first out: what was asked of memory first arrives first.
  struct {
    uintptr_t address, origin;   // `origin` as mark.c packs it
  } candidates[UNDEAD_CANDIDATE_RING];
  uintptr_t blocks_ahead[UNDEAD_BLOCK_RING];
  uint32_t candidate_first, candidate_end, block_first, block_end;   // counted on, modulo the ring's size
};

// Of a block that only doubtful words and what the counts decide about lead to: `late` of the first pass. Free again when
// suspects are looked for.
#define UNDEAD_WORD_LATE UNDEAD_WORD_OWNED
// The same bit, of a block that is not marked: a place that may be out of use named it.
#define UNDEAD_WORD_DOUBTED_BY_PLACE UNDEAD_WORD_LATE

// `marker` must be zeroed but for what says how to mark. False without memory, then the marks are incomplete.
bool undead_mark_roots(undead_marker *marker, const undead_roots *roots);
// Looks at a marked block again, of which more may be in use than was thought.
void undead_mark_again(undead_marker *marker, uintptr_t block);
// Lists every block that is not marked as if a number named it.
void undead_mark_doubt_all(undead_marker *marker);
// Marks a block and all that it reaches, unless these are more than `limit` blocks: then some of them, and false.
bool undead_mark_from(undead_marker *marker, uintptr_t block, uint64_t limit);
void undead_mark_close(undead_marker *marker);

// Marking by several threads (world/crew.h). What is marked, listed and counted is the same, however they take turns: each
// block is looked at by one of them, and lists are put in order before anything is decided by them.

// Marks all that the waiting blocks lead to, or nothing: without memory or threads, and then one goes on alone.
void undead_mark_together(undead_marker *marker);
// The part of one of the threads.
void undead_mark_with_others(undead_marker *marker);

// Storage that a fiber may have left in the middle of a change. Its stack is memory like any other: of malloc, of a mapping, in a
// variable.

// To be called when all roots are marked. Lists what elements behind the count of such storage name, and has the storage count as
// held (scan/bodies/held.h) from now on. False without memory.
bool undead_switched_doubt(undead_marker *marker, const undead_roots *roots);

// Objects of which nothing says that they are some: the program's memory may look the same, and begin with the address of a class.

// To be called when all roots are marked. Finds which of them a counted reference names. Of the others, weak and unowned words count
// as numbers from now on (undead_body). False without memory.
bool undead_unsure_doubt(undead_marker *marker);
