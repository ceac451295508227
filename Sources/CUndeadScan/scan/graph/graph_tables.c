#include "scan/graph/graph_tables.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/processor/processor.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "runtime/layout.h"
#include "unwind/backtrace.h"
#include "world/crew.h"
#include <string.h>

#define TYPE_LIMIT (1u << 18)
#define SHAPE_LIMIT (1u << 20)
#define PLACE_LIMIT (1u << 19)
#define ROOT_LIMIT (1u << 20)
#define SITE_WORDS 3u        // a backtrace takes at least so many words of the store
#define TASK_FRAMES 64u
#define NO_TYPE UINT32_MAX

enum { TABLE_COUNT = 16 };

typedef struct {
  void **memory;
  size_t bytes;
} table_memory;

static void list_tables(undead_graph *graph, table_memory tables[TABLE_COUNT]) {
  tables[0] = (table_memory){(void **)&graph->types, TYPE_LIMIT * sizeof *graph->types};
  tables[1] = (table_memory){(void **)&graph->shapes, SHAPE_LIMIT * sizeof *graph->shapes};
  tables[2] = (table_memory){(void **)&graph->places, PLACE_LIMIT * sizeof *graph->places};
  tables[3] = (table_memory){(void **)&graph->roots, ROOT_LIMIT * sizeof *graph->roots};
  tables[4] = (table_memory){(void **)&graph->sites, graph->site_limit * sizeof *graph->sites};
  tables[6] = (table_memory){(void **)&graph->areas, UNDEAD_AREA_LIMIT * sizeof *graph->areas};
  tables[5] = (table_memory){(void **)&graph->frames, UNDEAD_GRAPH_FRAMES * sizeof *graph->frames};
  tables[7] = (table_memory){(void **)&graph->slices, UNDEAD_SLICE_LIMIT * sizeof *graph->slices};
  tables[8] = (table_memory){(void **)&graph->holders, UNDEAD_HOLDER_LIMIT * sizeof *graph->holders};
  tables[9] = (table_memory){(void **)&graph->kept, UNDEAD_KEPT_LIMIT * sizeof *graph->kept};
  tables[10] = (table_memory){(void **)&graph->tasks, UNDEAD_TASK_LIMIT * sizeof *graph->tasks};
  tables[15] = (table_memory){(void **)&graph->task_memory, UNDEAD_TASK_LIMIT * sizeof *graph->task_memory};
  tables[11] = (table_memory){(void **)&graph->task_names, UNDEAD_TASK_NAME_LIMIT};
  tables[12] = (table_memory){(void **)&graph->stack_words, UNDEAD_STACK_WORDS * sizeof *graph->stack_words};
  tables[14] = (table_memory){(void **)&graph->queues, UNDEAD_QUEUE_LIMIT * sizeof *graph->queues};
  tables[13] = (table_memory){(void **)&graph->inner_words, UNDEAD_INNER_WORDS * sizeof *graph->inner_words};
}

undead_graph *undead_graph_open(int file, uint64_t start, bool shared) {
  table_memory tables[TABLE_COUNT];
  undead_graph *graph = shared ? undead_map_shared(sizeof *graph) : undead_map(sizeof *graph);
  if (!graph) return NULL;
  graph->file = file;
  graph->start = start;
  // Backtraces are added while the scan is prepared.
  graph->site_limit = undead_backtrace_count() / SITE_WORDS + (1u << 20);
  list_tables(graph, tables);
  for (int i = 0; i < TABLE_COUNT; i++)
    if (!(*tables[i].memory = shared ? undead_map_shared(tables[i].bytes) : undead_map(tables[i].bytes))) {
      undead_graph_close(graph);
      return NULL;
    }
  return graph;
}

void undead_graph_close(undead_graph *graph) {
  table_memory tables[TABLE_COUNT];
  list_tables(graph, tables);
  for (int i = 0; i < TABLE_COUNT; i++)
    if (*tables[i].memory) undead_unmap(*tables[i].memory, tables[i].bytes);
  undead_unmap(graph, sizeof *graph);
}

