// Searches breadth first, once for each class of references: what a better class does not reach is looked for with the next one,
// from all that was found before. So a path is as good as its worst reference, and among equal ones the shortest. Paths through
// words that no type describes change from check to check: they come last.
#include "scan/paths/paths.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/sort.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/bodies/references.h"
#include "scan/blocks/worklist.h"
#include "scan/counts/counts.h"
#include "scan/counts/tally.h"
#include "world/images.h"
#include <assert.h>

#define VISITED UNDEAD_WORD_MARK_AGAIN
#define TARGET UNDEAD_WORD_SPECIAL
// A target all of whose references are known: words of threads own none of them.
#define EXPLAINED UNDEAD_WORD_OWNED
// Parents of blocks that a root holds, of those that a run loop holds as an item, and of tasks.
#define NO_PARENT UINT32_MAX
#define ITEM_OF_LOOP (UINT32_MAX - 1)
#define WAITING_TASK (UINT32_MAX - 2)

// What leads on, the best first.
typedef enum {
  BY_TYPES,      // fields, elements and captures; from variables of images, and from run loops
  BY_FRAMES,     // frames of tasks; from tasks
  BY_RECORDS,    // memory without a type, to what is no object of the program: structures of libraries
  BY_LOCALS,     // thread-local variables
  BY_THREADS,    // stacks and registers, which also hold what is no longer used
  BY_WORDS,      // any word of memory without a type, also of what the program mapped, or had before recording
  BY_NUMBERS,    // what may be a number, or stale
} path_class;

// A visited block and how it was reached.
typedef struct {
  uintptr_t block;
  uint32_t parent;     // index of an entry, or one of those above
  uint32_t place;      // offset in the parent, or index of the root or item
} path_entry;

typedef struct {
  undead_pathfinder *finder;
  undead_storage *storage;
  undead_bodies *bodies;
  const undead_heap *heap;
  const undead_roots *roots;
  const undead_scan_options *options;
  path_entry *entries;
  uint8_t *later;      // of each entry: the classes of references that were left for later
  uint64_t count, capacity, next;
  uint32_t missing;    // targets that were not reached yet
  undead_worklist tasks;
  path_class least, most;   // of the references to follow
  // Where the words come from that are looked at: an entry, or a root and its index.
  uint32_t parent, root;
  uintptr_t base;
  path_class root_class;
  const undead_body *body;
} path_search;

static uint32_t sort_distinct(uintptr_t *words, uint32_t count) {
  undead_sort_words(words, count);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (!kept || words[kept - 1] != words[i]) words[kept++] = words[i];
  return kept;
}

static size_t target_bytes(uint32_t count) { return (count + 1) * sizeof(uintptr_t); }

bool undead_paths_open(undead_pathfinder *finder, const undead_storage *storage, const uintptr_t *targets,
                       uint32_t count) {
  *finder = (undead_pathfinder){0};
  finder->targets = undead_map(target_bytes(count) * 2);
  finder->first_block = undead_map(storage->path_limit * sizeof *finder->first_block);
  finder->places = undead_map(storage->step_limit * sizeof *finder->places);
  if (!finder->targets || !finder->first_block || !finder->places) return false;
  finder->path_of = (uint32_t *)(finder->targets + count + 1);
  for (uint32_t i = 0; i < count; i++) finder->targets[i] = targets[i];
  finder->target_count = sort_distinct(finder->targets, count);
  for (uint32_t i = 0; i < finder->target_count; i++) finder->path_of[i] = UINT32_MAX;
  return true;
}

void undead_paths_close(undead_pathfinder *finder, const undead_storage *storage) {
  undead_worklist_close(&finder->outlived);
  undead_worklist_close(&finder->cycles);
  if (finder->first_block) undead_unmap(finder->first_block, storage->path_limit * sizeof *finder->first_block);
  if (finder->places) undead_unmap(finder->places, storage->step_limit * sizeof *finder->places);
  // The number given at first is not kept: `path_of` lies behind the targets and tells it.
  if (finder->targets)
    undead_unmap(finder->targets, (size_t)((uintptr_t *)finder->path_of - finder->targets) * sizeof(uintptr_t) * 2);
  *finder = (undead_pathfinder){0};
}

