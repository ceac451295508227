#include "scan/suspects/suspect_graph.h"
#include "platform/memory/memory.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/blocks/address_index.h"
#include "scan/bodies/references.h"
#include "world/images.h"
#include <assert.h>

#define MOST_MEMBERS 256u   // of a cycle, to be listed with their edges
#define MOST_HANDLERS 1024u // work items to be called later that the program has, too

#define NAMES_ONLY (1u << 31)   // of an edge: a weak or unowned field for what fires or waits; it keeps nothing

enum { FLAG_SOURCE = 1, FLAG_OBJECT = 2, FLAG_SEEN = 4, FLAG_PASSIVE = 8, FLAG_ON_STACK = 16, FLAG_TOKEN = 32 };

// The graph of what only the first pass reached, without the framework's own edges.
//
// A field closes a cycle even if it is weak: the owner of a timer that the run loop keeps has a field for it all the same. Such
// an edge keeps nothing, so it does not spread labels. Frames of a suspended task are edges where counts say that they own.
typedef struct {
  undead_suspects *suspects;
  const undead_suspect_owners *owners;
  const undead_heap *heap;
  uintptr_t *address;      // ascending
  uint8_t *flags;
  uint32_t count;
  undead_address_index index;
  uint32_t *first, *edges; // edges of node i: first[i] .. first[i + 1]
  uint32_t edge_count;
  uint64_t edge_capacity;
  bool full;               // no memory for edges
  uint32_t *order, *low, *component, *stack, *path, *cursor;   // Tarjan's algorithm
  uint32_t component_count;
  uint32_t *size, *members_of;   // of each component: size; its nodes sorted by component
  uint32_t *label;               // two for each node: components whose source reaches it, 0 if none
  char *memory;
  size_t bytes, used;
} suspect_graph;

static bool count_held(void *context, uintptr_t block, uint32_t *word) {
  suspect_graph *graph = context;
  (void)block;
  graph->count += (*word & UNDEAD_WORD_MARK) && !(*word & UNDEAD_WORD_MARK_AGAIN);
  return true;
}

static bool list_held(void *context, uintptr_t block, uint32_t *word) {
  suspect_graph *graph = context;
  if ((*word & UNDEAD_WORD_MARK) && !(*word & UNDEAD_WORD_MARK_AGAIN)) graph->address[graph->count++] = block;
  return true;
}

static void *take_memory(suspect_graph *graph, size_t bytes) {
  void *memory = graph->memory + graph->used;
  graph->used += (bytes + 15) & ~(size_t)15;
  assert(graph->used <= graph->bytes);
  return memory;
}

static bool open_nodes(suspect_graph *graph) {
  undead_heap_each(graph->heap, count_held, graph);
  size_t nodes = graph->count + 2u;
  graph->bytes = nodes * (sizeof(uintptr_t) + 1 + 12 * sizeof(uint32_t)) + 512;
  graph->memory = undead_map(graph->bytes);
  if (!graph->memory) return false;
  graph->address = take_memory(graph, nodes * sizeof(uintptr_t));
  graph->flags = take_memory(graph, nodes);
  uint32_t **arrays[] = {&graph->first, &graph->order, &graph->low,  &graph->component,  &graph->stack,
                         &graph->path,  &graph->cursor, &graph->size, &graph->members_of};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = take_memory(graph, nodes * sizeof(uint32_t));
  graph->label = take_memory(graph, nodes * 2 * sizeof(uint32_t));
  graph->count = 0;
  undead_heap_each(graph->heap, list_held, graph);
  return undead_address_index_open(&graph->index, graph->address, sizeof(uintptr_t), graph->count);
}

static void classify(suspect_graph *graph, uint32_t node) {
  undead_suspects *suspects = graph->suspects;
  uintptr_t block = graph->address[node];
  const undead_layout *layout = undead_body_layout(suspects->bodies, word_at(block));
  uint8_t flags = 0;
  if (*undead_heap_word(graph->heap, block) & UNDEAD_WORD_SPECIAL) flags |= FLAG_SOURCE;
  if (!layout || layout->kind == UNDEAD_KIND_OTHER) {
    // Of a source's two blocks the one that the program refers to stands for it.
    if (flags & FLAG_SOURCE && (word_at(block) == suspects->source_vtable || undead_is_source_of_stream(suspects, block)))
      flags &= (uint8_t)~FLAG_SOURCE;
  } else if (layout->kind == UNDEAD_KIND_CLASS) {
    if (layout->user_type && !(flags & FLAG_SOURCE)) flags |= FLAG_OBJECT;
    if (layout->category == UNDEAD_CATEGORY_OBSERVER_TOKEN) flags |= FLAG_TOKEN;
  } else if (layout->kind == UNDEAD_KIND_CONTEXT && undead_in(undead_image_facts.concurrency, layout->isa)) {
    flags |= FLAG_PASSIVE;
  }
  graph->flags[node] = flags;
}

