#include "runtime/abi.h"
#include "platform/memory/own_data.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/names/naming.h"

// The class of the object or the nearest superclass that Swift's library declares under `name`, 0 if there is none.
static uintptr_t ancestor_named(uintptr_t isa, const char *name) {
  for (int depth = 0; isa && depth < 64; depth++, isa = read_word(isa + ABI_CLASS_SUPER))
    if (undead_descriptor_is(read_word(isa + ABI_CLASS_DESCRIPTOR), "Swift", name)) return isa;
  return 0;
}

static uintptr_t argument_of(uintptr_t isa, uintptr_t index) {
  uintptr_t arguments = undead_class_arguments(isa);
  return arguments ? read_word(arguments + index * 8) : 0;
}

typedef struct {
  const undead_node *node;
  undead_edge_name *name;
  undead_text *label;
  const undead_edge *edge;
} element_query;

// Names a word in elements of `type` that start at `first`. `label` NULL: by index.
static bool name_element(const element_query *query, uintptr_t type, size_t first, const char *label) {
  size_t size, stride;
  uint32_t flags;
  if (query->edge->offset < first || !undead_type_layout(type, &size, &stride, &flags) || !stride) return false;
  size_t index = (query->edge->offset - first) / stride, start = first + index * stride;
  if (label) undead_text_add(query->label, label);
  else {
    undead_text_add(query->label, "[");
    undead_text_number(query->label, index);
    undead_text_add(query->label, "]");
  }
  undead_text text = undead_text_in(query->name->type, sizeof query->name->type);
  undead_add_type_name(&text, type);
  if (query->name->flags & UNDEAD_EDGE_WEAK) return false;
  bool readable = undead_node_is_frozen(query->node) && start + size <= query->node->size;
  undead_value value = {type, readable ? query->node->address + start : 0, query->edge->offset - start};
  return undead_name_in_value(query->name, query->label, value, query->edge);
}

static size_t aligned_for(size_t offset, uintptr_t type) {
  size_t size, stride;
  uint32_t flags;
  if (!undead_type_layout(type, &size, &stride, &flags)) return offset;
  size_t mask = flags & ABI_WITNESS_ALIGN_MASK;
  return (offset + mask) & ~mask;
}

static void set_unused(const element_query *query, bool unused) {
  if (unused) query->name->flags |= UNDEAD_EDGE_WEAK;
}

// The array that was asked for last: its elements are named one after the other, and may be a million.
static struct {
  uintptr_t address, count;
  bool known, readable;
} last_array;

void undead_forget_elements(void) { last_array.known = false; }

static bool count_array(const undead_node *node, uintptr_t *count) {
  if (!last_array.known || last_array.address != node->address) {
    last_array.readable = undead_copy_memory(node->address + ABI_ARRAY_COUNT, &last_array.count, sizeof(uintptr_t));
    last_array.address = node->address;
    last_array.known = true;
  }
  *count = last_array.count;
  return last_array.readable;
}

static bool name_array_word(const element_query *query, uintptr_t isa) {
  uintptr_t element = argument_of(isa, 0), count;
  size_t first = aligned_for(ABI_ARRAY_ELEMENTS, element), size, stride;
  uint32_t flags;
  // Behind the last element is what the memory held before.
  if (undead_node_is_frozen(query->node) && undead_type_layout(element, &size, &stride, &flags)
      && count_array(query->node, &count))
    set_unused(query, query->edge->offset >= first && (query->edge->offset - first) / (stride ? stride : 1) >= count);
  return name_element(query, element, first, NULL);
}

// Bitmaps of used slots precede the keys. `index` counts slots.
static bool is_empty_slot(const element_query *query, size_t bitmap, size_t index) {
  uintptr_t word;
  if (!undead_node_is_frozen(query->node)) return false;
  if (!undead_copy_memory(query->node->address + bitmap + index / 64 * 8, &word, sizeof word)) return false;
  return !(word >> index % 64 & 1);
}

static size_t slot_index(uintptr_t type, size_t distance) {
  size_t size, stride;
  uint32_t flags;
  return undead_type_layout(type, &size, &stride, &flags) && stride ? distance / stride : 0;
}

