#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// Premises about libdispatch (queue_internal.h, source_internal.h, event_internal.h, shims/tsd.h). The known objects are sources
// that are never activated: no queue, no thread and no descriptor comes to know of them.
#include "platform/maps.h"
#include "platform/memory.h"
#include "platform/processor.h"
#include "platform/system_calls.h"
#include "platform/words.h"
#include "runtime/abi.h"
#include "scan/premises_internal.h"
#include "world/images.h"
#include <malloc.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEAKS(holds, what) undead_premise(premises, UNDEAD_PREMISE_LEAKS, holds, what)

typedef struct {
  uintptr_t create, set_handler, cancel, of_data, of_reading, types_vtable, forked;
} dispatch_functions;

static bool find_functions(dispatch_functions *functions) {
  static const char *const names[] = {"dispatch_source_create", "dispatch_source_set_event_handler_f", "dispatch_source_cancel",
                                      "_dispatch_source_type_data_add", "_dispatch_source_type_read", "__OS_dispatch_source_vtable",
                                      "_dispatch_is_fork_of_multithreaded_parent"};
  uintptr_t *places = (uintptr_t *)functions;
  _Static_assert(sizeof(dispatch_functions) == sizeof names, "a place for each name");
  const undead_module *module = undead_module_of(undead_image_facts.dispatch_image.low);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!module || !(places[i] = undead_symbol_address(module, names[i], NULL))) return false;
  return true;
}

static uintptr_t create(const dispatch_functions *functions, uintptr_t type) {
  return ((uintptr_t (*)(uintptr_t, uintptr_t, uintptr_t, void *))functions->create)(type, 0, 0, NULL);
}

static void handle(const dispatch_functions *functions, uintptr_t source, uintptr_t function) {
  ((void (*)(uintptr_t, uintptr_t))functions->set_handler)(source, function);
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
  LEAKS(word_at(data + ABI_TSD_QUEUE) == 0, "the queue of a thread");
  LEAKS(known && *(const int32_t *)(newest + ABI_CONTINUATION_COUNT) == 2 && next && undead_page_is_readable(next)
          && *(const int32_t *)(next + ABI_CONTINUATION_COUNT) == 1 && !word_at(next + ABI_CONTINUATION_NEXT),
        "the links between continuations of libdispatch");
}

// The continuation of a handler that is taken away comes to the thread's cache.
static void check_continuations(undead_premises *premises, const dispatch_functions *functions, uintptr_t source, uintptr_t refs) {
  handle(functions, source, (uintptr_t)handler);
  uintptr_t continuation = continuation_in(refs, (uintptr_t)handler);
  LEAKS(continuation != 0, "the function of a continuation of libdispatch");
  if (!continuation) return;
  LEAKS(word_at(refs + ABI_SOURCE_HANDLERS) == continuation, "the handler of a dispatch source");
  uint64_t flags = word_at(continuation);
  LEAKS(!(flags & ~(uint64_t)ABI_CONTINUATION_FLAG_BITS) && flags & ABI_CONTINUATION_ALLOCATED
          && !(flags & ABI_CONTINUATION_OF_CHANNEL), "the flags of a continuation of libdispatch");
  handle(functions, source, 0);
  check_cache(premises, continuation);
}

static void check_source(undead_premises *premises, const dispatch_functions *functions, uintptr_t source) {
  uintptr_t refs = word_at(source + ABI_SOURCE_REFS);
  LEAKS(word_at(source) == functions->types_vtable, "what a dispatch source begins with");
  bool known = refs % 8 == 0 && undead_page_is_readable(refs) && word_at(refs + ABI_UNOTE_OWNER) == ~source;
  LEAKS(known, "the parts of a dispatch source");
  if (!known) return;
  check_continuations(premises, functions, source, refs);
  uint32_t before = u32_at(source + ABI_SOURCE_FLAGS);
  ((void (*)(uintptr_t))functions->cancel)(source);
  LEAKS((u32_at(source + ABI_SOURCE_FLAGS) & ~before) == ABI_SOURCE_CANCELLED, "the mark of a cancelled dispatch source");
}

void undead_premises_of_dispatch(undead_premises *premises) {
  dispatch_functions functions;
  if (!undead_image_facts.dispatch_image.low || !find_functions(&functions)) return;
  if (((bool (*)(void))functions.forked)()) return;   // of no use to anybody in such a process
  uintptr_t source = create(&functions, functions.of_data), other = create(&functions, functions.of_reading);
  if (!source || !other) return;
  check_source(premises, &functions, source);
  uintptr_t refs = word_at(other + ABI_SOURCE_REFS), block = refs - ABI_UNOTE_LINKAGE_BYTES;
  LEAKS(block % 16 == 0 && malloc_usable_size((void *)block) >= ABI_UNOTE_LINKAGE_BYTES + 64,
        "what stands before the parts of a dispatch source");
  // Not released: that is for sources that were activated. Their memory is all that there is of them.
  if (premises->failed[UNDEAD_PREMISE_LEAKS]) return;
  free((void *)word_at(source + ABI_SOURCE_REFS));
  free((void *)block);
  free((void *)source);
  free((void *)other);
}
#endif
