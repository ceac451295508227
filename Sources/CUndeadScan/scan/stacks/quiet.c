#include "scan/stacks/quiet.h"
#include "scan/stacks/contexts.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "runtime/runtime.h"
#include "unwind/walk_x86_64.h"
#include "world/images.h"
#include "platform/system/text.h"
#include <elf.h>
#include <string.h>

enum { MOST_FRAMES = 512 };

// What a frame's function is to the compiler of the Swift code that calls it.
typedef enum {
  CODE_SWIFT,     // of the program
  CODE_C,         // of anybody else, called from Swift like any unknown function
  CODE_SERVICE,   // the same, of Foundation and libdispatch; they keep what they are given in memory, or count it
  CODE_LIBC,      // the same; it keeps no references to objects of its own
  CODE_RUNTIME,   // of the Swift runtime and standard library, of the loader
  CODE_UNKNOWN,
} code_kind;

typedef struct {
  undead_interval weak[MOST_FRAMES];   // ascending
  uint32_t count;
  bool registers;   // those that functions leave as they are hold what Swift code left in them
  bool returns;     // the thread goes on after the check
  bool in_task;     // the outermost frame of Swift code is one of a task, and weak
} weak_parts;

static bool is_name_of_runtime(const char *name) {
  return undead_starts_with(name, "swift_") || undead_starts_with(name, "_swift_") || undead_starts_with(name, "_ZN5swift");
}

// With -static-stdlib the runtime lies in the program, with functions that are hidden. A function of the program may be named
// like one: with any other visibility it may be either.
static code_kind kind_in_module_of_runtime(const char *name, uintptr_t pc) {
  if (!is_name_of_runtime(name)) return CODE_C;
  return undead_symbol_visibility(pc) == STV_HIDDEN ? CODE_RUNTIME : CODE_UNKNOWN;
}

// Functions without a mangled name that the compiler makes for top-level code, @main, and their asynchronous forms. C code may
// have the same names. But the compiler makes `main` protected (lib/IRGen/GenDecl.cpp; SwiftPM gives it another name, too), and
// to `async_Main` belongs a record that says how to call it.
static bool is_main_of_swift(const undead_module *module, const char *name, uintptr_t pc, uintptr_t start) {
  if (undead_starts_with(name, "async_Main")) {
    char next = name[sizeof "async_Main" - 1];
    return (!next || next == 'T') && undead_symbol_address(module, "async_MainTu", NULL);
  }
  return undead_symbol_visibility(pc) == STV_PROTECTED && undead_symbol_address(module, "main", NULL) == start
    && undead_symbol_address(module, "__swift_reflection_version", NULL);
}

static code_kind kind_of_code(uintptr_t pc) {
  const undead_module *module = undead_module_of(pc);
  if (!module) return CODE_UNKNOWN;
  if (undead_in(undead_image_facts.libc, pc)) return CODE_LIBC;
  if (undead_in(undead_image_facts.dispatch, pc)) return CODE_SERVICE;
  // Of the toolchain's Swift libraries only Foundation is like a library of anybody's.
  if (module->toolchain) return strstr(module->path, "Foundation") ? CODE_SERVICE : CODE_RUNTIME;
  uintptr_t start;
  const char *name = undead_symbol_name(pc, &start);
  // Functions of ours and what they call: nothing is known of them.
  if (!name[0] || undead_starts_with(name, "undead_")) return CODE_UNKNOWN;
  if (undead_starts_with(name, "$ss")) return CODE_RUNTIME;
  if (undead_starts_with(name, "$s")) return CODE_SWIFT;
  if (!strcmp(name, "_start")) return CODE_LIBC;   // of crt1.o
  if (is_main_of_swift(module, name, pc, start)) return CODE_SWIFT;
  bool with_runtime = module == undead_module_of((uintptr_t)undead_runtime.type_by_mangled_name);
  return with_runtime ? kind_in_module_of_runtime(name, pc) : CODE_C;
}

// The function that calls a task's next piece. Beyond it lies no frame of the task's.
static bool runs_jobs(uintptr_t pc) {
  const char *name = undead_symbol_name(pc, NULL);
  return !strcmp(name, "swift_job_run") || !strcmp(name, "_ZN5swift34runJobInEstablishedExecutorContextEPNS_3JobE");
}

static void add_weak(weak_parts *parts, uintptr_t low, uintptr_t high) {
  if (low >= high || parts->count == MOST_FRAMES) return;
  undead_interval *last = parts->count ? &parts->weak[parts->count - 1] : NULL;
  if (last && last->high == low) last->high = high;
  else parts->weak[parts->count++] = (undead_interval){low, high};
}

// The registers that C code must find again lie in the frames of the Swift code that it called, or are still where they were.
static void forget_inner(weak_parts *parts) {
  parts->count = 0;
  parts->registers = false;
}