// Of an edge only: `to` may have NAMES_ONLY.
typedef void (*edge_visitor)(suspect_graph *graph, uint32_t from, uint32_t to);

typedef struct {
  suspect_graph *graph;
  uint32_t from;
  uintptr_t block;
  edge_visitor visit;
} edge_source;

// What an object of the program names by a weak or unowned field: only what fires, and what wraps it, counts.
static void visit_name(const edge_source *source, const undead_reference *reference) {
  suspect_graph *graph = source->graph;
  if (!(graph->flags[source->from] & FLAG_OBJECT)) return;
  uintptr_t target = undead_heap_block(graph->heap, reference->address);
  uintptr_t owner = target ? undead_side_table_owner(graph->heap, target, undead_block_size(target)) : 0;
  uint32_t to = undead_address_index_of(&graph->index, owner ? owner : target);
  if (to == UINT32_MAX || to == source->from || graph->flags[to] & FLAG_OBJECT) return;
  source->visit(graph, source->from, to | NAMES_ONLY);
}

static void visit_reference(void *context, const undead_reference *reference) {
  const edge_source *source = context;
  suspect_graph *graph = source->graph;
  if (reference->evidence == UNDEAD_EVIDENCE_NONE) visit_name(source, reference);
  if (reference->evidence == UNDEAD_EVIDENCE_NUMBER || reference->evidence == UNDEAD_EVIDENCE_NONE) return;
  if (undead_is_idle_word(graph->suspects, reference)) return;
  uintptr_t target = undead_heap_block(graph->heap, reference->address);
  if (!target || target == source->block) return;
  uint32_t to = undead_address_index_of(&graph->index, target);
  if (to == UINT32_MAX) return;
  if (reference->evidence == UNDEAD_EVIDENCE_PERHAPS && !undead_is_parent_memory(graph->suspects, source->block, target)
      && undead_suspect_is_owned(graph->owners, target)) return;
  bool special = *undead_heap_word(graph->heap, target) & UNDEAD_WORD_SPECIAL;
  if (special && undead_is_framework_edge(graph->suspects, source->block, target)) return;
  source->visit(graph, source->from, to);
}

static void each_edge(suspect_graph *graph, uint32_t from, edge_visitor visit) {
  undead_suspects *suspects = graph->suspects;
  uintptr_t block = graph->address[from];
  undead_body body;
  undead_body_of(suspects->bodies, block, undead_block_size(block), &body);
  edge_source source = {graph, from, block, visit};
  undead_visit_body(graph->heap, block, &body, true, visit_reference, &source);
  if (!(graph->flags[from] & FLAG_TOKEN)) return;
  for (uint32_t i = 0; i < suspects->link_count; i++) {
    if (suspects->links[i].token != block) continue;
    uint32_t to = undead_address_index_of(&graph->index, suspects->links[i].closure);
    if (to != UINT32_MAX) visit(graph, from, to);
  }
}

static void list_edge(suspect_graph *graph, uint32_t from, uint32_t to) {
  (void)from;
  bool has_room = graph->edge_count < graph->edge_capacity
    || (graph->edge_capacity <= UINT32_MAX / 2 && undead_grow(graph->edges, graph->edge_capacity, 0));
  if (has_room) graph->edges[graph->edge_count++] = to;
  else graph->full = true;
}

// To read all objects is most of the work: they are read once, not counted first.
static bool open_edges(suspect_graph *graph) {
  graph->edge_capacity = graph->count * 2ull + 1024;
  graph->edges = undead_map(graph->edge_capacity * sizeof *graph->edges);
  if (!graph->edges) return false;
  for (uint32_t i = 0; i < graph->count && !graph->full; i++) {
    graph->first[i] = graph->edge_count;
    each_edge(graph, i, list_edge);
  }
  graph->first[graph->count] = graph->edge_count;
  return !graph->full;
}

// NotificationCenter's token holds only the key of its registration.
typedef struct {
  suspect_graph *graph;
  uint32_t max_links;
  uintptr_t token;
  uint64_t key;
} link_search;