bool undead_graph_tables_open(undead_graph_tables *tables, undead_graph *graph) {
  *tables = (undead_graph_tables){.graph = graph};
  graph->type_count = graph->shape_count = graph->place_count = graph->root_count = graph->site_count = 0;
  graph->frame_count = graph->area_count = graph->slice_count = graph->stack_word_count = graph->holder_count = graph->task_count = 0;
  graph->inner_word_count = graph->queue_count = graph->task_memory_count = 0;
  graph->task_name_bytes = 1;
  // There are none where backtraces are off.
  tables->site_of_bytes = (undead_backtrace_count() + 1ull) * sizeof *tables->site_of;
  tables->site_of = undead_map(tables->site_of_bytes);
  return tables->site_of != NULL;
}

void undead_graph_tables_close(undead_graph_tables *tables) {
  undead_index_free(&tables->types);
  undead_index_free(&tables->shapes);
  undead_index_free(&tables->places);
  undead_index_free(&tables->roots);
  undead_index_free(&tables->task_names);
  if (tables->site_of && !tables->all) undead_unmap(tables->site_of, tables->site_of_bytes);
  tables->site_of = NULL;
}

undead_graph_tables undead_graph_tables_of_member(undead_graph_tables *all, undead_graph *graph) {
  return (undead_graph_tables){.graph = graph, .all = all, .site_of = all->site_of, .site_of_bytes = all->site_of_bytes};
}

bool undead_graph_tables_lock(undead_graph_tables *tables) {
  if (!tables->all) return true;
  if (undead_crew_takes(&tables->all->lock)) return true;
  tables->full = true;
  return false;
}

void undead_graph_tables_unlock(undead_graph_tables *tables) {
  if (!tables->all) return;
  tables->full |= tables->all->full;
  __atomic_store_n(&tables->all->lock, 0, __ATOMIC_RELEASE);
}

// A number that all gave, for the next time.
static uint32_t keep_number(undead_graph_tables *tables, undead_index_map *map, uint64_t first, uint64_t second, uint32_t number) {
  if (number != UINT32_MAX && !undead_index_add(map, first, second, number)) tables->full = true;
  return number;
}

// The next number of a table, noted under the key; UINT32_MAX if there is no room.
static uint32_t take_number(undead_graph_tables *tables, undead_index_map *map, uint64_t first, uint64_t second,
                            uint32_t *count, uint32_t limit) {
  if (*count == limit || !undead_index_add(map, first, second, *count)) {
    tables->full = true;
    return UINT32_MAX;
  }
  return (*count)++;
}

// Frames lie in blocks: asking the kernel for each of a million would take seconds.
typedef struct {
  const undead_heap *heap;
  undead_interval *last;   // the block of the frame before
} frame_reader;

static bool read_block(const void *context, uintptr_t address, uintptr_t words[2]) {
  const frame_reader *reader = context;
  undead_interval *last = reader->last;
  if (address - last->low >= last->high - last->low) {
    uintptr_t block = undead_heap_may_hold(reader->heap, address) ? undead_heap_block(reader->heap, address) : 0;
    if (!block) return undead_copy_memory(address, words, 2 * sizeof *words);
    *last = (undead_interval){block, block + undead_heap_block_size(reader->heap, block)};
  }
  if (address + 2 * sizeof *words > last->high) return undead_copy_memory(address, words, 2 * sizeof *words);
  memcpy(words, (const void *)address, 2 * sizeof *words);
  return true;
}

// That of an `async let` begins inside of a block.
static uint32_t frames_of_task(const undead_bodies *bodies, uintptr_t task, size_t size, uintptr_t frames[TASK_FRAMES]) {
  undead_interval last = {task, task + size};
  return undead_async_frames(task, read_block, &(frame_reader){bodies->heap, &last}, frames, TASK_FRAMES);
}

static uint32_t status_of_task(uintptr_t block) { return *(const uint32_t *)(block + ABI_TASK_STATUS) >> ABI_TASK_STATUS_SHIFT; }

