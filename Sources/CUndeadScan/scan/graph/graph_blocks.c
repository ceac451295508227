#include "scan/graph/graph_blocks.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/spread.h"
#include "platform/processor/processor.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/graph/graph_tables.h"
#include "scan/bodies/references.h"
#include "world/crew.h"

#define MOST_FIXED_OFFSET 4096u // further words of objects without known fields share a place

#define LEAST_CODE 4096u        // no code lies below

typedef undead_graph_walk walk;
typedef undead_listed_edge listed_edge;

static bool add_graph_edge(walk *self, uint32_t place, uintptr_t target, uintptr_t at, const undead_layout *storage) {
  if (self->edge_count == self->edge_capacity && !undead_grow(self->edges, self->edge_capacity, 1 << 14)) return false;
  self->edges[self->edge_count++] = (listed_edge){place, undead_rank_of(&self->writer.ranks, target), at, storage};
  return true;
}

// Where in an element, or in the object, the word lies: elements share their places.
static void locate(const walk *self, uintptr_t at, undead_graph_place *place) {
  const undead_elements *elements = &self->body->elements;
  const undead_layout *layout = self->body->layout;
  uintptr_t offset = at - self->block;
  place->sample_offset = offset > UINT32_MAX ? UINT32_MAX : (uint32_t)offset;
  place->offset = place->sample_offset;
  for (uint32_t i = 0; i < elements->range_count; i++) {
    const undead_element_range *range = &elements->ranges[i];
    if (at < range->low || at >= range->high || !range->stride) continue;
    place->flags |= UNDEAD_PLACE_ELEMENT;
    place->offset = (uint32_t)((at - range->low) % range->stride) * 2;
    // Keys and values differ; the two parts of a ring do not.
    if (elements->bitmap) place->offset += i;
    return;
  }
  if (!layout && place->type != UINT32_MAX && offset < MOST_FIXED_OFFSET && at < self->body->frames) return;
  if (layout && at < self->body->frames && offset < MOST_FIXED_OFFSET && !layout->storage) return;
  if (layout && offset / 8 < layout->word_count) return;
  place->flags |= layout && layout->storage ? UNDEAD_PLACE_ELEMENT : 0;
  place->offset = layout && layout->storage ? UINT32_MAX : 0;
}

// The second word of a Data is its storage in two of four cases, which the two top bits tell. Nothing else names that.
static bool is_data(const walk *self, uintptr_t block, uintptr_t value) {
  uintptr_t tag = value >> ABI_DATA_TAG_SHIFT;
  if (!self->body->layout || (tag != ABI_DATA_SLICE && tag != ABI_DATA_LARGE)) return false;
  const undead_layout *target = undead_block_layout(self->writer.bodies, block, undead_heap_block_size(self->writer.heap, block));
  return target && target->category == UNDEAD_CATEGORY_DATA_STORAGE;
}

static undead_strength strength_of(const walk *self, const undead_reference *reference, uintptr_t block) {
  switch (reference->evidence) {
  case UNDEAD_EVIDENCE_NONE: return UNDEAD_STRENGTH_WEAK;
  case UNDEAD_EVIDENCE_PERHAPS: return UNDEAD_STRENGTH_PERHAPS;
  default: break;
  }
  bool starts = block == reference->address && !self->dying;
  bool counted = starts && undead_body_evidence(self->body, reference->at) == UNDEAD_EVIDENCE_COUNTED;
  if (starts && !counted && reference->at % 8 == 0) counted = is_data(self, block, reference->value);
  return counted ? UNDEAD_STRENGTH_COUNTED : UNDEAD_STRENGTH_RAW;
}

static bool is_code(walk *self, uintptr_t word) {
  undead_known_code *known = &self->codes[undead_spread(word) >> 56 & (UNDEAD_KNOWN_CODES - 1)];
  if (known->word != word) *known = (undead_known_code){word, undead_is_executable(word)};
  return known->executable;
}

