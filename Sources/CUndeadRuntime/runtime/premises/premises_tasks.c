// Premises about tasks (ABI/Task.h, TaskPrivate.h, StackAllocator.h): the concurrency runtime makes a task of a function of ours
// and runs it on this thread, to its end. No executor and no other thread has a part in it.
#include "runtime/premises/premises_internal.h"
#include "platform/memory/own_data.h"
#include "runtime/runtime.h"

#define LEAKS(holds, what) undead_premise(premises, UNDEAD_PREMISE_LEAKS, holds, what)
#define NAMES(holds, what) undead_premise(premises, UNDEAD_PREMISE_NAMES, holds, what)
#define ASYNC_CALL __attribute__((swiftasynccall))
#define LIBRARY "libswift_Concurrency."

enum { PROBE_BYTES = 64, ALLOCATION_HEADER = 16, CONTEXT_BYTES = 32, PRIORITY = 0x15 };

typedef ASYNC_CALL void (*resume_function)(__attribute__((swift_async_context)) void *context);
typedef SWIFT_CALL uintptr_t (*alloc_function)(size_t bytes);
typedef SWIFT_CALL void (*dealloc_function)(uintptr_t memory);

// Of the one task that is made.
static struct {
  undead_premises *premises;
  uintptr_t task, alloc, dealloc;
} probe;

// An AsyncFunctionPointer.
static struct { int32_t function; uint32_t context_bytes; } entry_record;

static void look_into_slab(undead_premises *premises, uintptr_t slab) {
  uint32_t used = u32_at(slab + ABI_SLAB_USED), capacity = u32_at(slab + ABI_SLAB_CAPACITY);
  LEAKS(word_at(slab + ABI_SLAB_NEXT) == 0, "the slab behind the first one");
  uintptr_t memory = ((alloc_function)probe.alloc)(PROBE_BYTES);
  uint32_t more = u32_at(slab + ABI_SLAB_USED);
  LEAKS(more - used == PROBE_BYTES + ALLOCATION_HEADER, "how much of a slab is used");
  LEAKS(u32_at(slab + ABI_SLAB_CAPACITY) == capacity && capacity >= more, "the capacity of a slab");
  LEAKS(memory == slab + ABI_SLAB_HEADER + used + ALLOCATION_HEADER, "the header of a slab");
  ((dealloc_function)probe.dealloc)(memory);
}

static void look_at_slab(undead_premises *premises) {
  // What is not found by name (a static runtime without its symbols) is not read either.
  if (!undead_runtime.slab_isa) {
    premises->absent++;
    return;
  }
  uintptr_t first = ((alloc_function)probe.alloc)(PROBE_BYTES), slab = word_at(probe.task + ABI_TASK_FIRST_SLAB);
  bool known = slab && slab % 8 == 0 && undead_runtime.slab_isa && word_at(slab) == undead_runtime.slab_isa;
  LEAKS(known, "the first slab of a task");
  if (known) look_into_slab(premises, slab);
  ((dealloc_function)probe.dealloc)(first);
}

static SWIFT_CALL void cancelled(__attribute__((swift_context)) void *context) { (void)context; }

// Of the records that the runtime keeps of a task one can be made from outside.
static void look_at_records(undead_premises *premises) {
  uintptr_t add = undead_premise_symbol_of(LIBRARY, "swift_task_addCancellationHandler");
  uintptr_t remove = undead_premise_symbol_of(LIBRARY, "swift_task_removeCancellationHandler");
  if (!undead_premise_found(premises, add && remove, "the records of a task")) return;
  uintptr_t before = word_at(probe.task + ABI_TASK_RECORDS);
  uintptr_t record = ((SWIFT_CALL uintptr_t(*)(uintptr_t, uintptr_t))add)((uintptr_t)cancelled, 0);
  NAMES(word_at(probe.task + ABI_TASK_RECORDS) == record, "where the records of a task begin");
  NAMES((word_at(record) & 0xFF) == ABI_RECORD_CANCELLATION && word_at(record + ABI_RECORD_NEXT) == before
          && word_at(record + ABI_RECORD_CONTENTS) == (uintptr_t)cancelled,
        "the records of a task");
  ((SWIFT_CALL void (*)(uintptr_t))remove)(record);
}

