// The zombie sniffer: use of Swift objects after their deinit. Freed objects stay in a quarantine with a class that
// reports every message; retain, release, casts, unowned references and fields are caught beside it.
// All functions are thread-safe and keep errno.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  UNDEAD_ZOMBIE_METHOD = 1,    // a message to the object, or a class method through its type
  UNDEAD_ZOMBIE_RELEASE = 2,
  UNDEAD_ZOMBIE_RETAIN = 3,
  UNDEAD_ZOMBIE_FIELD = 4,     // a stored property was used
  UNDEAD_ZOMBIE_UNOWNED = 5,   // a safe unowned reference was read: the runtime aborts
  UNDEAD_ZOMBIE_CAST = 6,
  UNDEAD_ZOMBIE_CLOSURE = 7,   // the context of a closure, or the box of a variable, whatever was done to it
  UNDEAD_ZOMBIE_TIMER_TARGET = 8,
  UNDEAD_ZOMBIE_OVERFLOW = 9,  // sampled: memory behind the block, or in front of it, was used, dead or not
  UNDEAD_ZOMBIE_ESCAPE = 10,   // the object's memory is given back while references remain that were taken during its deinit
} undead_zombie_kind;

typedef enum {
  UNDEAD_ZOMBIE_TRAP = 0,      // the program dies of SIGILL (SIGSEGV for a field), with the user on top of its stack
  UNDEAD_ZOMBIE_REPORT = 1,    // the program goes on as well as it can: what it reads is what the dead object held
} undead_zombie_policy;

// Flags of undead_zombie.
enum {
  UNDEAD_ZOMBIE_IS_WRITE = 1,         // field: it was written
  UNDEAD_ZOMBIE_IS_CLASS_METHOD = 2,  // method: sent to the type of the object
  UNDEAD_ZOMBIE_IS_ASYNC = 4,         // method: async
  UNDEAD_ZOMBIE_IS_EVICTED = 8,       // the object had left the quarantine: its memory was free for others
  UNDEAD_ZOMBIE_IS_GUARDED = 16,      // field: caught on a guard page
  UNDEAD_ZOMBIE_IS_SAMPLED = 32,      // found by sampling
  UNDEAD_ZOMBIE_IS_RACE = 64,         // freed and used on different threads, and nothing shows an order
  UNDEAD_ZOMBIE_IS_OLDER = 128,       // what was used lay here before the last block, and is not known any more
};

// What `undead_zombie.accessor` tells of a method.
enum {
  UNDEAD_ZOMBIE_IS_METHOD = 0,
  UNDEAD_ZOMBIE_IS_INITIALIZER = 1,
  UNDEAD_ZOMBIE_IS_GETTER = 2,
  UNDEAD_ZOMBIE_IS_SETTER = 3,
  UNDEAD_ZOMBIE_IS_MODIFY = 4,
  UNDEAD_ZOMBIE_IS_READ = 5,
};

#define UNDEAD_ZOMBIE_NO_FIELD UINT32_MAX
#define UNDEAD_ZOMBIE_RATE_DEFAULT 1000u   // sampled: one block of so many

// One use of a dead object. Texts are never NULL; frames are return addresses, innermost first.
typedef struct {
  uint32_t kind, flags, accessor;
  uint32_t field_offset;           // bytes from the start of the object; UNDEAD_ZOMBIE_NO_FIELD if not known
  uintptr_t object;
  uintptr_t implementation;        // method: the function that would have run; closure: 0; timer target: as given
  const char *type, *field;        // "App.Poller"; "count", "element 3", of an unowned one "App.Response.request"; "" if not known
  int32_t thread, death_thread;    // kernel's ids
  const char *thread_name, *death_thread_name;
  uint64_t access_time, death_time;   // nanoseconds since 1970, good to some milliseconds; death 0 if not known
  uint64_t count;                  // of uses with the same kind, type and place, up to this one
  const uintptr_t *allocation, *deallocation, *access;
  uint32_t allocation_count, deallocation_count, access_count;
} undead_zombie;

// Called for each zombie that is not over the limit of repeats, on the thread that used it, before the policy takes its
// course. It may use Swift, but must not wait for other threads: they may be held by what the zombie's user holds.
typedef void (*undead_zombie_handler)(const undead_zombie *zombie, void *context);

typedef struct {
  uint64_t bytes;                  // memory of dead objects and of what is known of them
  uint64_t count;                  // dead objects
  uint64_t age_milliseconds;       // 0: no limit
} undead_zombie_budget;

