// What Swift cannot say itself: thread-local variables of C, contexts, frames of C functions.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define TRUTH_SLOTS 64

// The kind of holder that the calling thread is making.
int32_t truth_kind_in_making(void);
void truth_set_kind_in_making(int32_t kind);

// A variable of C code in each thread.
void truth_set_thread_local(void *value);
void *truth_thread_local(void);

// Variables of C code: eight words in .bss or in .data.
void **truth_global_slots(unsigned number);

// Objects are given to the functions below, and given back, as their address with these bits changed: only where it is
// meant to be does the address itself stand.
#define TRUTH_MASK 0x5a5a5a5a5a5a5a5au
// Until it stands there, and after it, the calling thread keeps it here.
void truth_keep_on_the_way(void *object);

// Waits for a byte from `descriptor` with the object only in a frame of C code, or only in a register that calls keep.
uintptr_t truth_wait_in_frame(uintptr_t masked, int descriptor);
uintptr_t truth_wait_in_register(uintptr_t masked, int descriptor);

// A fiber with a stack of its own that holds an object in a frame while it is switched out.
typedef struct truth_fiber truth_fiber;
truth_fiber *truth_fiber_start(uintptr_t masked, void *stack, size_t stack_size);
uintptr_t truth_fiber_finish(truth_fiber *fiber);

// Waits for a byte on another stack, with the object in a frame of the stack that was left. The other stack is given, or
// lies in a buffer of an outer frame.
uintptr_t truth_wait_beyond_switch(uintptr_t masked, int descriptor, void *stack, size_t stack_size);
uintptr_t truth_wait_below_fiber(uintptr_t masked, int descriptor);

// A table of handlers as C programs have it, from calloc.
typedef struct {
  int fd, events;
  void (*callback)(void *);
  void *other;
  long deadline;
  void (*cancel)(void *);
  void *owner;
  long more[3];
} truth_handler;
truth_handler *truth_handler_make(void *owner);

// Swift does not offer it.
int truth_fork(void);

// A file in memory; a mapping at another address; memory from the break.
int truth_memory_file(size_t size);
void *truth_move_mapping(void *base, size_t size);
void *truth_sbrk(size_t size);

// Waits for a byte in a signal handler whose stack lies in a buffer of an outer frame.
uintptr_t truth_wait_below_signal_stack(uintptr_t masked, int descriptor);

// A list whose links lead to the links in the items.
typedef struct truth_link {
  struct truth_link *next;
} truth_link;
truth_link *truth_link_push(truth_link *head, void *object);
void *truth_link_pop(truth_link **head);

// The kernel keeps the object's address: with an event, or with a timer.
void truth_epoll_with(void *object, int *descriptors);
int truth_timer_with(void *object);   // its number: the first is 0, which Swift takes for none
void truth_timer_delete(int timer);