// A closure is its code and, in the word behind, what it captured: the code names the reference, and not the field.
static uintptr_t function_before(walk *self, const undead_reference *reference) {
  if (reference->at % 8 || reference->at - 8 < self->body->low) return 0;
  uintptr_t word = word_at(reference->at - 8);
  if (word < LEAST_CODE || word >> UNDEAD_ADDRESS_BITS || undead_heap_may_hold(self->writer.heap, word)) return 0;
  return is_code(self, word) ? word : 0;
}

// What lies behind the last field belongs to nobody: malloc's blocks are a bit larger than what was asked for. A larger rest is
// something else: memory of the program may begin like an object.
static bool is_behind_fields(const walk *self, uintptr_t at) {
  enum { MOST_ROUNDING = 48 };
  const undead_layout *layout = self->body->layout;
  if (!layout || !layout->fixed_size || self->size > layout->fixed_size + MOST_ROUNDING) return false;
  return at + sizeof(uintptr_t) > self->block + layout->fixed_size;
}

static void visit_edge(void *context, const undead_reference *reference) {
  walk *self = context;
  undead_graph_writer *writer = &self->writer;
  bool within = reference->address - self->block < self->size;
  uintptr_t block = within ? self->block : undead_heap_block(writer->heap, reference->address);
  if (!block || reference->evidence == UNDEAD_EVIDENCE_NUMBER || is_behind_fields(self, reference->at)) return;
  undead_strength strength = strength_of(self, reference, block);
  // Tasks and contexts point into themselves; only what is counted is a reference.
  if (block == self->block && strength != UNDEAD_STRENGTH_COUNTED) return;
  if (strength == UNDEAD_STRENGTH_RAW && undead_body_evidence(self->body, reference->at) == UNDEAD_EVIDENCE_NUMBER)
    return;
  if (strength != UNDEAD_STRENGTH_WEAK) undead_graph_note_inner(writer, reference->address, block, self->rank);
  undead_graph_place place = {.type = self->type, .strength = strength, .value = reference->value,
                              .function = function_before(self, reference)};
  if (strength == UNDEAD_STRENGTH_WEAK) {
    uintptr_t owner = undead_side_table_owner(writer->heap, block, undead_block_size(block));
    if (owner) block = owner;
  }
  locate(self, reference->at, &place);
  // A Data keeps a tag in the word of its storage. Frames of tasks have no layout.
  bool holds = strength == UNDEAD_STRENGTH_COUNTED || strength == UNDEAD_STRENGTH_RAW;
  bool slices = !writer->only_tasks && ((holds && self->body->layout) || reference->at >= self->body->frames);
  const undead_layout *storage = slices ? undead_large_storage(writer->bodies, block) : NULL;
  if (storage) place.flags |= UNDEAD_PLACE_NEIGHBOURS;
  uint32_t known = undead_graph_place_known(&writer->tables, &place);
  if (known == UINT32_MAX) {
    undead_kind kind = undead_body_kind(writer->bodies, block, undead_block_size(block));
    place.target_type = undead_graph_type_of(&writer->tables, writer->bodies, block, undead_block_size(block), kind);
    place.companion = reference->at % 8 == 0 && reference->at - 8 >= self->body->low ? word_at(reference->at - 8) : 0;
    known = undead_graph_place_of(&writer->tables, place);
  }
  if (!add_graph_edge(self, known, block, reference->at, storage)) writer->tables.full = true;
}

// An object keeps the table of its weak references alive, by a word that is no field.
static void add_side_table(walk *self) {
  uint64_t refcount = word_at(self->block + ABI_OBJECT_REFCOUNT);
  if (refcount >> ABI_REFCOUNT_SIDE_TABLE_SHIFT != ABI_REFCOUNT_SIDE_TABLE_TOP || refcount == UINT64_MAX) return;
  uintptr_t table = refcount << ABI_REFCOUNT_SIDE_TABLE_SCALE;
  if (!undead_heap_starts(self->writer.heap, table)) return;
  undead_graph_place place = {.type = self->type, .target_type = UINT32_MAX, .offset = ABI_OBJECT_REFCOUNT,
                              .sample_offset = ABI_OBJECT_REFCOUNT, .strength = UNDEAD_STRENGTH_COUNTED,
                              .flags = UNDEAD_PLACE_IMPLIED};
  if (!add_graph_edge(self, undead_graph_place_of(&self->writer.tables, place), table, 0, NULL)) self->writer.tables.full = true;
}

