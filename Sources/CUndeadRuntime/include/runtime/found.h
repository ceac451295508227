// What a scan found, as the naming and writing layers get it. All of it lives in mmapped memory owned by the scan.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef enum {
  UNDEAD_KIND_OTHER = 0,   // C memory, or raw memory of Swift
  UNDEAD_KIND_CLASS,       // instance of a Swift class
  UNDEAD_KIND_CONTEXT,     // closure context or local box (metadata kind 0x400)
  UNDEAD_KIND_GENERIC_BOX, // 0x500
  UNDEAD_KIND_ERROR,       // 0x501
  UNDEAD_KIND_TASK,        // 0x502
  UNDEAD_KIND_JOB,         // 0x503
  UNDEAD_KIND_SIDE_TABLE,  // weak-reference side table: never scanned, never reported
} undead_kind;

typedef enum {
  UNDEAD_STATE_LEAKED = 1,   // Swift object that nothing reaches
  UNDEAD_STATE_RAW = 2,      // unreachable memory that Swift code allocated itself
  UNDEAD_STATE_SUPPORT = 3,  // unreachable C block between leaked objects, or pointing to them
  UNDEAD_STATE_SUSPECT = 4,  // reachable object held only by something that fires or waits, and that holds it back, or
                             // block of a set that only a frame names
  UNDEAD_STATE_LIVE = 5,     // reachable, listed because it is on a retain path
} undead_state;

typedef struct {
  uintptr_t address;
  uint64_t size;        // usable bytes
  uintptr_t isa;        // first word at the time of the scan
  uint64_t outside;     // weak and unowned references that are counted for it, at the time of the scan
  uint32_t backtrace;   // id in the backtrace store
  uint8_t kind;         // undead_kind
  uint8_t state;        // undead_state
  uint16_t flags;       // UNDEAD_NODE_*
  // How often it is retained (0: not known), and how many of these references are counted ones of fields, elements and
  // captures: of what leaked, of suspects and watched objects.
  uint32_t strong, counted;
} undead_node;
#define UNDEAD_NODE_HOLDER 1u            // listed for nothing but that it holds one of the others
#define UNDEAD_NODE_NAMED_BY_MEMORY 2u   // a word that is no counted reference names it: of memory of no type, of a task's frame
#define UNDEAD_NODE_NAMED_BY_GLOBAL 4u   // ... of a global variable, or of memory that the program mapped
#define UNDEAD_NODE_NAMED_BY_THREAD 8u   // ... of a stack, registers, thread-local storage
#define UNDEAD_NODE_NAMED 14u
// Why it is certain that nobody holds what leaked (scan/counts/counts.h). None of them: no word that the scan looked at names it.
#define UNDEAD_NODE_BY_COUNTS 16u        // words that may be references led to it; its count says that they are none
#define UNDEAD_NODE_NAMED_BY_NUMBER 32u  // one of them, a number, names it itself
#define UNDEAD_NODE_NAMED_BY_PLACE 64u   // likewise a place that may be out of use: of a frame, of a task, of a tail
#define UNDEAD_NODE_CERTAINTY 112u

// One pointer from a node to a node. Edges are sorted by `from`, then by `offset`.
typedef struct {
  uint32_t from, to;     // indices of nodes
  uint32_t offset;       // of the word in `from`
  uint32_t flags;        // UNDEAD_EDGE_*
  uintptr_t value;       // the raw word (tag bits included)
  uintptr_t companion;   // the word before it (function of a closure value), 0 if there is none
} undead_edge;
#define UNDEAD_EDGE_WEAK 1u       // weak, unowned: does not keep `to` alive
#define UNDEAD_EDGE_IMPLIED 2u    // not a pointer in memory (observer token -> registered closure)
#define UNDEAD_EDGE_COUNTED 8u    // a field, element or capture that the count of `to` includes
#define UNDEAD_EDGE_BORROWED 4u   // not counted, or of the frames of a task, to what others own: it owns nothing

typedef enum {
  UNDEAD_ROOT_GLOBAL = 1, UNDEAD_ROOT_STACK, UNDEAD_ROOT_THREAD_LOCAL, UNDEAD_ROOT_REGISTER, UNDEAD_ROOT_RUN_LOOP,
  UNDEAD_ROOT_TASK = 7,   // which waits; it is the first node itself
} undead_root_kind;

#define UNDEAD_MOST_THREAD_SCOPES 256u   // more are not reported