// Types that share an isa: boxes of Core Foundation's objects and of errors say themselves what they are, and tasks are
// distinguished by what they do and where they wait.
static uint64_t key_of(undead_bodies *bodies, uintptr_t block, size_t size, undead_kind kind) {
  if (kind == UNDEAD_KIND_ERROR) return word_at(block + ABI_ERROR_TYPE);
  if (kind == UNDEAD_KIND_TASK) {
    uintptr_t frames[TASK_FRAMES];
    return undead_hash(frames, frames_of_task(bodies, block, size, frames) * sizeof *frames, status_of_task(block)) >> 8;
  }
  const undead_layout *layout = kind == UNDEAD_KIND_CLASS ? undead_body_layout(bodies, word_at(block)) : NULL;
  if (!layout || layout->category != UNDEAD_CATEGORY_CF || size < ABI_CF_INFO + 8) return 0;
  return word_at(block + ABI_CF_INFO) >> ABI_CF_TYPE_SHIFT & ABI_CF_TYPE_MASK;
}

// Objects of C++ and libdispatch begin with the address of something in an image, and so do slabs of task memory. The runtime's
// messages are worth a name, as they may be most of a heap.
static bool begins_with_type(undead_bodies *bodies, uintptr_t word) {
  if (word == bodies->stale->slab_isa) return word != 0;
  if (word == UNDEAD_MISUSE_MESSAGE) return true;
  if (word & 7 || word < 4096 || word >> UNDEAD_ADDRESS_BITS || undead_heap_may_hold(bodies->heap, word)) return false;
  return undead_module_of(word) != NULL && !undead_is_executable(word);
}

static void note_frames(undead_graph *graph, const undead_bodies *bodies, undead_graph_type *type) {
  if (UNDEAD_GRAPH_FRAMES - graph->frame_count < TASK_FRAMES) return;
  type->status = status_of_task(type->sample);
  type->first_frame = graph->frame_count;
  type->frame_count = frames_of_task(bodies, type->sample, type->sample_size, graph->frames + graph->frame_count);
  graph->frame_count += type->frame_count;
}

static uint32_t add_type(undead_graph_tables *tables, const undead_bodies *bodies, const undead_graph_type *type, uint64_t second) {
  undead_graph *graph = tables->graph;
  uint32_t number = take_number(tables, &tables->types, type->isa, second, &graph->type_count, TYPE_LIMIT);
  if (number == UINT32_MAX) return NO_TYPE;
  graph->types[number] = *type;
  if (type->kind == UNDEAD_KIND_TASK) note_frames(graph, bodies, &graph->types[number]);
  return number;
}

// What a dispatch source has on a descriptor or signal begins with links to others that wait for the same.
static bool is_linked_source(const undead_bodies *bodies, uintptr_t block, size_t size) {
  if (!bodies->source_of_reads || size < ABI_UNOTE_LINKAGE_BYTES + ABI_SOURCE_HANDLERS) return false;
  uintptr_t type = word_at(block + ABI_UNOTE_LINKAGE_BYTES);
  return type && (type == bodies->source_of_reads || type == bodies->source_of_writes || type == bodies->source_of_signals);
}

static uintptr_t type_word(const undead_bodies *bodies, uintptr_t block, size_t size, undead_kind kind) {
  if (size < sizeof(uintptr_t) || kind == UNDEAD_KIND_SIDE_TABLE) return 0;
  return word_at(kind == UNDEAD_KIND_OTHER && is_linked_source(bodies, block, size) ? block + ABI_UNOTE_LINKAGE_BYTES : block);
}

uint32_t undead_graph_type_of(undead_graph_tables *tables, undead_bodies *bodies, uintptr_t block, size_t size,
                              undead_kind kind) {
  uintptr_t isa = type_word(bodies, block, size, kind);
  uint64_t second = key_of(bodies, block, size, kind) << 8 | kind;
  uint32_t known = undead_index_find(&tables->types, isa, second);
  if (known != UNDEAD_NO_INDEX) return known;
  if (kind == UNDEAD_KIND_OTHER && !begins_with_type(bodies, isa)) return NO_TYPE;
  undead_graph_type type = {.isa = isa, .key = second >> 8, .sample = block, .sample_size = size, .kind = kind};
  if (!tables->all) return add_type(tables, bodies, &type, second);
  if (!undead_graph_tables_lock(tables)) return NO_TYPE;
  uint32_t number = undead_index_find(&tables->all->types, isa, second);
  if (number == UNDEAD_NO_INDEX) number = add_type(tables->all, bodies, &type, second);
  undead_graph_tables_unlock(tables);
  return keep_number(tables, &tables->types, isa, second, number);
}

