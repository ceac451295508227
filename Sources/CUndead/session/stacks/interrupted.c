// Whether a signal interrupted code that holds a lock of malloc, of the loader or of thread creation: a check in its handler
// would wait for it. Judged by the addresses on the stack, which are compared with ranges that are found once, at the start.
#include "session/stacks/stacks.h"
#include "platform/images/c_library.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/maps/segments.h"
#include "platform/system/system_calls.h"
#include "platform/memory/thread_state.h"
#include "record/abandoned.h"
#include <dlfcn.h>
#include <link.h>

extern void *__libc_malloc(size_t size);
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library);

typedef struct {
  uintptr_t low, high;
} range;

static range loader, libc;
// System calls of libc that are made with the lock of the stack cache held.
static range locked_calls[3];
// Of the loader, but takes no lock itself.
static range tls_lookup;
// Calls a function of the program with the lock of the list of libraries held.
static range library_walk;
// fork() holds the locks of malloc between our handlers.
static __thread volatile bool forking __attribute__((tls_model("initial-exec")));

static void enter_fork(void) { forking = true; }
static void leave_fork(void) { forking = false; }

static bool contains(range range, uintptr_t address) { return address >= range.low && address < range.high; }

static int find_ranges(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  undead_segments segments = undead_segments_of(info->dlpi_phdr, info->dlpi_phnum);
  range image = {info->dlpi_addr + segments.low, info->dlpi_addr + segments.high};
  if (contains(image, (uintptr_t)&_r_debug)) loader = image;
  if (contains(image, (uintptr_t)__libc_malloc)) libc = image;
  return 0;
}

static range function_of(const char *name) {
  size_t size = 0;
  uintptr_t start = undead_next_function(name, &size);
  return (range){start, start + size};
}

void undead_interrupted_prepare(void) {
  // Longer than any of these functions; a neighbour taken for one of them only delays the check.
  enum { STUB_BYTES = 96 };
  static const char *const names[] = {"munmap", "mprotect", "madvise"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    uintptr_t start = (uintptr_t)undead_symbol(RTLD_NEXT, names[i]);
    locked_calls[i] = (range){start, start + STUB_BYTES};
  }
  tls_lookup = function_of("__tls_get_addr");
  library_walk = function_of("dl_iterate_phdr");
  dl_iterate_phdr(find_ranges, NULL);
  // Registered before the program's own, so innermost: what they do is not mistaken for fork's work.
  __register_atfork(enter_fork, leave_fork, leave_fork, NULL);
}

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static const uint8_t syscall_instruction[2] = {0x0f, 0x05};

// `pc` is that of a thread that waits in the kernel: after the instruction, or on it if the call is to start again.
static bool is_at_system_call(uintptr_t pc) {
  return memcmp((const void *)(pc - 2), syscall_instruction, 2) == 0 ||
         memcmp((const void *)pc, syscall_instruction, 2) == 0;
}

static bool is_safe_at(uintptr_t pc) {
  if (contains(loader, pc)) return contains(tls_lookup, pc);
  if (!contains(libc, pc)) return true;
  for (size_t i = 0; i < sizeof(locked_calls) / sizeof(locked_calls[0]); i++)
    if (contains(locked_calls[i], pc)) return false;
  return is_at_system_call(pc);
}

bool undead_interrupted_safely(const void *context) {
  const ucontext_t *interrupted = context;
  // A frame's address is that of the next instruction.
  const greg_t *registers = interrupted->uc_mcontext.gregs;
  undead_frame at = {(uintptr_t)registers[REG_RIP] + 1, (uintptr_t)registers[REG_RSP], (uintptr_t)registers[REG_RBP]};
  if (undead_hook_settle(at) || undead_thread.held || undead_thread.ignored > 0 || forking) return false;
  return is_safe_at((uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP]);
}

// Where libc's signal handlers return to; on a stack it marks a signal's frame. 0: unknown.
static uintptr_t find_signal_return(void) {
  struct {
    uintptr_t handler, flags, restorer, mask;
  } action = {0};   // as the kernel has it
  for (int signal = 1; signal < NSIG && action.restorer == 0; signal++)
    syscall(SYS_rt_sigaction, signal, NULL, &action, sizeof(action.mask));
  return action.restorer;
}