static void write_neighbours(walk *self, const listed_edge *edge) {
  undead_stream *stream = &self->writer.stream;
  uint64_t words[UNDEAD_SLICE_WORDS];
  undead_slice_words(words, edge->storage, edge->at, self->block, self->block + self->size);
  undead_stream_varint(stream, UNDEAD_SLICE_WORDS);
  for (uint32_t i = 0; i < UNDEAD_SLICE_WORDS; i++) undead_stream_word(stream, words[i]);
}

static void write_edges(walk *self, uint32_t rank) {
  undead_stream *stream = &self->writer.stream;
  undead_stream_varint(stream, self->edge_count);
  for (uint64_t i = 0; i < self->edge_count; i++) {
    undead_stream_varint(stream, self->edges[i].place);
    undead_stream_zigzag(stream, (int64_t)self->edges[i].target - rank);
    if (self->edges[i].storage) write_neighbours(self, &self->edges[i]);
  }
  self->writer.graph->edges += self->edge_count;
}

typedef struct {
  undead_graph_shape shape;
  uint64_t strong;
  undead_contents contents;
} description;

// Tables of weak references are never marked: they are as alive as their objects.
static bool is_reached(const walk *self, uint32_t word) {
  if (self->kind == UNDEAD_KIND_SIDE_TABLE)
    word |= *undead_heap_word(self->writer.heap, undead_side_table_owner(self->writer.heap, self->block, self->size));
  return word & UNDEAD_WORD_MARK;
}

static description describe_block(walk *self, uint32_t word) {
  undead_graph_writer *writer = &self->writer;
  description found = {.shape = {.type = self->type, .size = self->size}};
  undead_graph_shape *shape = &found.shape;
  bool counted = self->kind != UNDEAD_KIND_OTHER && self->kind != UNDEAD_KIND_SIDE_TABLE;
  if (is_reached(self, word)) shape->flags |= UNDEAD_SHAPE_REACHED;
  if (self->dying) shape->flags |= UNDEAD_SHAPE_DEINIT;
  found.strong = counted ? undead_strong_count(writer->heap, self->block) : 0;
  if (!found.strong) shape->flags |= UNDEAD_SHAPE_NO_COUNT;
  if (found.strong > 1) shape->flags |= UNDEAD_SHAPE_COUNTED;
  if (!self->body->layout
      || !undead_contents_of(&found.contents, self->body->layout, self->block, self->size, writer->graph->salt))
    return found;
  shape->flags |= UNDEAD_SHAPE_CONTENTS | (found.contents.has_hash ? UNDEAD_SHAPE_HASH : 0);
  return found;
}

static void write_block(walk *self, uint32_t word, uintptr_t before, uint32_t rank) {
  undead_graph_writer *writer = &self->writer;
  undead_stream *stream = &writer->stream;
  description found = describe_block(self, word);
  // That of a part's first block is written when it is known which one was before.
  if (self->block != before) undead_stream_varint(stream, (self->block >> 4) - (before >> 4));
  undead_stream_varint(stream, undead_graph_shape_of(&writer->tables, found.shape));
  undead_stream_varint(stream, undead_graph_site_of(&writer->tables, word & UNDEAD_WORD_BACKTRACE));
  if (found.shape.flags & UNDEAD_SHAPE_COUNTED) undead_stream_varint(stream, found.strong);
  if (found.shape.flags & UNDEAD_SHAPE_CONTENTS) {
    undead_stream_varint(stream, found.contents.used);
    undead_stream_varint(stream, found.contents.capacity);
  }
  if (found.shape.flags & UNDEAD_SHAPE_HASH) undead_stream_word(stream, found.contents.hash);
  write_edges(self, rank);
}

