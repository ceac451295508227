// Premises about libdispatch (queue_internal.h, source_internal.h, event_internal.h, shims/tsd.h). The known objects are sources
// that are never activated: no queue, no thread and no descriptor comes to know of them.
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/processor/processor.h"
#include "platform/system/system_calls.h"
#include "platform/processor/words.h"
#include "record/allocator.h"
#include "runtime/abi.h"
#include "scan/premises/premises_internal.h"
#include "scan/suspects/suspects.h"
#include "world/images.h"
#include "platform/system/text.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEAKS(holds, what) undead_premise(premises, UNDEAD_PREMISE_LEAKS, holds, what)
#define NAMES(holds, what) undead_premise(premises, UNDEAD_PREMISE_NAMES, holds, what)

typedef struct {
  uintptr_t create, set_handler, set_registered, cancel, of_data, of_reading, types_vtable, forked;
  uintptr_t new_queue, sync, release;
} dispatch_functions;

static bool find_functions(dispatch_functions *functions) {
  static const char *const names[] = {"dispatch_source_create", "dispatch_source_set_event_handler_f",
                                      "dispatch_source_set_registration_handler_f", "dispatch_source_cancel",
                                      "_dispatch_source_type_data_add", "_dispatch_source_type_read", "__OS_dispatch_source_vtable",
                                      "_dispatch_is_fork_of_multithreaded_parent", "dispatch_queue_create",
                                      "dispatch_sync_f", "dispatch_release"};
  uintptr_t *places = (uintptr_t *)functions;
  _Static_assert(sizeof(dispatch_functions) == sizeof names, "a place for each name");
  const undead_module *module = undead_module_of(undead_image_facts.dispatch_image.low);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!module || !(places[i] = undead_symbol_address(module, names[i], NULL))) return false;
  return true;
}

static uintptr_t create(const dispatch_functions *functions, uintptr_t type, uintptr_t handle) {
  return ((uintptr_t (*)(uintptr_t, uintptr_t, uintptr_t, void *))functions->create)(type, handle, 0, NULL);
}

static void handle_by(uintptr_t setter, uintptr_t source, uintptr_t function) {
  ((void (*)(uintptr_t, uintptr_t))setter)(source, function);
}

static uintptr_t continuation_in(uintptr_t refs, uintptr_t function) {
  for (uintptr_t at = refs; at < refs + 80; at += 8) {
    uintptr_t word = word_at(at);
    if (word % 16 == 0 && undead_page_is_readable(word) && word_at(word + ABI_CONTINUATION_FUNCTION) == function) return word;
  }
  return 0;
}

static void handler(void *context) { (void)context; }

// What this thread's own data of libdispatch is, which it has made by now; 0 if it is not there.
static uintptr_t own_data(void) {
  uintptr_t vector = undead_thread_vector(undead_thread_pointer());
  uintptr_t data = word_at(vector + 16 * undead_image_facts.dispatch_tls_module) + undead_image_facts.dispatch_tls_offset;
  return u32_at(data + ABI_TSD_TID) == (uint32_t)syscall(SYS_gettid) ? data : 0;
}

// The thread has just made one continuation for the handler, and another one to take it away: both are in its cache.
static void check_cache(undead_premises *premises, uintptr_t continuation) {
  uintptr_t data = own_data();
  LEAKS(data != 0, "what libdispatch keeps of a thread");
  if (!data) return;
  uintptr_t newest = word_at(data + ABI_TSD_CACHE);
  bool known = newest && undead_page_is_readable(newest);
  uintptr_t next = known ? word_at(newest + ABI_CONTINUATION_NEXT) : 0;
  LEAKS(known && (newest == continuation || next == continuation), "the continuations that libdispatch keeps of a thread");
  LEAKS(word_at(data + ABI_TSD_QUEUE) == 0, "the queue of a thread without one");
  LEAKS(known && *(const int32_t *)(newest + ABI_CONTINUATION_COUNT) == 2 && next && undead_page_is_readable(next)
          && *(const int32_t *)(next + ABI_CONTINUATION_COUNT) == 1 && !word_at(next + ABI_CONTINUATION_NEXT),
        "the links between continuations of libdispatch");
}

