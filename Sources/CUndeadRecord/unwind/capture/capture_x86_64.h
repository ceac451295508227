// Incremental capture: what a thread found the last time is reused as far as the stack still holds it.
#pragma once
#include "unwind/pc_table.h"
#include "unwind/store/store.h"
#include "unwind/walk_x86_64.h"

#pragma GCC visibility push(hidden)

#define UNDEAD_CACHED_FRAMES 1024u   // frames that a thread's cache holds

// A node of the store, and the link where its next child is looked for first: behind the one that was found last, as
// programs allocate in the same order again and again. It leads to children of this node alone.
typedef struct {
  uint32_t node, link;
} undead_known_node;

// One frame of the cached chain, 0 being the outermost.
typedef struct {
  undead_frame frame;
  uintptr_t bp_mask;      // all ones if an outer rule depends on this rbp, else 0
  uint32_t pc_index;
  uint32_t first_check;   // the words that led to this frame; those of all outer frames come before
  undead_known_node known;   // in the store, for the chain up to this frame
} undead_cached_frame;

// A word on the stack that has to hold this value for the outer frames to be what they were.
typedef struct {
  const uintptr_t *slot;
  uintptr_t value;
} undead_check;

// Where the frame that a step led to was read, apart from its return address, which mostly lies below its stack pointer.
typedef struct {
  const uintptr_t *bp_slot;   // of its rbp; NULL if the inner frame had it in the register, too
  uintptr_t sp_slot;          // of its stack pointer, if that was read (odd_x86_64.h), else 0
} undead_link;

// A frame that the current walk found. What it says of `pc` serves the next capture, which often finds the same.
typedef struct {
  undead_frame frame;
  undead_link link;           // what led to `frame`
  uintptr_t pc;
  undead_rule rule;           // of `pc`
  uint32_t pc_index;          // of `pc`
} undead_fresh_frame;

// A whole stack (unwind/capture/memo_x86_64.h): the words that led to its frames, in whole blocks. Of a stack with words elsewhere
// than on the thread's own stack, `sp` is the complement of the stack pointer, which none is, and the pages of these words stand
// behind the checks.
typedef struct undead_memo {
  uintptr_t sp, pc, bp, bp_mask;   // at the start; the mask is 0 if no rule uses that rbp
  const undead_check *end;
  uintptr_t context_slot;          // of the innermost asynchronous function; 0: not looked for, 1: there is none
  struct undead_memo *next;        // what was captured after it the last time
  struct undead_memo *made_before; // all there are
  struct undead_memo **set;        // where it is looked for
  uint32_t id;
  uint32_t page_count;
  undead_check checks[];
} undead_memo;

typedef struct {
  undead_memo *memo;
  uint32_t candidate;   // id of a stack that was captured: the second time it is kept
} undead_memo_place;
#define UNDEAD_MEMO_PLACES 1024u
#define UNDEAD_MEMO_SETS 256u
#define UNDEAD_MEMO_WAYS 2u

// The asynchronous callers that a backtrace was captured with, and its id with them.
#define UNDEAD_ASYNC_CALLERS 24u   // a test lies near, behind them is the test library
typedef struct {
  uint32_t id, epoch, tagged, count;
  uintptr_t end;   // what ended the list: no caller, or one that is none; 0: nothing came
  struct {
    uintptr_t context;   // where it lay last time
    uintptr_t resume;
  } callers[UNDEAD_ASYNC_CALLERS];
} undead_known_callers;
#define UNDEAD_KNOWN_CALLERS 128u

#define UNDEAD_MEMO_BYTES (256u << 10)

// A small copy of what the table of return addresses knows, near to the thread.
typedef struct {
  uintptr_t pc;
  undead_rule rule;
  uint32_t pc_index;
} undead_known_pc;

// Where the two innermost frames of a capture lie, relative to the stack pointer it started from: the functions that
// call the allocator are few, and have frames of fixed size. Where their rules use rbp, it must have its old distance.
typedef struct {
  uintptr_t pc[2];
  uintptr_t bp_distance, bp_mask;               // of the rbp at the start from sp; the mask is 0 if no rule uses it
  uintptr_t outer_bp_distance, outer_bp_mask;   // of the rbp that the first frame saved
  uint32_t pc_slot, outer_bp_slot;              // offsets from sp: of pc[1], and of that rbp
  uint32_t bp_slot;                             // of the rbp behind both frames, UNDEAD_NO_SLOT if nobody saved it
  uint32_t span;                                // to the stack pointer behind both frames
} undead_known_pair;
#define UNDEAD_NO_SLOT 0xFFFFFFFFu

// The innermost frames of a capture: the rule of the outermost of them, and their node in the store.
typedef struct {
  uintptr_t pc[UNDEAD_RUN_FRAMES];
  undead_rule rule;
  uint32_t run;
} undead_known_site;
_Static_assert(UNDEAD_RUN_FRAMES == 3, "a pair and one more frame");

// Where functions save registers, for frames that are found by one.
typedef struct {
  uintptr_t pc;
  undead_saves saves;
} undead_known_saves;
#define UNDEAD_KNOWN_SAVES 256u

