#define _GNU_SOURCE
#include "heap_truth.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static __thread int32_t kind_in_making = -1;
static __thread void *thread_local_value;
static void *zeroed_slots[TRUTH_SLOTS / 2 * 8];
static void *filled_slots[TRUTH_SLOTS / 2 * 8 + 8] = {[TRUTH_SLOTS / 2 * 8] = (void *)1};

int32_t truth_kind_in_making(void) { return kind_in_making; }
void truth_set_kind_in_making(int32_t kind) { kind_in_making = kind; }

void truth_set_thread_local(void *value) { thread_local_value = value; }
void *truth_thread_local(void) { return thread_local_value; }

void **truth_global_slots(unsigned number) {
  return number & 1 ? &zeroed_slots[number / 2 * 8] : &filled_slots[number / 2 * 8];
}

static void wait_for_byte(int descriptor) {
  char byte;
  while (read(descriptor, &byte, 1) < 0) {
  }
}

static __thread void *volatile on_the_way;

void truth_keep_on_the_way(void *object) { on_the_way = object; }

__attribute__((noinline)) uintptr_t truth_wait_in_frame(uintptr_t masked, int descriptor) {
  volatile uintptr_t held = masked ^ TRUTH_MASK;
  on_the_way = NULL;
  wait_for_byte(descriptor);
  on_the_way = (void *)held;
  return masked;
}

// In front of a system call of the thread's own, or a signal, vector registers with what the thread copied last may be in use.
static void forget_vectors(void) {
#if defined(__x86_64__)
  enum { VECTORS = 0xe6 };   // XCR0: SSE, AVX, AVX-512
  static const struct {
    _Alignas(64) uint32_t words[1024];   // no component is in it, so each is made as it was at the start
  } none = {.words = {[6] = 0x1f80}};    // MXCSR
  __asm__ volatile("xrstor64 %0" ::"m"(none), "a"(VECTORS), "d"(0) : "memory");
#endif
}

// The object's only reference while the system call waits is a register that the kernel saved.
__attribute__((noinline)) uintptr_t truth_wait_in_register(uintptr_t masked, int descriptor) {
#if defined(__x86_64__)
  char byte = 0;
  uintptr_t mask = TRUTH_MASK;
  forget_vectors();
  __asm__ volatile(
      "mov %0, %%r12\n"
      "xor %1, %%r12\n"
      "movq $0, %4\n"
      "1: xor %%eax, %%eax\n"
      "mov %2, %%edi\n"
      "lea %3, %%rsi\n"
      "mov $1, %%edx\n"
      "syscall\n"
      "test %%rax, %%rax\n"
      "js 1b\n"
      "mov %%r12, %4\n"
      "xor %1, %%r12\n"
      "mov %%r12, %0\n"
      : "+&r"(masked)
      : "r"(mask), "r"(descriptor), "m"(byte), "m"(on_the_way)
      : "rax", "rdi", "rsi", "rdx", "rcx", "r11", "r12", "cc", "memory");
  return masked;
#else
  return truth_wait_in_frame(masked, descriptor);
#endif
}

struct truth_fiber {
  ucontext_t own, caller;
  uintptr_t result;
};

// A fiber may go on in another thread than the one that it began in.
__attribute__((noinline)) static void *volatile *on_the_way_here(void) { return &on_the_way; }

static void fiber_body(unsigned low, unsigned high, unsigned masked_low, unsigned masked_high) {
  truth_fiber *fiber = (truth_fiber *)((uintptr_t)high << 32 | low);
  volatile uintptr_t held = ((uintptr_t)masked_high << 32 | masked_low) ^ TRUTH_MASK;
  on_the_way = NULL;
  swapcontext(&fiber->own, &fiber->caller);
  fiber->result = held ^ TRUTH_MASK;
  *on_the_way_here() = (void *)held;
}

truth_fiber *truth_fiber_start(uintptr_t masked, void *stack, size_t stack_size) {
  truth_fiber *fiber = calloc(1, sizeof(*fiber));
  getcontext(&fiber->own);
  fiber->own.uc_stack.ss_sp = stack;
  fiber->own.uc_stack.ss_size = stack_size;
  fiber->own.uc_link = &fiber->caller;
  uintptr_t self = (uintptr_t)fiber;
  makecontext(&fiber->own, (void (*)(void))fiber_body, 4, (unsigned)self, (unsigned)(self >> 32), (unsigned)masked,
              (unsigned)(masked >> 32));
  swapcontext(&fiber->caller, &fiber->own);
  return fiber;
}

