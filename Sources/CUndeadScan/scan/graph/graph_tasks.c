// Tasks of a heap file: who their parents are, what they wait for, what they are called. Each is read from the task itself and from
// records in the memory of tasks. Nothing is taken from a record that does not refer back: where a runtime keeps them elsewhere, the
// answer is "not known". Labels of queues are read here, too.
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/graph/graph_walk.h"
#include "platform/system/clock.h"
#include <string.h>

enum { MOST_RECORDS = 64, MOST_NAME_BYTES = 64 };

static bool is_in_heap(const undead_graph_writer *writer, uintptr_t address, size_t bytes) {
  if (!address || address & 7) return false;
  uintptr_t block = undead_heap_may_hold(writer->heap, address) ? undead_heap_block(writer->heap, address) : 0;
  return block && address + bytes <= block + undead_heap_block_size(writer->heap, block);
}

// `like` is a task.
static bool is_task(const undead_graph_writer *writer, uintptr_t address, uintptr_t like) {
  return is_in_heap(writer, address, ABI_TASK_PARENT) && word_at(address) == word_at(like);
}

static bool has_bit(uintptr_t task, int bit) { return *(const uint32_t *)(task + ABI_TASK_FLAGS) >> bit & 1; }

static uint32_t add_text(undead_graph_tables *tables, const char *name, size_t length) {
  undead_graph *graph = tables->graph;
  uint64_t hash = undead_hash(name, length, 0);
  uint32_t known = undead_index_find(&tables->task_names, hash, length);
  if (known != UNDEAD_NO_INDEX) return known;
  uint32_t at = graph->task_name_bytes;
  if (at + length + 1 > UNDEAD_TASK_NAME_LIMIT || !undead_index_add(&tables->task_names, hash, length, at)) return 0;
  memcpy(graph->task_names + at, name, length + 1);
  graph->task_name_bytes += (uint32_t)length + 1;
  return at;
}

static uint32_t add_name(undead_graph_writer *writer, uintptr_t text) {
  char name[MOST_NAME_BYTES + 1] = {0};
  for (uint32_t i = 0; i < MOST_NAME_BYTES; i++) {
    uintptr_t word = (text + i) & ~(uintptr_t)7;
    if (!is_in_heap(writer, word, 8) || !(name[i] = *(const char *)(text + i))) break;
  }
  // Half of a character is none.
  size_t length = strlen(name), whole = length;
  while (whole && ((uint8_t)name[whole - 1] & 0xC0) == 0x80) whole--;
  if (length == MOST_NAME_BYTES && whole && (uint8_t)name[whole - 1] >= 0xC0) name[length = whole - 1] = 0;
  undead_graph_tables *tables = &writer->tables;
  if (!length || !undead_graph_tables_lock(tables)) return 0;
  uint32_t at = add_text(tables->all ? tables->all : tables, name, length);
  undead_graph_tables_unlock(tables);
  return at;
}

static void note_dependency(const undead_graph_writer *writer, undead_graph_task *task) {
  uintptr_t record = word_at(task->address + ABI_TASK_DEPENDENCY);
  if (!is_in_heap(writer, record, ABI_DEPENDENCY_TASK + 8) || word_at(record + ABI_DEPENDENCY_TASK) != task->address) return;
  uint32_t kind = *(const uint32_t *)(record + ABI_DEPENDENCY_KIND);
  if (word_at(record) & 0xFF || kind < UNDEAD_TASK_ON_TASK || kind > UNDEAD_TASK_ON_EXECUTOR) return;
  task->dependency = (uint8_t)kind;
  task->waits_for = word_at(record + ABI_RECORD_CONTENTS);
}

static void note_parent(const undead_graph_writer *writer, undead_graph_task *task) {
  if (!has_bit(task->address, ABI_TASK_IS_CHILD_BIT) || !is_in_heap(writer, task->address, ABI_TASK_GROUP + 8)) return;
  uintptr_t parent = word_at(task->address + ABI_TASK_PARENT), group = word_at(task->address + ABI_TASK_GROUP);
  if (!is_task(writer, parent, task->address)) return;
  task->parent = parent;
  if (has_bit(task->address, ABI_TASK_IS_ASYNC_LET_BIT)) task->flags |= UNDEAD_TASK_ASYNC_LET;
  if (!has_bit(task->address, ABI_TASK_IS_GROUP_CHILD_BIT)) return;
  bool known = is_in_heap(writer, group, ABI_GROUP_RECORD + 8) && (word_at(group + ABI_GROUP_RECORD) & 0xFF) == ABI_RECORD_GROUP;
  if (known) task->group = group;
}

// The memory of a task is a block of its own, or begins behind it in the same.
static bool is_memory_of_task(const undead_graph_writer *writer, uintptr_t block) {
  if (word_at(block) == writer->bodies->stale->slab_isa) return writer->bodies->stale->slab_isa;
  const undead_layout *layout = undead_body_layout(writer->bodies, word_at(block));
  return layout && layout->kind == UNDEAD_KIND_TASK;
}

void undead_graph_note_inner(undead_graph_writer *writer, uintptr_t address, uintptr_t block, uint64_t from) {
  undead_graph *graph = writer->graph;
  if (address == block || address & 7 || graph->inner_word_count == UNDEAD_INNER_WORDS || !is_memory_of_task(writer, block)) return;
  const undead_layout *begins = undead_body_layout(writer->bodies, word_at(address));
  if (!begins || begins->kind != UNDEAD_KIND_TASK || !is_in_heap(writer, address, ABI_TASK_GROUP + 8)) return;
  if (!has_bit(address, ABI_TASK_IS_ASYNC_LET_BIT)) return;
  graph->inner_words[graph->inner_word_count++] = (undead_graph_inner_word){from, address};
}