// The frame that the kernel lays on the stack for a handler: its return address, and the state that it interrupted.
typedef struct {
  uintptr_t return_address;
  ucontext_t context;
} signal_frame;

static bool is_signal_frame(const signal_frame *frame, uintptr_t at) {
  const greg_t *registers = frame->context.uc_mcontext.gregs;
  enum { USER_CODE_SEGMENT = 0x33 };
  bool on_same_stack = (uintptr_t)registers[REG_RSP] > at;
  return (registers[REG_CSGSFS] & 0xffff) == USER_CODE_SEGMENT &&
         (on_same_stack || frame->context.uc_stack.ss_size > 0);
}

// Copies memory of this thread's stacks; returns how much of it could be read. Behind a stack lies memory of others, who may take it
// away between a test and a read: the kernel copies, where a filter does not forbid it.
static size_t read_memory(uintptr_t from, void *to, size_t size) {
  for (size_t done = 0; done < size;) {
    size_t part = UNDEAD_PAGE - (from + done) % UNDEAD_PAGE;
    if (part > size - done) part = size - done;
    if (!undead_copy_memory(from + done, (char *)to + done, part)) {
      if (!undead_page_is_readable(from + done)) return done;
      memcpy((char *)to + done, (const void *)(from + done), part);
    }
    done += part;
  }
  return size;
}

// True if a signal handler runs on this stack, above `sp`, and what it interrupted may hold a lock that we need.
static bool is_in_unsafe_handler(uintptr_t sp) {
  enum { PAGES_SEARCHED = 256 };
  uintptr_t signal_return = find_signal_return();
  uintptr_t words[UNDEAD_PAGE / sizeof(uintptr_t)];
  for (int page = 0; signal_return && page < PAGES_SEARCHED; page++) {
    size_t size = UNDEAD_PAGE - sp % UNDEAD_PAGE;
    if (read_memory(sp, words, size) != size) break;
    for (size_t i = 0; i < size / sizeof(words[0]); i++) {
      signal_frame frame;
      uintptr_t at = sp + i * sizeof(words[0]);
      if (words[i] != signal_return || read_memory(at, &frame, sizeof(frame)) != sizeof(frame)) continue;
      if (is_signal_frame(&frame, at) && !is_safe_at((uintptr_t)frame.context.uc_mcontext.gregs[REG_RIP])) return true;
    }
    sp += size;
  }
  return false;
}

// True if the loader called the code that runs: a library's constructor or destructor, or one who walks the list of libraries.
static bool is_called_by_loader(undead_frame frame) {
  enum { MOST_FRAMES = 256 };
  undead_step step = UNDEAD_STEP_CALLER;
  for (int depth = 0; depth < MOST_FRAMES && step != UNDEAD_STEP_LOST; depth++) {
    // What a signal interrupted is looked at by itself.
    bool called = step == UNDEAD_STEP_CALLER;
    if (called && (contains(loader, frame.pc - 1) || contains(library_walk, frame.pc - 1))) return true;
    step = undead_walk_step(&frame);
  }
  return false;
}

const char *undead_exit_obstacle(void) {
  const uintptr_t *own = __builtin_frame_address(0);
  if (is_called_by_loader((undead_frame){own[1], (uintptr_t)(own + 2), own[0]}))
    return "exit() was called while a library is loaded or unloaded, or in a walk over all of them: no check is possible there";
  if (undead_hook_settle((undead_frame){own[1], (uintptr_t)(own + 2), own[0]}))
    return "exit() was called in a signal handler that interrupted the allocator: no check is possible there";
  if (forking) return "exit() was called in a signal handler that interrupted fork(): no check is possible there";
  if (is_in_unsafe_handler((uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)7))
    return "exit() was called in a signal handler that interrupted the loader or libc: no check is possible there";
  return NULL;
}

void undead_restart_interrupted(void *context) {
  undead_restart_system_call(context, contains(libc, (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]));
}