static void link_registration(void *context, uintptr_t closure, uint64_t key) {
  link_search *search = context;
  undead_suspects *suspects = search->graph->suspects;
  if (key != search->key || suspects->link_count == search->max_links) return;
  suspects->links[suspects->link_count++] = (undead_observer_link){search->token, closure};
}

static void link_handler(void *context, uintptr_t block) {
  link_search *search = context;
  undead_suspects *suspects = search->graph->suspects;
  uint32_t node = undead_address_index_of(&search->graph->index, block);
  if (node == UINT32_MAX || suspects->link_count == search->max_links) return;
  search->graph->flags[node] |= FLAG_TOKEN;
  suspects->links[suspects->link_count++] = (undead_observer_link){block, search->token};
}

// Who has a work item that is to be called later has a field for what calls it.
static void link_handlers(suspect_graph *graph, uint32_t max_links) {
  for (uint32_t i = 0; i < graph->count; i++) {
    uintptr_t refs = graph->flags[i] & FLAG_SOURCE ? undead_source_refs_in(graph->suspects, graph->address[i]) : 0;
    link_search search = {graph, max_links, graph->address[i], 0};
    if (refs) undead_each_handler_block(graph->suspects, refs, link_handler, &search);
  }
}

static void link_channel(void *context, const undead_reference *reference) {
  link_search *search = context;
  suspect_graph *graph = search->graph;
  undead_suspects *suspects = graph->suspects;
  uint32_t node = undead_address_index_of(&graph->index, undead_heap_block(graph->heap, reference->address));
  if (node == UINT32_MAX || suspects->link_count == search->max_links) return;
  if (word_at(graph->address[node]) != suspects->bodies->io_class || graph->flags[node] & FLAG_TOKEN) return;
  graph->flags[node] |= FLAG_TOKEN;
  suspects->links[suspects->link_count++] = (undead_observer_link){graph->address[node], search->token};
}

// Who has a channel ends what it reads and writes.
static void link_channels(suspect_graph *graph, uint32_t max_links) {
  for (uint32_t i = 0; i < graph->count; i++) {
    uintptr_t block = graph->address[i];
    if (!(graph->flags[i] & FLAG_SOURCE) || !undead_is_operation(graph->suspects, block)) continue;
    link_search search = {graph, max_links, block, 0};
    undead_body body;
    undead_body_of(graph->suspects->bodies, block, undead_block_size(block), &body);
    undead_visit_body(graph->heap, block, &body, false, link_channel, &search);
  }
}

static void link_tokens(suspect_graph *graph, uint32_t max_links) {
  undead_suspects *suspects = graph->suspects;
  enum { TOKEN_KEY = 16 };
  for (uint32_t i = 0; suspects->table_count && i < graph->count; i++) {
    if (!(graph->flags[i] & FLAG_TOKEN) || undead_block_size(graph->address[i]) < TOKEN_KEY + 8) continue;
    link_search search = {graph, max_links, graph->address[i], word_at(graph->address[i] + TOKEN_KEY)};
    for (uint32_t k = 0; k < suspects->table_count; k++)
      undead_each_registration(suspects, suspects->tables[k], link_registration, &search);
  }
}

static void close_component(suspect_graph *graph, uint32_t root, uint32_t *stacked) {
  uint32_t component = ++graph->component_count, node;
  do {
    node = graph->stack[--*stacked];
    graph->flags[node] &= (uint8_t)~FLAG_ON_STACK;
    graph->component[node] = component;
    graph->size[component]++;
  } while (node != root);
}

static void visit_node(suspect_graph *graph, uint32_t node, uint32_t depth, uint32_t *clock, uint32_t *stacked) {
  graph->path[depth] = node;
  graph->cursor[depth] = graph->first[node];
  graph->order[node] = graph->low[node] = ++*clock;
  graph->stack[(*stacked)++] = node;
  graph->flags[node] |= FLAG_ON_STACK;
}