static void note_task_at(undead_graph_writer *writer, uintptr_t address, uint32_t type, int depth);

static void note_children(undead_graph_writer *writer, uintptr_t task, uintptr_t child, int depth) {
  for (uint32_t i = 0; i < MOST_RECORDS && child; i++, child = word_at(child + ABI_TASK_NEXT_CHILD)) {
    bool known = is_task(writer, child, task) && is_in_heap(writer, child, ABI_TASK_GROUP + 8)
      && has_bit(child, ABI_TASK_IS_ASYNC_LET_BIT) && word_at(child + ABI_TASK_PARENT) == task;
    if (!known) return;
    // One with a block of its own is visited as such.
    if (undead_heap_starts(writer->heap, child)) continue;
    uint32_t type = undead_graph_type_of(&writer->tables, writer->bodies, child, ABI_TASK_GROUP + 8, UNDEAD_KIND_TASK);
    note_task_at(writer, child, type, depth + 1);
  }
}

static void note_records(undead_graph_writer *writer, undead_graph_task *task, int depth) {
  uintptr_t record = word_at(task->address + ABI_TASK_RECORDS);
  for (int i = 0; i < MOST_RECORDS && is_in_heap(writer, record, ABI_RECORD_CONTENTS + 8); i++) {
    uintptr_t contents = word_at(record + ABI_RECORD_CONTENTS);
    uint64_t kind = word_at(record) & 0xFF;
    if (kind == ABI_RECORD_CHILDREN) note_children(writer, task->address, contents, depth);
    if (kind == ABI_RECORD_CANCELLATION) task->flags |= UNDEAD_TASK_CANCEL_HANDLER;
    if (kind == ABI_RECORD_NAME) task->name = add_name(writer, contents);
    record = word_at(record + ABI_RECORD_NEXT);
  }
}

// Further slabs of its memory; the first one lies behind the task.
static void note_slabs(undead_graph_writer *writer, uintptr_t task) {
  enum { MOST_SLABS = 4096 };
  undead_graph *graph = writer->graph;
  uint32_t task_block = undead_rank_of(&writer->ranks, undead_heap_block(writer->heap, task));
  uintptr_t slab = word_at(task + ABI_TASK_FIRST_SLAB);
  for (int i = 0; i < MOST_SLABS && is_in_heap(writer, slab, ABI_SLAB_HEADER); i++) {
    if (graph->task_memory_count == UNDEAD_TASK_LIMIT) return;
    uintptr_t block = undead_heap_block(writer->heap, slab);
    if (block != task) {
      if (word_at(slab) != writer->bodies->stale->slab_isa) return;
      graph->task_memory[graph->task_memory_count++] =
        (undead_graph_task_memory){task, undead_rank_of(&writer->ranks, block), task_block};
    }
    slab = word_at(slab + ABI_SLAB_NEXT);
  }
}

static void note_task_at(undead_graph_writer *writer, uintptr_t address, uint32_t type, int depth) {
  enum { MOST_DEPTH = 16 };
  undead_graph *graph = writer->graph;
  if (depth == MOST_DEPTH || graph->task_count == UNDEAD_TASK_LIMIT || !is_in_heap(writer, address, ABI_TASK_PARENT)) return;
  undead_graph_task *task = &graph->tasks[graph->task_count++];
  uint32_t flags = *(const uint32_t *)(address + ABI_TASK_FLAGS);
  *task = (undead_graph_task){.address = address, .type = type, .id = *(const uint32_t *)(address + ABI_TASK_ID),
                              .priority = (uint8_t)(flags >> ABI_TASK_PRIORITY_SHIFT)};
  note_dependency(writer, task);
  note_parent(writer, task);
  note_records(writer, task, depth);
  if (writer->bodies->stale->slab_isa) note_slabs(writer, address);
}

// Times are those of a clock that counts from 1970 or, like that of undead_now, from the start of the machine; suspended time, which one of
// them leaves out, servers do not have.
void undead_graph_note_timer(undead_graph_writer *writer, uintptr_t block, size_t size) {
  const uint64_t years = 3600ull * 24 * 365 * 20 * 1000000000;
  undead_graph *graph = writer->graph;
  if (size < ABI_TIMER_INTERVAL + 8 || graph->task_count == UNDEAD_TASK_LIMIT) return;
  uintptr_t type = word_at(block);
  if (!type || (type != graph->timer_type && type != graph->after_type)) return;
  uint64_t target = word_at(block + ABI_TIMER_TARGET), now = undead_now();
  if (target >= INT64_MAX || target > now + years || !target) return;
  graph->tasks[graph->task_count++] = (undead_graph_task){
    .address = block, .waits_for = target > now ? target - now : 0, .type = UINT32_MAX, .flags = UNDEAD_TASK_TIMER};
}

void undead_graph_note_queue(undead_graph_writer *writer, uintptr_t block, size_t size, uint32_t rank) {
  const undead_bodies *bodies = writer->bodies;
  undead_graph *graph = writer->graph;
  if (!bodies->queue_label || size < bodies->queue_label + sizeof(uintptr_t) || graph->queue_count == UNDEAD_QUEUE_LIMIT) return;
  uintptr_t type = word_at(block);
  if (!type || (type != bodies->serial_queue && type != bodies->concurrent_queue)) return;
  uint32_t label = add_name(writer, word_at(block + bodies->queue_label));
  if (label) graph->queues[graph->queue_count++] = (undead_graph_queue){rank, label};
}

void undead_graph_note_task(undead_graph_writer *writer, uintptr_t task, uint32_t type) { note_task_at(writer, task, type, 0); }