// Slots of hash tables have no stable order: they are not numbered.
static bool name_dictionary_word(const element_query *query, uintptr_t isa) {
  uintptr_t starts[2];
  const undead_node *node = query->node;
  if (!undead_copy_memory(node->address + ABI_DICTIONARY_KEYS, starts, sizeof starts)) return false;
  uintptr_t keys = starts[0] - node->address, values = starts[1] - node->address;
  if (keys < ABI_DICTIONARY_HEADER || keys > values || values > node->size) return false;
  bool is_value = query->edge->offset >= values;
  uintptr_t type = argument_of(isa, is_value), first = is_value ? values : keys;
  if (query->edge->offset >= first)
    set_unused(query, is_empty_slot(query, ABI_DICTIONARY_HEADER, slot_index(type, query->edge->offset - first)));
  return name_element(query, type, first, is_value ? "[value]" : "[key]");
}

static bool name_set_word(const element_query *query, uintptr_t isa) {
  uintptr_t start;
  const undead_node *node = query->node;
  if (!undead_copy_memory(node->address + ABI_SET_ELEMENTS, &start, sizeof start)) return false;
  uintptr_t elements = start - node->address;
  if (elements < ABI_SET_HEADER || elements > node->size) return false;
  uintptr_t type = argument_of(isa, 0);
  if (query->edge->offset >= elements)
    set_unused(query, is_empty_slot(query, ABI_SET_HEADER, slot_index(type, query->edge->offset - elements)));
  return name_element(query, type, elements, "[element]");
}

// Of a deque, whose elements go around the end of the capacity.
static bool is_unused_in_ring(const undead_node *node, const undead_layout *layout, size_t index) {
  uintptr_t capacity, count, start;
  if (!undead_node_is_frozen(node) || !undead_copy_memory(node->address + layout->capacity, &capacity, 8)
      || !undead_copy_memory(node->address + layout->count, &count, 8)
      || !undead_copy_memory(node->address + layout->start, &start, 8) || start > capacity)
    return false;
  return (index >= start ? index - start : index + capacity - start) >= count;
}

static bool name_buffer_word(const element_query *query, uintptr_t isa) {
  uintptr_t header = argument_of(isa, 0), element = argument_of(isa, 1);
  size_t size, stride;
  uint32_t flags;
  if (!undead_type_layout(header, &size, &stride, &flags)) return false;
  size_t end = aligned_for(ABI_OBJECT_HEADER, header) + size;
  // A subclass may add stored properties in front of the elements.
  size_t instance = read_u32(query->node->isa + ABI_CLASS_INSTANCE_SIZE);
  const undead_layout *layout = undead_layout_of(query->node->isa);
  if (layout && layout->storage == UNDEAD_STORAGE_RING && query->edge->offset >= layout->first_element)
    set_unused(query, is_unused_in_ring(query->node, layout,
                                        (query->edge->offset - layout->first_element) / layout->strides[0]));
  return name_element(query, element, aligned_for(instance > end ? instance : end, element), NULL);
}

// Objects of the runtime without fields, whose words are behind the header (CheckedContinuation.swift).
static bool name_tail_word(const element_query *query) {
  uintptr_t descriptor = read_word(query->node->isa + ABI_CLASS_DESCRIPTOR);
  if (query->edge->offset != ABI_CANARY_CONTINUATION) return false;
  // The module _Concurrency has the name of the standard library in symbols and descriptors.
  if (!undead_descriptor_is(descriptor, "Swift", "CheckedContinuationCanary")) return false;
  undead_text_add(query->label, "continuation");
  return true;
}

bool undead_name_in_elements(const undead_node *node, undead_edge_name *name, undead_text *label,
                             const undead_edge *edge) {
  element_query query = {node, name, label, edge};
  uintptr_t isa;
  const undead_layout *layout = undead_layout_of(node->isa);
  if (layout && layout->category == UNDEAD_CATEGORY_STRING_STORAGE) {
    undead_text_add(label, "breadcrumbs");
    return false;
  }
  if (name_tail_word(&query)) return false;
  if ((isa = ancestor_named(node->isa, "_ContiguousArrayStorage"))) return name_array_word(&query, isa);
  if ((isa = ancestor_named(node->isa, "_DictionaryStorage"))) return name_dictionary_word(&query, isa);
  if ((isa = ancestor_named(node->isa, "_SetStorage"))) return name_set_word(&query, isa);
  if ((isa = ancestor_named(node->isa, "ManagedBuffer"))) return name_buffer_word(&query, isa);
  return false;
}