// The continuation of a handler that is taken away comes to the thread's cache.
static void check_continuations(undead_premises *premises, const dispatch_functions *functions, uintptr_t source, uintptr_t refs) {
  handle_by(functions->set_handler, source, (uintptr_t)handler);
  uintptr_t continuation = continuation_in(refs, (uintptr_t)handler);
  LEAKS(continuation != 0, "the function of a continuation of libdispatch");
  if (!continuation) return;
  LEAKS(word_at(refs + ABI_SOURCE_HANDLERS) == continuation, "the handler of a dispatch source");
  LEAKS(word_at(continuation) < 4096 && word_at(continuation) & ABI_CONTINUATION_ALLOCATED,
        "the flags of a continuation of libdispatch");
  size_t size = malloc_usable_size((void *)continuation);
  LEAKS(undead_allocator_is_other() || (size >= ABI_CONTINUATION_BYTES && size < ABI_CONTINUATION_BYTES + 32),
        "the size of a continuation of libdispatch");
  handle_by(functions->set_handler, source, 0);
  check_cache(premises, continuation);
}

// The last of a source's handlers is that of its registration.
static void check_last_handler(undead_premises *premises, const dispatch_functions *functions, uintptr_t source, uintptr_t refs) {
  handle_by(functions->set_registered, source, (uintptr_t)handler);
  uintptr_t continuation = word_at(refs + ABI_SOURCE_HANDLERS + 8 * (ABI_SOURCE_HANDLER_COUNT - 1));
  LEAKS(continuation && undead_page_is_readable(continuation) && word_at(continuation + ABI_CONTINUATION_FUNCTION) == (uintptr_t)handler,
        "the handlers of a dispatch source");
  handle_by(functions->set_registered, source, 0);
}

typedef struct {
  uintptr_t queue;
  bool seen;
} queue_probe;

static bool has_label(uintptr_t queue, const char *label) {
  uint32_t place = undead_queue_label_place(undead_module_of(undead_image_facts.dispatch_image.low));
  uintptr_t text = place ? word_at(queue + place) : 0;
  return !place || (text && undead_page_is_readable(text) && !strcmp((const char *)text, label));
}

static void see_queue(void *context) {
  queue_probe *probe = context;
  uintptr_t data = own_data();
  probe->seen = data && word_at(data + ABI_TSD_QUEUE) == probe->queue;
}

// A queue of its own, on which nothing but this thread ever works.
static void check_queue(undead_premises *premises, const dispatch_functions *functions) {
  const char *label = "undead";
  queue_probe probe = {.queue = ((uintptr_t (*)(const char *, void *))functions->new_queue)(label, NULL)};
  if (!probe.queue) return;
  ((void (*)(uintptr_t, void *, void (*)(void *)))functions->sync)(probe.queue, &probe, see_queue);
  LEAKS(probe.seen, "the queue of a thread");
  NAMES(has_label(probe.queue, label), "the label of a dispatch queue");
  ((void (*)(uintptr_t))functions->release)(probe.queue);
}

static void check_source(undead_premises *premises, const dispatch_functions *functions, uintptr_t source) {
  uintptr_t refs = word_at(source + ABI_SOURCE_REFS);
  LEAKS(word_at(source) == functions->types_vtable, "what a dispatch source begins with");
  bool known = refs % 8 == 0 && undead_page_is_readable(refs) && word_at(refs + ABI_UNOTE_OWNER) == ~source;
  LEAKS(known, "the parts of a dispatch source");
  if (!known) return;
  check_continuations(premises, functions, source, refs);
  check_last_handler(premises, functions, source, refs);
  uint32_t before = u32_at(source + ABI_SOURCE_FLAGS);
  ((void (*)(uintptr_t))functions->cancel)(source);
  LEAKS((u32_at(source + ABI_SOURCE_FLAGS) & ~before) == ABI_SOURCE_CANCELLED, "the mark of a cancelled dispatch source");
}

