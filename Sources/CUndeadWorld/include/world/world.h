// The stopped world: which threads stand still, and what their registers hold. Only used in the helper.
#pragma once
#include "platform/processor/processor.h"

typedef enum {
  UNDEAD_THREAD_RUNNING = 0,
  UNDEAD_THREAD_STOPPED = 1,
  UNDEAD_THREAD_GONE = 2,
} undead_thread_phase;

typedef struct {
  int32_t tid;
  volatile uint32_t phase;     // undead_thread_phase
  volatile uint32_t asked;     // signals only: a signal is on its way to the thread
  int32_t held_signal;         // intercepted on its way to the thread; delivered when the thread goes on
  bool in_syscall;             // stands at the instruction for system calls of a libc function: no red zone in use
  uintptr_t pc;
  uintptr_t sp, gs, tp;        // the stack pointer, and what the segment registers add
  uintptr_t general[UNDEAD_GENERAL_REGISTERS];
  uint32_t first_vector, vector_count;   // range in `vectors`: words of the vector registers in use
} undead_stopped_thread;

typedef enum { UNDEAD_STOP_PTRACE = 1, UNDEAD_STOP_SIGNALS = 2 } undead_stop_method;

typedef enum {
  UNDEAD_STOP_OK = 0,
  UNDEAD_STOP_DENIED,        // the system does not allow this method: try the other one
  UNDEAD_STOP_STUCK,         // a thread did not stop in time
  UNDEAD_STOP_NO_MEMORY,
  UNDEAD_STOP_UNSEEN,        // /proc is not there, or hides the process
} undead_stop_result;

#define UNDEAD_MAX_THREADS 65536u
#define UNDEAD_MAX_VECTORS (1u << 22)

typedef struct {
  int32_t process, scanner;     // pid of the program, tid of its scanning thread (never stopped)
  undead_stop_method method;
  undead_stopped_thread *threads;
  volatile uint32_t thread_count;
  uintptr_t *vectors;
  volatile uint32_t vector_count;
  volatile bool vectors_lost;   // the table was too small: the scan would not be sound
  bool threads_lost;            // likewise
  int32_t blocking_thread;      // signals only: did not stop in the last attempt, because it blocks the signal
  bool blocks_again;            // signals only: nor in the one before
  bool signals_lost;            // signals only: one may still be pending when the scan is over
  uint64_t stopped_at;          // when the attempt that succeeded began, of undead_now()
  uint32_t restarts;            // whole stops that had to be done again
  char message[160];            // why the world could not be stopped
} undead_world;

// Maps the tables of `world`; false without memory. `undead_world_close` unmaps them.
bool undead_world_open(undead_world *world, undead_stop_method method);
void undead_world_close(undead_world *world);

// Stops every thread but the scanner. On any result but OK, all threads run again.
undead_stop_result undead_world_stop(undead_world *world);
void undead_world_resume(undead_world *world);

// What UNDEAD_STOP asks for: a method, or 0 for ptrace and then signals. Read when the program starts.
int undead_stop_preference(void);

// Signals only: before the helper starts and after it ended (in any way), on the scanning thread.
bool undead_signals_prepare(undead_world *world);
void undead_signals_finish(undead_world *world);

// The two methods (ptrace.c, signals.c).
undead_stop_result undead_ptrace_stop(undead_world *world);
// Stops one thread only; undead_ptrace_resume lets it go on.
undead_stop_result undead_ptrace_stop_one(undead_world *world, int32_t tid);
void undead_ptrace_resume(undead_world *world);
// Before a traced thread goes on (restart.c): the call that it was stopped in is made again if nothing but the stop ended it.
void undead_start_call_again(const undead_world *world, const undead_stopped_thread *thread);
undead_stop_result undead_signals_stop(undead_world *world);
void undead_signals_resume(undead_world *world);

// Shared by both methods: calls `visit` for every thread of the program but the scanner; false if /proc cannot be read.
bool undead_each_thread(const undead_world *world, void (*visit)(undead_world *, int32_t tid), undead_world *context);
// The table's entry of a thread, NULL if it has none; a new entry, NULL if the table is full.
undead_stopped_thread *undead_world_find(undead_world *world, int32_t tid);
undead_stopped_thread *undead_world_add(undead_world *world, int32_t tid);
// State letter of a thread from /proc ('R', 'S', 'D', 'Z', ...), 0 if it is gone.
char undead_thread_letter(int32_t tid);
// True while a thread that ends gives the blocks of its cache back, outside of all hooks: those that are still to come are on no
// list, and what was in them would count as somebody's. Only in the first attempt to stop all threads. The thread-local storage
// is readable.
bool undead_thread_empties_cache(const undead_world *world, uintptr_t thread_pointer);
// True while a stopped thread must not stay where it is: there, or inside one of our allocator hooks.
bool undead_thread_must_go_on(const undead_world *world, const undead_stopped_thread *thread);
// How far below its thread pointer a thread has the addresses of its cache (glibc's tcache) and of its arena; 0: not known.
void undead_ending_threads_learn(size_t cache_place, size_t arena_place);
// Notes who asks for the stop and may wait for it: the last thread of a program that ends has given back its cache before it calls
// exit(), and a signal handler may ask while the thread does.
void undead_ending_threads_except(uintptr_t thread_pointer);
// Notes whether the thread stands at a system call of libc's.
void undead_note_system_call(undead_stopped_thread *thread);
// Learns where vector registers lie in what the kernel gives, before the first of them is taken.
void undead_learn_vectors(void);
// Takes the words of the vector registers in use, from an XSAVE area (standard format) of `size` bytes.
void undead_take_vectors(undead_world *world, undead_stopped_thread *thread, const uint8_t *area, size_t size);