uintptr_t truth_fiber_finish(truth_fiber *fiber) {
  swapcontext(&fiber->caller, &fiber->own);
  uintptr_t result = fiber->result;
  free(fiber);
  return result;
}

static void wait_on_other_stack(unsigned descriptor) { wait_for_byte((int)descriptor); }

__attribute__((noinline)) uintptr_t truth_wait_beyond_switch(uintptr_t masked, int descriptor, void *stack,
                                                             size_t stack_size) {
  volatile uintptr_t held = masked ^ TRUTH_MASK;
  ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = stack_size;
  there.uc_link = &here;
  makecontext(&there, (void (*)(void))wait_on_other_stack, 1, (unsigned)descriptor);
  on_the_way = NULL;
  swapcontext(&here, &there);
  on_the_way = (void *)held;
  return masked;
}

__attribute__((noinline)) uintptr_t truth_wait_below_fiber(uintptr_t masked, int descriptor) {
  char buffer[32768] __attribute__((aligned(64)));
  return truth_wait_beyond_switch(masked, descriptor, buffer, sizeof(buffer));
}

static void nothing(void *context) { (void)context; }

truth_handler *truth_handler_make(void *owner) {
  truth_handler *handler = calloc(1, sizeof(*handler));
  *handler = (truth_handler){.fd = 300, .events = 1, .callback = nothing, .cancel = nothing, .owner = owner};
  return handler;
}

int truth_fork(void) { return fork(); }

int truth_memory_file(size_t size) {
  int file = memfd_create("heap-truth", MFD_CLOEXEC);
  return ftruncate(file, (off_t)size) == 0 ? file : -1;
}

void *truth_move_mapping(void *base, size_t size) {
  void *there = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mremap(base, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, there);
}

void *truth_sbrk(size_t size) { return sbrk((intptr_t)size); }

static __thread int handlers_descriptor;

static void handle(int signal) {
  (void)signal;
  wait_for_byte(handlers_descriptor);
}

// The frame with the object is below the handler's stack, which lies in a buffer of an outer frame.
__attribute__((noinline)) static uintptr_t raise_and_hold(uintptr_t masked) {
  volatile uintptr_t held = masked ^ TRUTH_MASK;
  on_the_way = NULL;
  forget_vectors();
  raise(SIGUSR2);
  on_the_way = (void *)held;
  return masked;
}

__attribute__((noinline)) uintptr_t truth_wait_below_signal_stack(uintptr_t masked, int descriptor) {
  char buffer[32768] __attribute__((aligned(64)));
  stack_t stack = {.ss_sp = buffer, .ss_size = sizeof(buffer)}, before;
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
  handlers_descriptor = descriptor;
  sigaction(SIGUSR2, &action, NULL);
  sigaltstack(&stack, &before);
  uintptr_t result = raise_and_hold(masked);
  sigaltstack(&before, NULL);
  return result;
}

typedef struct {
  long number;
  truth_link link;
  void *object;
} item;

static item *item_of(truth_link *link) { return (item *)((char *)link - offsetof(item, link)); }

truth_link *truth_link_push(truth_link *head, void *object) {
  item *made = malloc(sizeof(*made));
  *made = (item){.number = 1, .link = {.next = head}, .object = object};
  return &made->link;
}

void *truth_link_pop(truth_link **head) {
  item *first = item_of(*head);
  void *object = first->object;
  *head = first->link.next;
  free(first);
  return object;
}

void truth_epoll_with(void *object, int *descriptors) {
  descriptors[0] = epoll_create1(EPOLL_CLOEXEC);
  descriptors[1] = eventfd(0, EFD_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = object};
  epoll_ctl(descriptors[0], EPOLL_CTL_ADD, descriptors[1], &event);
}

int truth_timer_with(void *object) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_ptr = object};
  timer_t timer = NULL;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  return (int)(intptr_t)timer;
}

void truth_timer_delete(int timer) { timer_delete((timer_t)(intptr_t)timer); }