// Tarjan's strongly connected components, without recursion.
static void find_components(suspect_graph *graph) {
  uint32_t clock = 0, stacked = 0;
  for (uint32_t start = 0; start < graph->count; start++) {
    if (graph->order[start]) continue;
    uint32_t depth = 0;
    visit_node(graph, start, 0, &clock, &stacked);
    for (;;) {
      uint32_t node = graph->path[depth];
      if (graph->cursor[depth] < graph->first[node + 1]) {
        uint32_t to = graph->edges[graph->cursor[depth]++] & ~NAMES_ONLY;
        if (!graph->order[to]) visit_node(graph, to, ++depth, &clock, &stacked);
        else if (graph->flags[to] & FLAG_ON_STACK && graph->order[to] < graph->low[node]) graph->low[node] = graph->order[to];
        continue;
      }
      if (graph->low[node] == graph->order[node]) close_component(graph, node, &stacked);
      if (depth-- == 0) break;
      uint32_t parent = graph->path[depth];
      if (graph->low[node] < graph->low[parent]) graph->low[parent] = graph->low[node];
    }
  }
}

static bool add_label(suspect_graph *graph, uint32_t node, uint32_t label) {
  uint32_t *labels = &graph->label[2 * (size_t)node];
  if (!label || labels[0] == label || labels[1] == label || labels[1]) return false;
  labels[labels[0] != 0] = label;
  return true;
}

// Gives each node the components of up to two sources that reach it: of two, one is not the node's own.
static bool spread_labels(suspect_graph *graph) {
  undead_worklist waiting = {0};
  for (uint32_t i = 0; i < graph->count; i++)
    if (graph->flags[i] & FLAG_SOURCE && add_label(graph, i, graph->component[i])) undead_worklist_push(&waiting, i + 1);
  for (uintptr_t next; (next = undead_worklist_pop(&waiting));) {
    uint32_t node = (uint32_t)next - 1;
    if (graph->flags[node] & FLAG_PASSIVE) continue;
    for (uint32_t k = graph->first[node]; k < graph->first[node + 1]; k++) {
      uint32_t to = graph->edges[k];
      if (to & NAMES_ONLY) continue;
      bool first = add_label(graph, to, graph->label[2 * (size_t)node]);
      bool second = add_label(graph, to, graph->label[2 * (size_t)node + 1]);
      if (first || second) undead_worklist_push(&waiting, to + 1);
    }
  }
  bool ok = !waiting.no_memory;
  undead_worklist_close(&waiting);
  return ok;
}

static uint32_t mechanism_kind(const suspect_graph *graph, uint32_t node) {
  const undead_layout *layout = undead_body_layout(graph->suspects->bodies, word_at(graph->address[node]));
  if (!layout || layout->kind == UNDEAD_KIND_OTHER) return UNDEAD_SUSPECT_SOURCE;
  if (layout->kind == UNDEAD_KIND_TASK) return UNDEAD_SUSPECT_TASK;
  return layout->kind == UNDEAD_KIND_CONTEXT ? UNDEAD_SUSPECT_OBSERVER : UNDEAD_SUSPECT_TIMER;
}

// Sorts the nodes by component: those of component c follow each other in `members_of`.
static void sort_by_component(suspect_graph *graph, uint32_t *start) {
  for (uint32_t c = 1, sum = 0; c <= graph->component_count; c++) {
    start[c] = sum;
    sum += graph->size[c];
  }
  for (uint32_t i = 0; i < graph->count; i++) graph->members_of[start[graph->component[i]]++] = i;
  for (uint32_t c = 1; c <= graph->component_count; c++) start[c] -= graph->size[c];
}

// Whether nothing but sources of this component leads to the node.
static bool is_of_component(const suspect_graph *graph, uint32_t node, uint32_t component) {
  const uint32_t *labels = &graph->label[2 * (size_t)node];
  return (!labels[0] || labels[0] == component) && (!labels[1] || labels[1] == component);
}

// Of a channel's descriptor and what is read from it, the latter has the handler.
static bool is_better(const suspect_graph *graph, uint32_t node, uint32_t mechanism) {
  if (mechanism == UINT32_MAX) return true;
  uint32_t kind = mechanism_kind(graph, node), known = mechanism_kind(graph, mechanism);
  if (kind != known) return kind < known;
  return undead_is_operation(graph->suspects, graph->address[node]) && !undead_is_operation(graph->suspects, graph->address[mechanism]);
}

