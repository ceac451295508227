// The words outside of the blocks that name one.
#include "platform/maps/maps.h"
#include "scan/graph/graph_tables.h"
#include "scan/graph/graph_walk.h"
#include "scan/bodies/references.h"
#include "world/images.h"

typedef struct {
  undead_graph_writer *writer;
  const undead_scan_options *options;
  const undead_root *root;
  uint32_t last_root;
  // The last mapping that was asked about: variables of images are distinguished, other memory is not.
  const undead_mapping *mapping;
  bool in_image;
  undead_stack_frames frames;
} root_walk;

static void write_root_edge(root_walk *self, undead_graph_root root, uintptr_t block) {
  undead_graph_writer *writer = self->writer;
  uint32_t number = undead_graph_root_of(&writer->tables, root);
  undead_stream_zigzag(&writer->stream, (int64_t)number - self->last_root);
  undead_stream_varint(&writer->stream, undead_rank_of(&writer->ranks, block));
  self->last_root = number;
  writer->graph->root_edges++;
}

static void note_slice(root_walk *self, const undead_reference *reference, uintptr_t block) {
  undead_graph *graph = self->writer->graph;
  const undead_layout *storage = reference->at % 8 == 0 ? undead_large_storage(self->writer->bodies, block) : NULL;
  if (!storage || graph->slice_count == UNDEAD_SLICE_LIMIT) return;
  undead_graph_slice *slice = &graph->slices[graph->slice_count++];
  slice->edge = graph->root_edges;
  // Where memory is looked at in its place, a root may begin with the reference.
  const undead_mapping *mapping = self->root->shift ? NULL : undead_mapping_of(reference->at);
  undead_slice_words(slice->words, storage, reference->at, mapping ? mapping->low : self->root->low,
                     mapping ? mapping->high : self->root->high);
}

static bool is_unrecorded(const root_walk *self, uintptr_t address) {
  const undead_heap *heap = self->writer->heap;
  return self->options->unknown_blocks && address - heap->low < heap->high - heap->low
    && undead_heap_page(heap, address);
}

// Variables have names; all the words of other memory count as one.
static uintptr_t place_of_word(root_walk *self, uintptr_t address) {
  if (!self->mapping || address < self->mapping->low || address >= self->mapping->high) {
    self->mapping = undead_mapping_of(address);
    self->in_image = undead_module_of(address) != NULL;
  }
  return self->in_image || !self->mapping ? address & ~(uintptr_t)7 : self->mapping->low;
}

static bool is_of_instrument(const root_walk *self, uintptr_t address) {
  uintptr_t kept = self->options->kept_at;
  return kept && address - kept < sizeof *self->options;
}

static void visit_root_reference(void *context, const undead_reference *reference) {
  root_walk *self = context;
  const undead_root *from = self->root;
  uintptr_t block = undead_heap_block(self->writer->heap, reference->address);
  if (!block) return;
  undead_graph_root root = {.kind = from->kind, .thread = (uint32_t)from->tid, .item = UINT32_MAX,
                            .flags = from->weak || from->doubtful ? UNDEAD_ROOT_DOUBTFUL : 0};
  if (from->kind == UNDEAD_ROOT_GLOBAL) {
    uintptr_t address = reference->at + from->shift;
    if (is_of_instrument(self, address)) return;
    root.address = place_of_word(self, address);
    if (!self->in_image) root.flags |= UNDEAD_ROOT_MAPPED;
    if (undead_is_dispatch_data(address)) root.flags |= UNDEAD_ROOT_OF_RUNTIME;
    if (is_unrecorded(self, address)) root.kind = UNDEAD_ROOT_UNRECORDED;
  } else if (from->kind == UNDEAD_ROOT_STACK) {
    root.address = place_of_word(self, reference->at + from->shift);
    undead_stack_word_note(&self->frames, self->writer->graph, from->tid, reference->at + from->shift);
  }
  note_slice(self, reference, block);
  undead_graph_note_inner(self->writer, reference->address, block, UNDEAD_INNER_OF_ROOT | self->writer->graph->root_edges);
  write_root_edge(self, root, block);
}

static void write_items(root_walk *self) {
  const undead_heap *heap = self->writer->heap;
  for (uint32_t i = 0; i < self->options->loop_item_count; i++) {
    uintptr_t block = self->options->loop_items[i].object;
    if (!undead_heap_starts(heap, block) || !(*undead_heap_word(heap, block) & UNDEAD_WORD_MARK)) continue;
    write_root_edge(self, (undead_graph_root){.kind = UNDEAD_ROOT_RUN_LOOP, .item = i}, block);
  }
}

void undead_graph_write_roots(undead_graph_writer *writer, const undead_view *view, const undead_world *world,
                              const undead_scan_options *options) {
  root_walk self = {.writer = writer, .options = options, .frames = {.world = world}};
  for (uint32_t i = 0; i < view->roots.count && !writer->tables.full && !writer->stream.error; i++) {
    self.root = &view->roots.roots[i];
    undead_visit_root(writer->heap, self.root, visit_root_reference, &self);
  }
  write_items(&self);
}