static void add_holder(walk *self, uint32_t rank, uint32_t offset, const char *field) {
  undead_graph *graph = self->writer.graph;
  int32_t descriptor = *(const int32_t *)(self->block + offset);
  if (descriptor < 0 || graph->holder_count == UNDEAD_HOLDER_LIMIT) return;
  graph->holders[graph->holder_count++] = (undead_graph_holder){rank, (uint32_t)descriptor, field, offset};
}

// Sources on descriptors, and channels.
static void note_dispatch(walk *self, uint32_t rank) {
  const undead_bodies *bodies = self->writer.bodies;
  uintptr_t refs = self->block + ABI_UNOTE_LINKAGE_BYTES;
  if (self->size < ABI_UNOTE_LINKAGE_BYTES + ABI_UNOTE_IDENT + 4 || !bodies->source_of_reads) return;
  if (word_at(refs) == bodies->source_of_reads || word_at(refs) == bodies->source_of_writes)
    add_holder(self, rank, ABI_UNOTE_LINKAGE_BYTES + ABI_UNOTE_IDENT, "source of libdispatch");
  if (undead_entry_of_channel(bodies, self->block)) add_holder(self, rank, ABI_IO_DESCRIPTOR, "DispatchIO");
}

static bool has_number(const walk *self, uint8_t form, size_t offset) {
  if (form == UNDEAD_DESCRIPTOR_WIDE)
    return offset + sizeof(uint64_t) <= self->size && *(const uint64_t *)(self->block + offset) <= INT32_MAX;
  if (form == UNDEAD_DESCRIPTOR_OPTIONAL)
    return offset + sizeof(uint32_t) < self->size && !*(const uint8_t *)(self->block + offset + sizeof(uint32_t));
  return offset + sizeof(uint32_t) <= self->size;
}

// Fields that are numbers of open files: who reads the file knows which are open. The object or element begins at `base` of the block.
static void note_fields(walk *self, uint32_t rank, size_t base, bool key) {
  const undead_layout *layout = self->body->layout;
  for (uint32_t i = 0; i < layout->descriptor_count; i++) {
    const undead_descriptor_field *field = &layout->descriptors[i];
    size_t offset = base + field->offset;
    if (field->key == key && has_number(self, field->form, offset)) add_holder(self, rank, (uint32_t)offset, field->name);
  }
}

// undead_elements_skip is for words, which may have two elements.
static bool is_in_use(const undead_elements *elements, const undead_element_range *range, uintptr_t at) {
  size_t bucket = (at - range->low) / range->stride;
  return !elements->bitmap || elements->bitmap[bucket / 64] >> bucket % 64 & 1;
}

// Numbers without a name may be anything. Those of files are small, and few.
static bool may_be_descriptors(const walk *self, const undead_element_range *range) {
  enum { MOST_ELEMENTS = 1 << 10, MOST_NUMBER = 1 << 16 };
  uint32_t count = 0;
  for (uintptr_t at = range->low; at < range->high; at += range->stride) {
    if (!is_in_use(&self->body->elements, range, at)) continue;
    if (*(const uint32_t *)at >= MOST_NUMBER || ++count > MOST_ELEMENTS) return false;
  }
  return true;
}

static void note_elements(walk *self, uint32_t rank, const undead_element_range *range, bool key) {
  const undead_layout *layout = self->body->layout;
  const undead_descriptor_field *first = NULL;
  for (uint32_t i = layout->descriptor_count; i-- > 0;)
    if (layout->descriptors[i].key == key) first = &layout->descriptors[i];
  if (!first || !range->stride || (*first->name == '[' && !may_be_descriptors(self, range))) return;
  for (uintptr_t at = range->low; at < range->high; at += range->stride)
    if (is_in_use(&self->body->elements, range, at)) note_fields(self, rank, at - self->block, key);
}