typedef struct {
  undead_zombie_budget budget;
  undead_zombie_policy policy;
  // Not 0: sampled. One of so many blocks of Swift's (objects, contexts, storage, raw memory, memory of tasks) gets a page of its
  // own, which nobody can use after its death; nothing else is done to any block. Of `budget`, `count` is the number of pages. The
  // handler is called by undead_zombies_wait. Cannot be changed while the sniffer runs.
  uint32_t sample;
  bool guard;                      // objects of the types of `guard_types` get pages of their own
  // Comma-separated names; "" for none. A name is that of a type with its module or without ("App.Poller", "Poller"),
  // without generic arguments, or its beginning followed by `*`. It stands for the type and all of its subclasses.
  const char *allow;               // "": all types
  const char *deny;                // goes before `allow`
  const char *guard_types;         // "": all types outside of the toolchain's libraries
  uint32_t repeats;                // reports of one place: later ones are only counted. 0: no limit
  undead_zombie_handler handler;   // NULL: none
  void *context;
} undead_zombie_options;

// 64 MiB, a million objects, no age; trap; no guard pages; one report for each place.
void undead_zombie_default_options(undead_zombie_options *options);

// The same for sampled zombies: one of `sample` blocks, 256 pages; the program goes on; a report for each place.
void undead_zombie_sampled_options(undead_zombie_options *options, uint32_t sample);

// Calls the handler for what sampled zombies found, on the calling thread, and waits for more as long as that; a thread of its own
// does so again and again. Findings come from handlers of signals, where the program's code must not run.
void undead_zombies_wait(uint32_t milliseconds);

// The log of this process (Documentation/session-protocol.md); NULL: there is none. The tool reads it from outside, by its name.
extern const void *undead_zombie_log_memory;

// Frees all dead objects for good and lets later ones go at once. Objects on guard pages that live on stay there.
void undead_zombies_stop(void);

bool undead_zombies_are_active(void);
// In one sentence for the user; "" while active. Valid forever.
const char *undead_zombie_inactive_reason(void);

// Changes the budget; what is over it is freed, the oldest first, before the call returns. A budget of 0 keeps nothing.
void undead_zombies_resize(const undead_zombie_budget *budget);
// Adds types to a list, as in the options. Only objects that die later are concerned. False if there is no room.
bool undead_zombies_allow(const char *types);
bool undead_zombies_deny(const char *types);
void undead_zombies_set_policy(undead_zombie_policy policy, uint32_t repeats);
// Sets the handler for all threads; a call of the one before may still be under way when this returns.
void undead_zombies_set_handler(undead_zombie_handler handler, void *context);

// Reports what waits for a better explanation on the calling thread: a retain of a dead object is in the log at once,
// but reaches the handler only when it is clear that neither a message nor a release of the same object follows.
void undead_zombies_settle(void);

typedef struct {
  uint64_t kept, kept_bytes;       // in the quarantine now
  uint64_t deaths;                 // objects that came into the quarantine so far
  uint64_t evicted_for_bytes, evicted_for_count, evicted_for_age, evicted_for_end;
  uint64_t held_when_evicted;      // somebody had retained the dead object: it is still held
  uint64_t denied;                 // deaths of types that are not to be kept
  uint64_t missed;                 // deaths that could not be kept (no memory, a lock that was not free)
  uint64_t types;                  // zombie classes made
  uint64_t guarded, guarded_now;   // objects that got pages of their own, and those that are protected now
  uint64_t not_guarded;            // objects that should have had pages, and did not get any
  uint64_t zombies, reports;       // uses seen, and places reported
  uint64_t lost_reports;           // places for which there was no room
} undead_zombie_counters;
void undead_zombies_read_counters(undead_zombie_counters *counters);

enum { UNDEAD_ZOMBIE_LOG_BYTES = 1 << 20 };
// Copies what was found in this process since its start, as the file of zombies has it (Documentation/session-protocol.md).
// Returns the bytes, at most UNDEAD_ZOMBIE_LOG_BYTES; 0 if nothing was found, or `room` is too small.
size_t undead_zombies_copy_log(void *to, size_t room);

// Reports the use of a dead target that a layer above knows of; `object` is only looked at if it is in the quarantine.
// `type` names it if Undead does not know it (may be NULL); `function` is what should have been called, or 0. Returns
// true if the object is known to be dead. The policy's trap is not sprung: the caller has not touched the object.
bool undead_zombie_report(undead_zombie_kind kind, const void *object, const char *type, uintptr_t function);

// True if `object` is dead and in the quarantine.
bool undead_zombie_is_dead(const void *object);

#ifdef __cplusplus
}
#endif