// True if it is one that the program cannot end by itself: an owner has a field for it.
static bool report_component(suspect_graph *graph, uint32_t component, const uint32_t *nodes, uint32_t max_found) {
  undead_suspects *suspects = graph->suspects;
  uint32_t mechanism = UINT32_MAX;
  bool objects = false;
  for (uint32_t i = 0; i < graph->size[component]; i++) {
    uint8_t flags = graph->flags[nodes[i]];
    // Another source holds it too: when that one ends, so may this cycle.
    if (!is_of_component(graph, nodes[i], component)) return false;
    objects |= (flags & FLAG_OBJECT) != 0;
    if (flags & FLAG_SOURCE && is_better(graph, nodes[i], mechanism)) mechanism = nodes[i];
  }
  if (!objects || mechanism == UINT32_MAX) return false;
  for (uint32_t i = 0; i < graph->size[component]; i++) {
    if (graph->size[component] <= MOST_MEMBERS) undead_worklist_push(&suspects->members, graph->address[nodes[i]]);
    if (!(graph->flags[nodes[i]] & FLAG_OBJECT) || suspects->found_count == max_found) continue;
    suspects->found[suspects->found_count++] =
      (undead_found_suspect){graph->address[nodes[i]], graph->address[mechanism], mechanism_kind(graph, mechanism)};
  }
  return true;
}

// The first objects of the program that a source leads to, if no other one leads there. They have no field for it, and may
// live on purpose.
static bool report_alone(suspect_graph *graph, uint32_t source, undead_worklist *waiting, undead_worklist *seen) {
  undead_suspects *suspects = graph->suspects;
  uint32_t component = graph->component[source];
  undead_worklist_push(waiting, source + 1);
  for (uintptr_t next; (next = undead_worklist_pop(waiting));) {
    uint32_t node = (uint32_t)next - 1;
    if (graph->flags[node] & FLAG_SEEN) continue;
    graph->flags[node] |= FLAG_SEEN;
    undead_worklist_push(seen, node + 1);
    if (graph->flags[node] & FLAG_OBJECT) {
      if (!is_of_component(graph, node, component)) continue;
      if (suspects->alone_count == UNDEAD_MOST_ALONE) {
        suspects->alone_left_out++;
        continue;
      }
      suspects->alone[suspects->alone_count++] = (undead_found_suspect){
        graph->address[node], graph->address[source], mechanism_kind(graph, source) | UNDEAD_SUSPECT_ALONE};
      continue;
    }
    if (graph->flags[node] & FLAG_PASSIVE || (node != source && graph->flags[node] & FLAG_SOURCE)) continue;
    for (uint32_t k = graph->first[node]; k < graph->first[node + 1]; k++)
      if (!(graph->edges[k] & NAMES_ONLY)) undead_worklist_push(waiting, graph->edges[k] + 1);
  }
  for (uintptr_t next; (next = undead_worklist_pop(seen));) graph->flags[next - 1] &= (uint8_t)~FLAG_SEEN;
  return !waiting->no_memory && !seen->no_memory;
}

// A component that was reported has no members here: its size is 0.
static bool report_all_alone(suspect_graph *graph) {
  undead_worklist waiting = {0}, seen = {0};
  bool ok = true;
  for (uint32_t i = 0; ok && i < graph->count; i++)
    if (graph->flags[i] & FLAG_SOURCE && graph->size[graph->component[i]]) ok = report_alone(graph, i, &waiting, &seen);
  undead_worklist_close(&waiting);
  undead_worklist_close(&seen);
  return ok;
}

static void close_graph(suspect_graph *graph) {
  undead_address_index_close(&graph->index);
  if (graph->edges) undead_unmap(graph->edges, graph->edge_capacity * sizeof *graph->edges);
  if (graph->memory) undead_unmap(graph->memory, graph->bytes);
}

bool undead_suspect_graph_search(undead_suspects *suspects, const undead_suspect_owners *owners, uint32_t max_found,
                                 uint32_t max_links) {
  suspect_graph graph = {.suspects = suspects, .owners = owners, .heap = suspects->bodies->heap};
  bool ok = open_nodes(&graph);
  if (ok) {
    for (uint32_t i = 0; i < graph.count; i++) classify(&graph, i);
    link_tokens(&graph, max_links);
    link_handlers(&graph, max_links < MOST_HANDLERS ? max_links : MOST_HANDLERS);
    link_channels(&graph, max_links);
    ok = open_edges(&graph);
  }
  if (ok) {
    find_components(&graph);
    ok = spread_labels(&graph);
  }
  if (ok) {
    uint32_t *start = graph.order;   // no longer needed
    sort_by_component(&graph, start);
    for (uint32_t c = 1; c <= graph.component_count; c++)
      if (graph.size[c] > 1 && report_component(&graph, c, graph.members_of + start[c], max_found)) graph.size[c] = 0;
    ok = report_all_alone(&graph);
  }
  close_graph(&graph);
  return ok && !suspects->members.no_memory;
}