static ASYNC_CALL void entry(__attribute__((swift_async_context)) void *context) {
  undead_premises *premises = probe.premises;
  uintptr_t parent = word_at((uintptr_t)context + ABI_ASYNC_CONTEXT_PARENT);
  uintptr_t resume = word_at((uintptr_t)context + ABI_ASYNC_CONTEXT_RESUME);
  undead_premise(premises, UNDEAD_PREMISE_ZOMBIES, undead_is_executable(resume) && !parent,
                 "the caller of an asynchronous function");
  look_at_slab(premises);
  look_at_records(premises);
  NAMES(u32_at(probe.task + ABI_TASK_STATUS) >> ABI_TASK_STATUS_SHIFT == ABI_TASK_RUNNING, "what a task does");
  // By the calling convention, not by what was just checked.
  uintptr_t *words = context;
  ((resume_function)words[1])(words);
}

static void check_task(undead_premises *premises, undead_pair made) {
  uintptr_t task = made.first, isa = word_at(task);
  LEAKS(ABI_KIND_READ(word_at(isa)) == ABI_KIND_TASK, "the kind of tasks");
  uintptr_t jobs = undead_premise_symbol_of(LIBRARY, "_swift_concurrency_debug_jobMetadata");
  if (jobs) LEAKS(ABI_KIND_READ(word_at(word_at(jobs))) == ABI_KIND_JOB, "the kind of jobs");
  LEAKS(undead_is_executable(word_at(task + ABI_TASK_RESUME_FUNCTION)), "where a task goes on");
  LEAKS(word_at(task + ABI_TASK_RESUME_CONTEXT) == made.second, "the frame with which a task goes on");
}

// The runtime reads them for us: the task has none yet.
static void check_flags(undead_premises *premises, uintptr_t task) {
  uintptr_t priority = undead_premise_symbol_of(LIBRARY, "swift_concurrency_jobPriority");
  if (!undead_premise_found(premises, priority, "the priority of a task")) return;
  uint32_t *flags = (uint32_t *)(task + ABI_TASK_FLAGS), before = *flags;
  *flags = PRIORITY << ABI_TASK_PRIORITY_SHIFT;
  NAMES((((SWIFT_CALL size_t(*)(uintptr_t))priority)(task) & 0xFF) == PRIORITY, "the flags of a task");
  *flags = before;
}

void undead_premises_of_tasks(undead_premises *premises) {
  uintptr_t create = undead_premise_symbol_of(LIBRARY, "swift_task_create"), run = undead_premise_symbol_of(LIBRARY, "swift_job_run");
  if (!create) return;   // a program without concurrency
  probe.premises = premises;
  probe.alloc = undead_premise_symbol_of(LIBRARY, "swift_task_alloc");
  probe.dealloc = undead_premise_symbol_of(LIBRARY, "swift_task_dealloc");
  if (!undead_premise_found(premises, run && probe.alloc && probe.dealloc, "the functions that run tasks")) return;
  entry_record.function = (int32_t)((uintptr_t)entry - (uintptr_t)&entry_record);
  entry_record.context_bytes = CONTEXT_BYTES;
  undead_pair made = ((SWIFT_CALL undead_pair(*)(size_t, void *, void *, void *, void *))create)(0, NULL, NULL, &entry_record, NULL);
  probe.task = made.first;
  check_task(premises, made);
  check_flags(premises, made.first);
  ((SWIFT_CALL void (*)(uintptr_t, uintptr_t, uintptr_t))run)(made.first, 0, 0);
  probe.premises = NULL;
  probe.task = 0;
}