static uint32_t target_index(const undead_pathfinder *finder, uintptr_t block) {
  size_t place = undead_place_of_word(finder->targets, finder->target_count, block);
  return place < finder->target_count ? (uint32_t)place : UINT32_MAX;
}

uint32_t undead_path_to(const undead_pathfinder *finder, uintptr_t block) {
  uint32_t target = target_index(finder, block);
  return target == UINT32_MAX ? UINT32_MAX : finder->path_of[target];
}

typedef struct {
  const undead_heap *heap;
  uintptr_t block, at;   // the block that is looked for, and the first word that names it
} word_search;

static void find_word(void *context, const undead_reference *reference) {
  word_search *search = context;
  if (!search->at && undead_heap_block(search->heap, reference->address) == search->block) search->at = reference->at;
}

static uintptr_t root_word(const path_search *search, const path_entry *entry) {
  word_search word = {search->heap, entry->block, 0};
  undead_visit_root(search->heap, &search->roots->roots[entry->place], find_word, &word);
  return word.at;
}

static bool is_first(const path_entry *entry) { return entry->parent >= WAITING_TASK; }

static undead_path path_from(const path_search *search, const path_entry *first) {
  if (first->parent == ITEM_OF_LOOP) return (undead_path){.root_kind = UNDEAD_ROOT_RUN_LOOP, .item = first->place};
  if (first->parent == WAITING_TASK) return (undead_path){.root_kind = UNDEAD_ROOT_TASK, .item = UINT32_MAX};
  const undead_root *root = &search->roots->roots[first->place];
  bool in_register = root->kind == UNDEAD_ROOT_REGISTER;
  return (undead_path){.root_kind = root->kind,
                       .thread = (uint32_t)root->tid,
                       .root_address = in_register ? 0 : root_word(search, first) + root->shift,
                       .item = UINT32_MAX};
}

static void add_path(path_search *search, uint32_t target) {
  undead_scan_result *result = &search->storage->result;
  uint32_t length = 0;
  const path_entry *entry = &search->entries[search->count - 1];
  for (; !is_first(entry); entry = &search->entries[entry->parent]) length++;
  if (result->path_count == search->storage->path_limit || length > search->storage->step_limit - result->step_count)
    return;
  uint32_t path = result->path_count++;
  result->paths[path] = path_from(search, entry);
  result->paths[path].first_step = result->step_count;
  result->paths[path].step_count = length;
  result->paths[path].end_node = target;
  result->paths[path].doubtful = search->most == BY_NUMBERS;
  search->finder->first_block[path] = entry->block;
  search->finder->path_of[target] = path;
  undead_collect_node(search->storage, search->bodies, entry->block, UNDEAD_STATE_LIVE);
  result->step_count += length;
  entry = &search->entries[search->count - 1];
  for (uint32_t step = result->step_count; !is_first(entry); entry = &search->entries[entry->parent]) {
    search->finder->places[--step] = (undead_step_place){search->entries[entry->parent].block, entry->place};
    undead_collect_node(search->storage, search->bodies, entry->block, UNDEAD_STATE_LIVE);
  }
}

static void reach_block(path_search *search, uintptr_t block, uint32_t parent, uint32_t place) {
  uint32_t *registered = undead_heap_word(search->heap, block);
  if (*registered & VISITED || search->count == search->capacity) return;
  *registered |= VISITED;
  search->entries[search->count++] = (path_entry){block, parent, place};
  if (!(*registered & TARGET)) return;
  uint32_t target = target_index(search->finder, block);
  if (target == UINT32_MAX) return;
  search->missing--;
  add_path(search, target);
}

static bool is_body_async_memory(const path_search *search, const undead_body *body) {
  if (body->layout) return body->layout->kind == UNDEAD_KIND_TASK;
  uintptr_t slab = search->bodies->stale->slab_isa;
  return slab && word_at(body->block) == slab;
}