// What is known at the inmost Swift frame: of the thread, or of what a signal interrupted.
static void add_inmost(weak_parts *parts, const undead_signal_frame *signal, uintptr_t low, uintptr_t libc_end) {
  if (!signal->dead.high) parts->registers = true;
  for (int i = 0; i < 2; i++) add_weak(parts, signal->saved[i].low, signal->saved[i].high);
  add_weak(parts, signal->dead.low, signal->dead.high);
  add_weak(parts, low, libc_end);
}

// Walks outwards from `frame`, in whose function the thread stands at a call. False if nothing of it is weak.
static bool find_weak(weak_parts *parts, undead_frame frame, uintptr_t low) {
  bool inmost = true, back_in_libc = false;
  uintptr_t libc_end = low;   // the frames of libc that Swift code itself called have its registers in them
  undead_signal_frame signal = {0};
  for (int depth = 0; depth < MOST_FRAMES; depth++) {
    uintptr_t pc = frame.pc - 1, start = depth ? frame.sp : low;
    code_kind kind = kind_of_code(pc);
    // The outermost frames of libc only started the thread, or run exit handlers where main's frames have been.
    if (kind == CODE_C || kind == CODE_UNKNOWN || (back_in_libc && kind != CODE_LIBC)) forget_inner(parts);
    // What the runtime's functions do the compiler knows, and so what those do that call them.
    if (kind == CODE_RUNTIME || kind == CODE_UNKNOWN) {
      parts->in_task = !inmost && kind == CODE_RUNTIME && runs_jobs(frame.pc - 1);
      break;
    }
    back_in_libc = !inmost && kind == CODE_LIBC;
    undead_step step = undead_walk_step(&frame);
    if (step == UNDEAD_STEP_INTERRUPTED && undead_read_signal_frame(&signal, start, frame.sp, frame.pc - 1)) {
      // What was interrupted stands in a call as well.
      inmost = true;
      back_in_libc = false;
      low = libc_end = frame.sp;
      continue;
    }
    if (step != UNDEAD_STEP_CALLER) break;
    if (inmost && kind == CODE_LIBC && start == libc_end) libc_end = frame.sp;
    if (kind == CODE_SWIFT) {
      if (parts->returns) undead_borrowed_add(pc);
      if (inmost && start == libc_end) add_inmost(parts, &signal, low, libc_end);
      inmost = false;
    }
    if (kind == CODE_SWIFT || back_in_libc) add_weak(parts, start, frame.sp);
  }
  return parts->count > 0;
}

static bool find_weak_of_thread(weak_parts *parts, const undead_stopped_thread *thread,
                                const undead_scan_options *options) {
  parts->count = 0;
  parts->registers = parts->in_task = false;
  parts->returns = !options->ends || thread->tid != options->caller_tid;
  if (thread->tid == options->caller_tid && options->caller_sp) {
    if (!options->caller_pc) return false;
    undead_frame frame = {options->caller_pc, options->caller_frame, options->caller_registers[1]};
    return find_weak(parts, frame, options->caller_sp);
  }
  if (!thread->in_syscall || thread->held_signal) return false;
  // Addresses of frames are those of the next instruction.
  return find_weak(parts, (undead_frame){thread->pc + 1, thread->sp, thread->general[UNDEAD_FP]}, thread->sp);
}

// The frames of Swift code further out than the one at work, of a thread that is not the one that asked: how far that one has
// counted what it stored is not known. As above, what C code must find again may lie in the frames that it called.
static void find_doubtful(weak_parts *parts, const undead_stopped_thread *thread, const undead_scan_options *options) {
  parts->count = 0;
  if (thread->held_signal || (thread->tid == options->caller_tid && options->caller_sp)) return;
  undead_frame frame = {thread->pc + 1, thread->sp, thread->general[UNDEAD_FP]};
  bool inmost = true;
  for (int depth = 0; depth < MOST_FRAMES; depth++) {
    code_kind kind = kind_of_code(frame.pc - 1);
    uintptr_t start = frame.sp;
    if (kind == CODE_C || kind == CODE_UNKNOWN) parts->count = 0;
    if (undead_walk_step(&frame) != UNDEAD_STEP_CALLER) return;
    if (kind != CODE_SWIFT) continue;
    if (!inmost) add_weak(parts, start, frame.sp);
    inmost = false;
  }
}

static bool add_root_part(undead_roots *roots, undead_root root) {
  if (root.low >= root.high) return true;
  if (roots->count == roots->capacity) return false;
  roots->roots[roots->count++] = root;
  return true;
}

// The first of the parts that a root has, cut to it; empty if there is none.
static undead_interval first_part(undead_root root, const weak_parts *parts) {
  for (uint32_t i = 0; i < parts->count; i++) {
    undead_interval part = parts->weak[i];
    if (part.high <= root.low || part.low >= root.high) continue;
    return (undead_interval){part.low > root.low ? part.low : root.low, part.high < root.high ? part.high : root.high};
  }
  return (undead_interval){root.high, root.high};
}