uint32_t undead_graph_shape_of(undead_graph_tables *tables, undead_graph_shape shape) {
  uint64_t first = (uint64_t)shape.type << 32 | shape.flags;
  uint32_t known = undead_index_find(&tables->shapes, first, shape.size);
  if (known != UNDEAD_NO_INDEX) return known;
  if (tables->all) {
    if (!undead_graph_tables_lock(tables)) return 0;
    uint32_t given = undead_graph_shape_of(tables->all, shape);
    undead_graph_tables_unlock(tables);
    return keep_number(tables, &tables->shapes, first, shape.size, given);
  }
  uint32_t number =
    take_number(tables, &tables->shapes, first, shape.size, &tables->graph->shape_count, SHAPE_LIMIT);
  if (number == UINT32_MAX) return 0;
  tables->graph->shapes[number] = shape;
  return number;
}

static uint64_t first_key(const undead_graph_place *place) { return (uint64_t)place->type << 32 | place->offset; }
static uint64_t second_key(const undead_graph_place *place) {
  return place->function << 16 | (uint64_t)place->strength << 8 | place->flags;
}

uint32_t undead_graph_place_known(const undead_graph_tables *tables, const undead_graph_place *place) {
  return undead_index_find(&tables->places, first_key(place), second_key(place));
}

uint32_t undead_graph_place_of(undead_graph_tables *tables, undead_graph_place place) {
  uint32_t known = undead_graph_place_known(tables, &place);
  if (known != UNDEAD_NO_INDEX) return known;
  if (tables->all) {
    if (!undead_graph_tables_lock(tables)) return 0;
    uint32_t given = undead_graph_place_of(tables->all, place);
    undead_graph_tables_unlock(tables);
    return keep_number(tables, &tables->places, first_key(&place), second_key(&place), given);
  }
  uint32_t number = take_number(tables, &tables->places, first_key(&place), second_key(&place),
                                &tables->graph->place_count, PLACE_LIMIT);
  if (number == UINT32_MAX) return 0;
  tables->graph->places[number] = place;
  return number;
}

uint32_t undead_graph_root_of(undead_graph_tables *tables, undead_graph_root root) {
  uint64_t second = (uint64_t)root.kind << 40 | (uint64_t)root.flags << 32 | root.thread;
  uint64_t first = root.item == UINT32_MAX ? root.address : root.item;
  uint32_t known = undead_index_find(&tables->roots, first, second);
  if (known != UNDEAD_NO_INDEX) return known;
  uint32_t number = take_number(tables, &tables->roots, first, second, &tables->graph->root_count, ROOT_LIMIT);
  if (number == UINT32_MAX) return 0;
  tables->graph->roots[number] = root;
  return number;
}

static uint32_t add_site(undead_graph_tables *tables, uint32_t backtrace) {
  undead_graph *graph = tables->graph;
  if (tables->site_of[backtrace]) return tables->site_of[backtrace];
  if (graph->site_count == graph->site_limit) {
    tables->full = true;
    return 0;
  }
  graph->sites[graph->site_count++] = backtrace;
  __atomic_store_n(&tables->site_of[backtrace], graph->site_count, __ATOMIC_RELAXED);
  return graph->site_count;
}

uint32_t undead_graph_site_of(undead_graph_tables *tables, uint32_t backtrace) {
  if (!backtrace || (backtrace + 1ull) * sizeof *tables->site_of > tables->site_of_bytes) return 0;
  uint32_t known = __atomic_load_n(&tables->site_of[backtrace], __ATOMIC_RELAXED);
  if (known || !undead_graph_tables_lock(tables)) return known;
  known = add_site(tables->all ? tables->all : tables, backtrace);
  undead_graph_tables_unlock(tables);
  return known;
}