// An object of the program, or what it has: no library keeps it among its records.
static bool is_of_program(const path_search *search, uintptr_t block) {
  const undead_layout *layout = undead_body_layout(search->bodies, word_at(block));
  if (!layout || layout->kind == UNDEAD_KIND_OTHER || layout->kind == UNDEAD_KIND_TASK || layout->kind == UNDEAD_KIND_JOB) return false;
  return layout->kind != UNDEAD_KIND_CLASS || layout->user_type || layout->storage;
}

static path_class class_of(const path_search *search, const undead_reference *reference, uintptr_t block) {
  const undead_body *body = search->body;
  if (search->parent >= WAITING_TASK) {
    // Libraries of the runtime have what it resumes, and do not own it.
    bool resumes = search->root_class == BY_TYPES && undead_is_dispatch_data(reference->at);
    return resumes ? BY_RECORDS : search->root_class;
  }
  bool weak = undead_is_weak_evidence(reference->evidence);
  if (is_body_async_memory(search, body) && (weak || !body->layout)) return BY_FRAMES;
  if (weak) return BY_NUMBERS;
  if (body->layout || undead_is_closure_of_c(search->bodies, body->block)) return BY_TYPES;
  return is_of_program(search, block) ? BY_WORDS : BY_RECORDS;
}

static void reach_reference(void *context, const undead_reference *reference) {
  path_search *search = context;
  uintptr_t block = undead_heap_block(search->heap, reference->address), place = reference->at - search->base;
  // Only what is alive explains anything; a root is given by its index.
  if (!block) return;
  uint32_t word = *undead_heap_word(search->heap, block);
  if (!(word & UNDEAD_WORD_MARK) || word & VISITED) return;
  path_class by = class_of(search, reference, block);
  if (search->parent < WAITING_TASK) {
    if (place > UINT32_MAX) return;
    if (by > search->most) search->later[search->parent] |= (uint8_t)(1u << by);
  }
  if (by < search->least || by > search->most) return;
  if (by == BY_THREADS && word & EXPLAINED) return;
  reach_block(search, block, search->parent, search->parent < WAITING_TASK ? (uint32_t)place : search->root);
}

// What lies between recorded blocks, if recording began late: unknown blocks, and free memory with what it held before.
static bool is_gap(const path_search *search, const undead_root *root) {
  const undead_heap *heap = search->heap;
  return search->options->unknown_blocks && root->low - heap->low < heap->high - heap->low
    && undead_heap_page(heap, root->low);
}

static path_class class_of_root(const path_search *search, const undead_root *root) {
  if (root->weak) return BY_NUMBERS;
  switch (root->kind) {
  case UNDEAD_ROOT_THREAD_LOCAL: return BY_LOCALS;
  case UNDEAD_ROOT_STACK:
  case UNDEAD_ROOT_REGISTER: return BY_THREADS;
  default: return is_gap(search, root) || !undead_module_of(root->low + root->shift) ? BY_WORDS : BY_TYPES;
  }
}

static void reach_items(path_search *search) {
  for (uint32_t i = 0; i < search->options->loop_item_count; i++) {
    uintptr_t block = search->options->loop_items[i].object;
    if (undead_heap_starts(search->heap, block) && *undead_heap_word(search->heap, block) & UNDEAD_WORD_MARK)
      reach_block(search, block, ITEM_OF_LOOP, i);
  }
}

static void reach_roots(path_search *search) {
  search->parent = NO_PARENT;
  search->base = 0;
  for (uint32_t i = 0; i < search->roots->count; i++) {
    const undead_root *root = &search->roots->roots[i];
    search->root_class = class_of_root(search, root);
    // Of the variables of images some words are worth less than others.
    if (search->root_class > search->most || (search->root_class < search->least && search->root_class != BY_TYPES)) continue;
    search->root = i;
    undead_visit_root(search->heap, root, reach_reference, search);
  }
}

static void reach_from(path_search *search, uint32_t parent) {
  uintptr_t block = search->entries[parent].block;
  undead_body body;
  undead_body_of(search->bodies, block, undead_block_size(block), &body);
  search->parent = parent;
  search->base = block;
  search->body = &body;
  undead_walk_body(search->heap, block, &body, false, reach_reference, search);
}