// Takes off the front of a root what lies before the first of the parts, and that part, which is `inside`.
static undead_root take_front(undead_root *root, const weak_parts *parts, undead_root *inside) {
  undead_interval part = first_part(*root, parts);
  undead_root before = *root;
  *inside = *root;
  before.high = inside->low = part.low;
  root->low = inside->high = part.high;
  return before;
}

static bool split_doubtful(undead_roots *split, undead_root root, const weak_parts *doubtful) {
  bool ok = true;
  while (ok && root.low < root.high) {
    undead_root inside, before = take_front(&root, doubtful, &inside);
    inside.doubtful = true;
    ok = add_root_part(split, before) && add_root_part(split, inside);
  }
  return ok;
}

static bool split(undead_roots *split, undead_root root, const weak_parts *weak, const weak_parts *doubtful) {
  bool ok = true;
  while (ok && root.low < root.high) {
    undead_root inside, before = take_front(&root, weak, &inside);
    inside.weak = true;
    ok = split_doubtful(split, before, doubtful) && add_root_part(split, inside);
  }
  return ok;
}

// The registers of a system call are in use.
static void add_weak_registers(weak_parts *parts, const undead_stopped_thread *thread,
                               const undead_scan_options *options) {
  uintptr_t first = (uintptr_t)options->caller_registers, general = (uintptr_t)thread->general;
  parts->count = 0;
  if (!parts->registers) return;
  add_weak(parts, first, first + sizeof options->caller_registers);
  static const struct {
    unsigned first, count;
  } kept[] = UNDEAD_KEPT_REGISTERS;
  for (unsigned i = 0; i < sizeof kept / sizeof *kept; i++)
    add_weak(parts, general + 8 * kept[i].first, general + 8 * (kept[i].first + kept[i].count));
}

// Moves the roots of one kind that belong to a thread to `result`, in parts.
static bool split_thread(undead_roots *roots, undead_roots *result, int32_t tid, undead_root_kind kind,
                         const weak_parts *weak, const weak_parts *doubtful) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < roots->count; i++) {
    undead_root root = roots->roots[i];
    if (root.tid != tid || root.kind != kind) continue;
    roots->roots[i].high = root.low;
    ok = split(result, root, weak, doubtful);
  }
  return ok;
}

void undead_quiet_prepare(void) {
  for (size_t i = 0; i < undead_module_count(); i++) {
    const undead_module *module = undead_module_at(i);
    if (module->toolchain && strstr(module->path, "swift_Concurrency")) undead_symbol_name(module->low, NULL);
    if (module->toolchain) continue;
    undead_symbol_name(module->low, NULL);
    undead_symbol_address(module, "__swift_reflection_version", NULL);
    undead_symbol_address(module, "async_MainTu", NULL);
    undead_symbol_address(module, "main", NULL);
  }
}

static bool mark_thread(undead_roots *roots, undead_roots *result, const undead_stopped_thread *thread,
                        weak_parts *weak, weak_parts *doubtful, const undead_scan_options *options) {
  bool waits = find_weak_of_thread(weak, thread, options);
  if (!waits) weak->count = 0;
  if (waits && weak->in_task && thread->tid == options->caller_tid) result->caller_waits_in_task = true;
  find_doubtful(doubtful, thread, options);
  if (!weak->count && !doubtful->count) return true;
  bool ok = split_thread(roots, result, thread->tid, UNDEAD_ROOT_STACK, weak, doubtful);
  doubtful->count = 0;
  if (!waits) return ok;
  add_weak_registers(weak, thread, options);
  return ok && split_thread(roots, result, thread->tid, UNDEAD_ROOT_REGISTER, weak, doubtful);
}

bool undead_quiet_mark(undead_roots *roots, const undead_world *world, const undead_scan_options *options) {
  undead_roots result = *roots;
  undead_borrowed_begin(options->ends);
  result.count = 0;
  result.roots = undead_map(result.capacity * sizeof *result.roots);
  weak_parts *parts = undead_map(2 * sizeof *parts);
  bool ok = result.roots && parts;
  for (uint32_t i = 0; ok && i < world->thread_count; i++) {
    const undead_stopped_thread *thread = &world->threads[i];
    if (thread->phase != UNDEAD_THREAD_STOPPED) continue;
    ok = mark_thread(roots, &result, thread, &parts[0], &parts[1], options);
  }
  for (uint32_t i = 0; ok && i < roots->count; i++) ok = add_root_part(&result, roots->roots[i]);
  if (parts) undead_unmap(parts, 2 * sizeof *parts);
  if (!ok) {
    if (result.roots) undead_unmap(result.roots, result.capacity * sizeof *result.roots);
    return false;
  }
  undead_unmap(roots->roots, roots->capacity * sizeof *roots->roots);
  *roots = result;
  return true;
}
