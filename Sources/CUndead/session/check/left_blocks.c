#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// Blocks that wait in queues of libdispatch. A continuation that libdispatch keeps for the next use still has the block that it had, so
// only those that a queue's list leads to count: queue -> first continuation -> next ... The program runs meanwhile: all words are read by
// the kernel, and a list whose first continuation is another one afterwards is read again. Global queues have no such list of their own,
// and the main queue goes on when the test ends: what waits there is under way.
#include "session/check/left_blocks.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "record/registry.h"
#include "runtime/abi.h"
#include "undead_assertions.h"
#include <unistd.h>

enum { MOST_ITEMS = 4096, MOST_TARGETS = 16, MOST_ATTEMPTS = 8 };

typedef struct {
  const undead_module *dispatch;
  uintptr_t serial, concurrent;   // the first words of queues
  undead_left_block_visitor visit;
  void *context;
} queue_search;

static bool read_queue_words(uintptr_t address, void *words, size_t size) { return undead_copy_memory(address, words, size); }

static bool is_in(const undead_module *module, uintptr_t address) { return address >= module->low && address < module->high; }

// One queue hands what it has to the next, up to a global one.
static uint32_t status_of(uintptr_t queue) {
  uint64_t state;
  uint32_t status = 0;
  for (int i = 0; i < MOST_TARGETS && queue && read_queue_words(queue + ABI_QUEUE_STATE, &state, sizeof state); i++) {
    if (state >> ABI_QUEUE_SUSPENDED_SHIFT) return UNDEAD_LEFT_SUSPENDED;
    uint32_t owner = state & ABI_QUEUE_OWNER;
    // What waits for the thread that asks has not had its turn.
    if (owner && owner != (uint32_t)gettid()) status = UNDEAD_LEFT_BUSY;
    if (!read_queue_words(queue + ABI_QUEUE_TARGET, &queue, sizeof queue)) break;
  }
  return status;
}

static uint32_t blocks_of(const queue_search *self, uintptr_t item, uintptr_t blocks[MOST_ITEMS]) {
  uint32_t count = 0;
  uintptr_t words[ABI_CONTINUATION_BYTES / 8];
  for (int i = 0; i < MOST_ITEMS && item && read_queue_words(item, words, sizeof words); i++) {
    bool called = words[0] < ABI_CONTINUATION_FLAGS && words[0] & ABI_CONTINUATION_ALLOCATED && words[0] & ABI_CONTINUATION_BLOCK
      && is_in(self->dispatch, words[ABI_CONTINUATION_FUNCTION / 8]);
    if (called) blocks[count++] = words[ABI_CONTINUATION_FUNCTION / 8 + 1];
    item = words[ABI_CONTINUATION_NEXT / 8];
  }
  return count;
}

static void look_into_queue(const queue_search *self, uintptr_t queue) {
  static uintptr_t blocks[MOST_ITEMS];
  uintptr_t first, again;
  for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    if (!read_queue_words(queue + ABI_QUEUE_ITEMS, &first, sizeof first) || !first) return;
    uint32_t count = blocks_of(self, first, blocks), status = status_of(queue);
    if (!read_queue_words(queue + ABI_QUEUE_ITEMS, &again, sizeof again)) return;
    if (again != first) continue;
    for (uint32_t i = 0; i < count; i++) self->visit(self->context, blocks[i], status);
    return;
  }
}

// Reading a word of each block would take too long: the backtrace of a queue says that libdispatch made it.
static bool look_at_queue(void *context, uintptr_t block, uint32_t *word) {
  const queue_search *self = context;
  uintptr_t frame, first;
  uint32_t backtrace = __atomic_load_n(word, __ATOMIC_ACQUIRE) & UNDEAD_WORD_BACKTRACE;
  if (!undead_backtrace_frames(backtrace, &frame, 1) || !is_in(self->dispatch, frame)) return true;
  if (read_queue_words(block, &first, sizeof first) && (first == self->serial || first == self->concurrent)) look_into_queue(self, block);
  return true;
}

void undead_left_blocks_each(const undead_module *dispatch, undead_left_block_visitor visit, void *context) {
  queue_search self = {.dispatch = dispatch, .visit = visit, .context = context};
  self.serial = undead_symbol_address(dispatch, "__OS_dispatch_queue_serial_vtable", NULL);
  self.concurrent = undead_symbol_address(dispatch, "__OS_dispatch_queue_concurrent_vtable", NULL);
  if (self.serial && self.concurrent) undead_registry_each(look_at_queue, &self);
}
#endif