typedef struct {
  uintptr_t number, block;
} numbered_task;

// A task that waits stays in memory until it has ended, whatever may resume it. The oldest first: servers come before what they serve.
static bool reach_tasks(path_search *search) {
  uint64_t count = undead_worklist_size(&search->tasks);
  size_t bytes = (count + 1) * sizeof(numbered_task);
  numbered_task *tasks = undead_map(bytes);
  if (!tasks) return false;
  for (uint64_t i = 0; i < count; i++) {
    tasks[i].block = undead_worklist_pop(&search->tasks);
    tasks[i].number = u32_at(tasks[i].block + ABI_TASK_ID);
  }
  undead_sort(tasks, count, sizeof *tasks);
  for (uint64_t i = 0; i < count && search->missing; i++) reach_block(search, tasks[i].block, WAITING_TASK, 0);
  undead_unmap(tasks, bytes);
  return true;
}

static bool search_class(path_search *search, path_class most) {
  uint64_t found = search->count;
  search->least = search->most = most;
  if (most == BY_TYPES) reach_items(search);
  if (most == BY_FRAMES && !reach_tasks(search)) return false;
  reach_roots(search);
  for (uint64_t i = 0; i < found && search->missing; i++)
    if (search->later[i] >> most & 1) reach_from(search, (uint32_t)i);
  search->least = BY_TYPES;
  while (search->next < search->count && search->missing) reach_from(search, (uint32_t)search->next++);
  return true;
}

// What is left, words of threads and of memory without a type name. Of what should be gone these may own nothing.
static bool set_outlived_apart(path_search *search, bool by_counts) {
  const undead_scan_options *options = search->options;
  size_t bytes = (options->watched_count + 1) * sizeof(uintptr_t);
  uintptr_t *objects = undead_map(bytes);
  if (!objects) return false;
  uint32_t count = 0;
  for (uint32_t i = 0; i < options->watched_count; i++) {
    uintptr_t object = options->watched[i].object;
    if (target_index(search->finder, object) == UINT32_MAX || *undead_heap_word(search->heap, object) & VISITED) continue;
    objects[count++] = object;
  }
  undead_worklist *found = &search->finder->outlived;
  bool ok = !count || undead_outlived_find(search->bodies, objects, count, VISITED, by_counts, found, &search->finder->cycles);
  undead_unmap(objects, bytes);
  return ok;
}

// Their paths say nothing.
static void leave_outlived(path_search *search) {
  undead_worklist kept = {0};
  for (uintptr_t block; (block = undead_worklist_pop(&search->finder->outlived));) {
    uint32_t *word = undead_heap_word(search->heap, block);
    search->missing -= (*word & TARGET) != 0;
    *word &= ~TARGET;
    undead_worklist_push(&kept, block);
  }
  undead_worklist_close(&search->finder->outlived);
  search->finder->outlived = kept;
}

static bool add_owned(void *context, uintptr_t block, uint32_t *word) {
  if (*word & UNDEAD_WORD_MARK) undead_tally_add(context, block);
  return true;
}

// So that a path from a thread comes by the owner that a local variable has, not by a stale word.
static bool mark_explained(path_search *search) {
  undead_tally tally;
  for (uint32_t i = 0; i < search->finder->target_count; i++) {
    uint32_t *word = undead_heap_word(search->heap, search->finder->targets[i]);
    if (!(*word & VISITED)) *word |= EXPLAINED;
  }
  bool ok = undead_tally_open(&tally, search->bodies, EXPLAINED, 0);
  if (ok && tally.count) undead_heap_each(search->heap, add_owned, &tally);
  for (uint32_t i = 0; ok && i < tally.count; i++)
    if (!undead_tally_is_counted(&tally, &tally.blocks[i]) || !undead_tally_explains(&tally, &tally.blocks[i]))
      *undead_heap_word(search->heap, tally.blocks[i].block) &= ~EXPLAINED;
  undead_tally_close(&tally);
  return ok;
}