static void note_descriptors(walk *self, uint32_t rank) {
  const undead_layout *layout = self->body->layout;
  if (!layout) return note_dispatch(self, rank);
  if (!layout->descriptor_count) return;
  if (!undead_has_elements(layout)) return note_fields(self, rank, 0, false);
  const undead_elements *elements = &self->body->elements;
  uint32_t values = layout->storage == UNDEAD_STORAGE_DICTIONARY;
  if (values >= elements->range_count) return;
  note_elements(self, rank, &elements->ranges[values], false);
  if (values) note_elements(self, rank, &elements->ranges[0], true);
}

static void add_up(walk *self, uintptr_t block, size_t size) {
  undead_graph *graph = self->writer.graph;
  if (!self->mapping || block >= self->mapping->high) {
    self->mapping = undead_mapping_of(block);
    if (!self->mapping || graph->area_count == UNDEAD_AREA_LIMIT) return;
    graph->areas[graph->area_count++].address = block;
    graph->areas[graph->area_count - 1].live = 0;
  }
  graph->areas[graph->area_count - 1].live += size;
}

// Only one thread at a time walks what tables of all are needed for.
static bool walk_references(walk *self, undead_body *body) {
  undead_graph_writer *writer = &self->writer;
  bool alone = !self->turn || undead_body_is_shareable(writer->bodies, self->block, self->size);
  if (!alone && !undead_crew_takes(self->turn)) return false;
  undead_body_of(writer->bodies, self->block, self->size, body);
  undead_walk_body(writer->heap, self->block, body, true, visit_edge, self);
  note_descriptors(self, self->rank);
  if (!alone) __atomic_store_n(self->turn, 0, __ATOMIC_RELEASE);
  return true;
}

static bool visit_block(void *context, uintptr_t block, uint32_t *word) {
  walk *self = context;
  undead_graph_writer *writer = &self->writer;
  undead_body body;
  self->block = block;
  self->size = undead_heap_block_size(writer->heap, block);
  self->kind = undead_body_kind(writer->bodies, block, self->size);
  self->type = undead_graph_type_of(&writer->tables, writer->bodies, block, self->size, self->kind);
  if (self->kind == UNDEAD_KIND_TASK) undead_graph_note_task(writer, block, self->type);
  else if (self->kind == UNDEAD_KIND_OTHER) {
    undead_graph_note_timer(writer, block, self->size);
    undead_graph_note_queue(writer, block, self->size, self->rank);
  }
  self->edge_count = 0;
  self->body = &body;
  bool counted = self->kind != UNDEAD_KIND_OTHER && self->kind != UNDEAD_KIND_SIDE_TABLE;
  self->dying = counted && undead_is_deiniting(writer->heap, block);
  if (counted) add_side_table(self);
  if (!walk_references(self, &body)) return false;
  write_block(self, *word, self->before, self->rank++);
  self->before = block;
  add_up(self, block, self->size);
  return !writer->tables.full && !writer->stream.error;
}

static bool visit_block_of_part(void *context, uintptr_t block, uint32_t *word) {
  walk *self = context;
  if (!self->first) {
    self->first = self->before = block;
    self->rank = undead_rank_of(&self->writer.ranks, block);
  }
  return visit_block(context, block, word) && !undead_crew_leaves();
}

void undead_graph_walk_all(undead_graph_walk *self) { undead_heap_each(self->writer.heap, visit_block, self); }

bool undead_graph_walk_part(undead_graph_walk *self, uint32_t part) {
  self->first = 0;
  self->mapping = NULL;
  return undead_heap_each_in_part(self->writer.heap, part, visit_block_of_part, self);
}

void undead_graph_walk_close(undead_graph_walk *self) {
  if (self->edges) undead_unmap(self->edges, self->edge_capacity * sizeof *self->edges);
  self->edges = NULL;
}