#define UNDEAD_KNOWN_PCS 2048u
#define UNDEAD_KNOWN_PAIR_SETS 16u   // by the innermost return address
#define UNDEAD_KNOWN_PAIRS 4u        // in each of them
#define UNDEAD_KNOWN_SITES 512u

#define UNDEAD_CACHE_BUSY 1u    // a capture is under way: one in a signal handler must not touch the cache
#define UNDEAD_EPOCH_STEP 2u

#define UNDEAD_ROOM_BYTES (128u << 10)

typedef struct {
  volatile uint32_t state;   // the epoch that it was filled under (undead_rules_epoch), and UNDEAD_CACHE_BUSY
  uint32_t count;            // frames of the chain
  uint32_t last;             // index of the frame where the last capture met the chain
  uint32_t known_nodes;      // frames whose `pc_index` and `node` are still right for their outer frames
  uint32_t check_count;
  uint32_t next_pair;        // counts pairs that were replaced
  bool cut;                  // frame 0 is not the outermost of the stack
  undead_memo *expected, *followed;   // what is tried first; what came before it
  bool holds;                // `followed` is what the last capture found
  undead_memo *last_made;
  uint32_t memo_hits, memo_misses, memo_rest, memo_used, memo_turn, memo_bytes_used;
  undead_known_pair pairs[UNDEAD_KNOWN_PAIR_SETS][UNDEAD_KNOWN_PAIRS];
  undead_known_site sites[UNDEAD_KNOWN_SITES];
  undead_known_pc pcs[UNDEAD_KNOWN_PCS];
  undead_scoped_nodes scoped;
  undead_memo_place memo_places[UNDEAD_MEMO_PLACES];            // by id
  undead_memo *memo_sets[UNDEAD_MEMO_SETS][UNDEAD_MEMO_WAYS];   // by site and first frame outside of it
  // Numbers of large entries, which lie side by side, so that few of them take few pages. Entry 0 stays empty.
  uint8_t caller_numbers[UNDEAD_KNOWN_CALLERS];
  uint32_t used_callers;
  undead_cached_frame frames[UNDEAD_CACHED_FRAMES];             // the first field that not all of is used in every thread
  undead_check checks[3 * UNDEAD_CACHED_FRAMES];
  undead_fresh_frame fresh[UNDEAD_CACHED_FRAMES];
  union {
    uint32_t indices[UNDEAD_CACHED_FRAMES];   // for captures without the chain
    uintptr_t addresses[UNDEAD_CACHED_FRAMES];
    struct {   // for those with it: what is looked up in the store together, and what was found
      uint32_t keys[UNDEAD_CACHED_FRAMES + 1], nodes[UNDEAD_CACHED_FRAMES + 1];
    };
  };
  bool knows_saves;
  undead_known_saves saves[UNDEAD_KNOWN_SAVES];
  undead_known_callers callers[UNDEAD_KNOWN_CALLERS + 1];
  _Alignas(64) uint8_t memo_bytes[UNDEAD_MEMO_BYTES];
  _Alignas(64) uint8_t room[UNDEAD_ROOM_BYTES];   // a stack (unwind/capture/cache_pool.h); the last, so that its end is far from here
} undead_unwind_cache;

// The words that a walk read, to know whether another one would find the same.
typedef struct {
  undead_check *next, *end;   // they are written from here to there
  bool uses_bp;               // something depended on the rbp at the start, too
  bool incomplete;            // or on what is not among them
} undead_walk_words;

// The id of the stack at `frame`, or 0 if the rules of this stack do not allow the use of the cache, or the store is
// full. The stack has to be the thread's own (undead_stack_covers), and the cache of the current epoch and not busy.
// The caller checks for changed images if the dynamic loader allocates, and says so with `from_loader`.
uint32_t undead_capture_cached(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame frame, bool from_loader);

// The id of a stack that the chain cannot follow and that is known as a whole, else 0. The page of `place` can be read; the cache
// as above.
uint32_t undead_capture_known(undead_unwind_cache *cache, uintptr_t place, undead_frame frame);

// Forgets everything that depends on unwind rules; `state` is the new state.
void undead_capture_reset(undead_unwind_cache *cache, uint32_t state);

// Forgets what belongs to one thread's stack; rules, and which frames call the allocator, are true for any thread.
void undead_capture_leave(undead_unwind_cache *cache);

// Puts what is known of `pc` into an entry of the cache: `entry`, or NULL if there is no room for new addresses.
const undead_known_pc *undead_learn_pc(undead_unwind_cache *cache, undead_known_pc *entry, uintptr_t pc);

// Forgets the rule of a return address.
void undead_capture_forget_pc(undead_unwind_cache *cache, uintptr_t pc);

// Like undead_walk, with what the cache of this thread and of the current epoch knows of addresses, into its scratch, for a frame
// that called the instrument. The page of `place` can be read: the caller's own frame lies there. `words` may be NULL.
undead_walk_end undead_walk_from(uintptr_t place, undead_unwind_cache *cache, undead_thread_state *thread,
                                 undead_frame frame, undead_walk_words *words, uint32_t *count);

// Captures without the cache, or prepares it and uses it; never 0. `tried`: undead_capture_cached cannot do it, unless because
// of the loader.
uint32_t undead_capture_slow(undead_thread_state *thread, undead_frame frame, bool tried);

#pragma GCC visibility pop