static bool list_task(void *context, uintptr_t block, uint32_t *word) {
  path_search *search = context;
  if (!(*word & UNDEAD_WORD_SPECIAL) || !(*word & UNDEAD_WORD_MARK)) return true;
  const undead_layout *layout = undead_body_layout(search->bodies, word_at(block));
  if (layout && layout->kind == UNDEAD_KIND_TASK) undead_worklist_push(&search->tasks, block);
  return true;
}

bool undead_paths_find(undead_pathfinder *finder, undead_storage *storage, undead_bodies *bodies,
                       const undead_roots *roots, const undead_scan_options *options, uint64_t live) {
  path_search search = {.finder = finder, .storage = storage, .bodies = bodies, .heap = bodies->heap, .roots = roots,
                        .options = options, .capacity = live < WAITING_TASK ? live : WAITING_TASK,
                        .missing = finder->target_count};
  size_t entry_bytes = (search.capacity + 1) * sizeof *search.entries;
  search.entries = undead_map(entry_bytes);
  search.later = undead_map(search.capacity + 1);
  undead_heap_each(search.heap, list_task, &search);
  undead_heap_clear(search.heap, UNDEAD_WORD_SCAN_BITS & ~UNDEAD_WORD_MARK);
  for (uint32_t i = 0; i < finder->target_count; i++) *undead_heap_word(search.heap, finder->targets[i]) |= TARGET;
  bool ok = search.entries && search.later && !search.tasks.no_memory;
  for (path_class most = BY_TYPES; ok && most <= BY_NUMBERS && search.missing; most++) {
    if (most == BY_FRAMES || most == BY_LOCALS) {
      ok = set_outlived_apart(&search, most == BY_FRAMES);
      leave_outlived(&search);
    }
    if (most == BY_THREADS) ok = mark_explained(&search);
    ok = ok && search_class(&search, most);
  }
  undead_worklist_close(&search.tasks);
  if (search.later) undead_unmap(search.later, search.capacity + 1);
  if (search.entries) undead_unmap(search.entries, entry_bytes);
  return ok;
}

static uint32_t edge_at(const undead_scan_result *result, uint32_t node, uint32_t offset) {
  uint32_t low = 0, high = result->edge_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const undead_edge *edge = &result->edges[middle];
    if (edge->from < node || (edge->from == node && edge->offset < offset)) low = middle + 1;
    else high = middle;
  }
  bool found = low < result->edge_count && result->edges[low].from == node && result->edges[low].offset == offset;
  return found ? low : UINT32_MAX;
}

// A path with a node or edge that had no room in the lists is cut down to its end.
static void settle_path(const undead_pathfinder *finder, undead_scan_result *result, const undead_address_index *index,
                        uint32_t path) {
  undead_path *settled = &result->paths[path];
  uint32_t target = settled->end_node;
  settled->end_node = undead_address_index_of(index, finder->targets[target]);
  settled->first_node = undead_address_index_of(index, finder->first_block[path]);
  bool complete = settled->first_node != UINT32_MAX;
  for (uint32_t step = settled->first_step; step < settled->first_step + settled->step_count; step++) {
    uint32_t from = undead_address_index_of(index, finder->places[step].from);
    result->steps[step] = from == UINT32_MAX ? UINT32_MAX : edge_at(result, from, finder->places[step].offset);
    complete &= result->steps[step] != UINT32_MAX;
  }
  if (complete && settled->end_node != UINT32_MAX) return;
  settled->first_node = settled->end_node = settled->end_node == UINT32_MAX ? 0 : settled->end_node;
  for (uint32_t step = 0; step < settled->step_count; step++) result->steps[settled->first_step + step] = 0;
  settled->step_count = 0;
}

bool undead_paths_settle(const undead_pathfinder *finder, undead_storage *storage) {
  undead_address_index index;
  if (!undead_address_index_open(&index, storage->result.nodes, sizeof(undead_node), storage->result.node_count)) return false;
  for (uint32_t i = 0; i < storage->result.path_count; i++) settle_path(finder, &storage->result, &index, i);
  undead_address_index_close(&index);
  return true;
}