// A retain path: a root, the node that it holds, then edges (indices) to the node at its end.
typedef struct {
  uint32_t root_kind;     // undead_root_kind
  uint32_t thread;        // tid of the thread for stack, thread local, register; else 0
  uintptr_t root_address; // address of the word that holds the first node (0 for registers)
  uint32_t first_node;
  uint32_t first_step, step_count;   // range in `steps` (edge indices)
  uint32_t end_node;
  uint32_t item;          // index of the run loop's item that is the first node; UINT32_MAX for other roots
  // Of roots that belong to threads: how often the first node is retained (0: not known), how many of these fields, elements
  // and captures account for, and whether others than this thread may own the rest.
  uint32_t strong, counted;
  bool shared;
  bool doubtful;          // no better than what may be a number, or stale
} undead_path;

typedef enum {
  UNDEAD_SUSPECT_TIMER = 1, UNDEAD_SUSPECT_SOURCE = 2, UNDEAD_SUSPECT_OBSERVER = 3, UNDEAD_SUSPECT_TASK = 4,
  UNDEAD_SUSPECT_FRAME = 5,   // part of a set that nobody owns, but that a frame of a thread names
  UNDEAD_SUSPECT_DEAD_OWNER = 6,   // a closure that knows weakly what is gone; `mechanism` is the task
  UNDEAD_SUSPECT_DEAD_OWNER_OF_TIMER = 7,
  UNDEAD_SUSPECT_DEAD_OWNER_OF_OBSERVER = 9,   // the closure that NotificationCenter has is the mechanism
  UNDEAD_SUSPECT_OUTLIVED = 8,   // likewise of a watched object that is in memory: words name it that own nothing
  UNDEAD_SUSPECT_ALONE = 16,  // moreover: no suspect, as the object has no field for what keeps it
} undead_suspect_kind;

typedef struct {
  uint32_t kind;       // undead_suspect_kind
  uint32_t node;       // the object of the program; UNDEAD_SUSPECT_FRAME and _OUTLIVED: any block of the set
  uint32_t mechanism;  // the node of the timer, source, closure registration or task; UNDEAD_SUSPECT_FRAME and _OUTLIVED: UINT32_MAX
  uint32_t path;       // index in `paths`, or UINT32_MAX
} undead_suspect;

// What became of a watched object.
typedef struct {
  uint32_t node;       // UINT32_MAX if it is gone
  uint32_t path;       // index in `paths`, UINT32_MAX if there is none: it is unreachable, or there were too many
} undead_watched;

typedef enum {
  UNDEAD_SCAN_OK = 0,
  UNDEAD_SCAN_NO_MEMORY = 1,
  UNDEAD_SCAN_NO_HELPER = 2,     // the helper process could not be made
  UNDEAD_SCAN_NOT_STOPPED = 3,   // a thread could not be stopped
  UNDEAD_SCAN_CRASHED = 4,       // the heap is damaged, or the helper was killed
  UNDEAD_SCAN_TIMEOUT = 5,
  UNDEAD_SCAN_INCOMPLETE = 6,    // blocks are missing in the registry
  UNDEAD_SCAN_UNKNOWN = 7,       // runtime or C library are not as expected: a premise of the answer does not hold
} undead_scan_error;

typedef struct {
  undead_node *nodes;       uint32_t node_count;
  undead_edge *edges;       uint32_t edge_count;
  undead_path *paths;       uint32_t path_count;
  uint32_t *steps;          uint32_t step_count;
  undead_suspect *suspects; uint32_t suspect_count;
  undead_watched *watched;  uint32_t watched_count;      // one for each watched object of the options
  uint32_t *item_nodes;     uint32_t item_count;         // node of each run loop item of the options, or UINT32_MAX
  // Scopes of living blocks that only stacks and registers of threads other than the caller lead to.
  uint32_t thread_scopes[UNDEAD_MOST_THREAD_SCOPES];   uint32_t thread_scope_count;
  uint64_t live_blocks, live_bytes;
  uint64_t alone_left_out;  // objects that one thing alone keeps, and that are not listed
  uint64_t unseen_blocks;   // of these, kept since the kernel may hold references that it does not show
  uint64_t unreachable_c_blocks, unreachable_c_bytes;   // counted, not listed as leaks
  // Of the toolchain's own functions, which are not listed either, and the functions that made the most of it, innermost first.
  uint64_t unreachable_own_blocks, unreachable_own_bytes, unreachable_own_most;
  uint64_t unreachable_messages;   // bytes of these that are messages about dropped continuations
  char unreachable_own_site[256];
  uint64_t dropped_nodes;       // findings beyond the node limit
  uint64_t pause_nanoseconds;   // how long the program's threads stood still
  uint64_t scan_nanoseconds;    // whole scan
  uint32_t thread_count;
  uint32_t stop_method;         // 1 ptrace, 2 signals
  uint32_t error;               // 0, or an undead_scan_error: then the result is incomplete and must be reported so
  char message[200];            // for error != 0: what happened, in one line
} undead_scan_result;
