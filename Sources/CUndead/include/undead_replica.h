// A replica: a copy of a program's memory that nobody else needs. The instrument is opened in it by dlopen, and looks at what is
// there as at a program whose world is stopped (Documentation/glibc-arenas.md). Nothing of this runs in the program itself.
#pragma once
#include <stdint.h>

typedef struct {
  int32_t tid;
  uint32_t flags;                   // UNDEAD_REPLICA_FIRST, UNDEAD_REPLICA_IN_CALL
  uint64_t registers[27];           // struct user_regs_struct
  uint64_t xstate, xstate_bytes;    // XSAVE area in the standard format, at a multiple of 8; 0: none
} undead_replica_thread;
#define UNDEAD_REPLICA_FIRST 1u     // the thread that the program began with
#define UNDEAD_REPLICA_IN_CALL 2u   // stood in a system call

#define UNDEAD_REPLICA_VERSION 1u
#define UNDEAD_REPLICA_HEAP 1u          // the whole heap goes into the file, too
#define UNDEAD_REPLICA_CORE 2u          // made from a core file
#define UNDEAD_REPLICA_SUSPECTS 4u      // else only tasks and timers of deallocated owners are looked for
#define UNDEAD_REPLICA_COMPLETE 16u     // memory that copies of a process do not get (MADV_DONTFORK, MADV_WIPEONFORK) was put there
#define UNDEAD_REPLICA_CENSUS 64u       // only the blocks are counted, by type
#define UNDEAD_REPLICA_THREADS 32u      // no filter of system calls keeps it from having threads
#define UNDEAD_REPLICA_HELD_KNOWN 8u    // `held` is all that the kernel holds for the program

typedef struct {
  uint32_t version;                 // UNDEAD_REPLICA_VERSION
  uint32_t bytes;                   // of this struct
  uint32_t flags;                   // UNDEAD_REPLICA_*
  int32_t file;                     // open for reading and writing, empty: the snapshot goes there
  int32_t pid;
  uint32_t thread_count;
  uint64_t threads;                 // undead_replica_thread[]
  uint64_t maps, maps_bytes;        // text of /proc/PID/maps, of the program before anything was put in
  uint64_t smaps, smaps_bytes;      // likewise /proc/PID/smaps; 0: none, resident sizes are then unknown
  uint64_t executable, arguments;   // zero-terminated; arguments separated by blanks
  uint64_t started, taken;          // nanoseconds since 1970
  uint64_t stack_low, stack_high;   // of the call itself: not part of the program
  char message[512];                // out: what went wrong, or a note
  // Words that the kernel holds for the program and gives back later: data of epoll (`data:` of /proc/PID/fdinfo/*), of timers
  // (/proc/PID/timers), of signals that wait, and what waits in pipes and local sockets. Without the flag
  // UNDEAD_REPLICA_HELD_KNOWN there may be others, and objects whose counts say that somebody unseen holds them are taken for alive.
  uint64_t held, held_count;
  uint64_t paused;                  // nanoseconds that the program stood still
  uint64_t files;                   // where its files are, as undead_files_give wants it; 0: where it knows them to be
} undead_replica_request;

typedef enum {
  UNDEAD_REPLICA_DONE = 0,              // the file is complete
  UNDEAD_REPLICA_NOT_SWIFT,
  UNDEAD_REPLICA_ALLOCATOR_UNKNOWN,     // another allocator, or a layout that does not fit
  UNDEAD_REPLICA_ALLOCATOR_BUSY,        // in the middle of something: another replica may do
  UNDEAD_REPLICA_FAILED,
} undead_replica_end;

// Once in the life of a replica. In any case but UNDEAD_REPLICA_DONE `message` says why.
int undead_replica_main(undead_replica_request *request);