// One that dispatch_block_create makes keeps what it runs.
static void check_block_of_dispatch(undead_premises *premises, const undead_module *module, uintptr_t block, uintptr_t release) {
  uintptr_t create_block = undead_symbol_address(module, "dispatch_block_create", NULL);
  uintptr_t made = create_block ? ((uintptr_t (*)(unsigned long, uintptr_t))create_block)(0, block) : 0;
  if (!made) return;
  const undead_dispatch_block_data *data = (const undead_dispatch_block_data *)(made + ABI_BLOCK_HEADER);
  LEAKS(data->magic == ABI_DISPATCH_BLOCK_MAGIC && (uintptr_t)data->block == block, "the block in a work item");
  ((void (*)(uintptr_t))release)(made);
}

// A block of C is copied, and copied again.
static void check_block(undead_premises *premises) {
  const undead_module *module = undead_module_of(undead_image_facts.dispatch_image.low);
  uintptr_t copy = 0, release = 0, stack = 0;
  for (size_t i = 0; i < undead_module_count() && !(copy && stack); i++) {
    const char *file = undead_file_name(undead_module_at(i)->path);
    if (undead_module_at(i) != module && !undead_starts_with(file, "libBlocksRuntime.")) continue;
    copy = undead_symbol_address(undead_module_at(i), "_Block_copy", NULL);
    release = undead_symbol_address(undead_module_at(i), "_Block_release", NULL);
    stack = undead_symbol_address(undead_module_at(i), "_NSConcreteStackBlock", NULL);
  }
  if (!copy || !release || !stack) return;
  static const struct { uintptr_t reserved, size; } description = {0, sizeof(undead_c_block)};
  undead_c_block block = {.isa = (const void *)stack, .descriptor = (void *)(uintptr_t)&description};
  uintptr_t first = ((uintptr_t (*)(const void *))copy)(&block);
  if (!first) return;
  uint32_t count = u32_at(first + ABI_BLOCK_FLAGS) & ABI_BLOCK_COUNT_MASK;
  uintptr_t second = ((uintptr_t (*)(uintptr_t))copy)(first);
  LEAKS(second == first && count == 2 && (u32_at(first + ABI_BLOCK_FLAGS) & ABI_BLOCK_COUNT_MASK) == 4, "the count of a block");
  check_block_of_dispatch(premises, module, first, release);
  ((void (*)(uintptr_t))release)(first);
  ((void (*)(uintptr_t))release)(first);
}

void undead_premises_of_dispatch(undead_premises *premises) {
  enum { DESCRIPTOR = 1 };
  dispatch_functions functions;
  if (!undead_image_facts.dispatch_image.low || !find_functions(&functions)) return;
  if (((bool (*)(void))functions.forked)()) return;   // of no use to anybody in such a process
  uintptr_t source = create(&functions, functions.of_data, 0), other = create(&functions, functions.of_reading, DESCRIPTOR);
  if (!source || !other) return;
  check_queue(premises, &functions);
  check_block(premises);
  check_source(premises, &functions, source);
  uintptr_t refs = word_at(other + ABI_SOURCE_REFS), block = refs - ABI_UNOTE_LINKAGE_BYTES;
  LEAKS(block % 16 == 0 && malloc_usable_size((void *)block) >= ABI_UNOTE_LINKAGE_BYTES + 64,
        "what stands before the parts of a dispatch source");
  NAMES(u32_at(refs + ABI_UNOTE_IDENT) == DESCRIPTOR, "the descriptor of a dispatch source");
  // Not released: that is for sources that were activated. Their memory is all that there is of them.
  if (premises->failed[UNDEAD_PREMISE_LEAKS]) return;
  free((void *)word_at(source + ABI_SOURCE_REFS));
  free((void *)block);
  free((void *)source);
  free((void *)other);
}
