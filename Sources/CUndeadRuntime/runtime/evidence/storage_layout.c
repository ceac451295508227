// Which part of the storage of a collection its elements use, and what they are: the rest holds what the memory held before.
#include "runtime/abi.h"
#include "platform/memory/own_data.h"
#include "runtime/evidence/evidence.h"
#include "runtime/evidence/evidence_internal.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/runtime.h"
#include "runtime/types.h"

static uint32_t stride_of(uintptr_t arguments, uint32_t index, uint32_t *align_mask) {
  size_t size, stride;
  uint32_t flags;
  if (!undead_type_layout(read_word(arguments + index * 8ul), &size, &stride, &flags) || stride > UINT32_MAX) return 0;
  *align_mask = flags & ABI_WITNESS_ALIGN_MASK;
  return (uint32_t)stride;
}

// One for each word of an element; a single one for all where elements do not begin at words.
static const uint8_t *words_of(undead_evidence_map *map, uintptr_t type, uint32_t stride) {
  bool whole = stride % 8 == 0;
  uint32_t count = whole ? stride / 8 : 1;
  if (stride > UNDEAD_EVIDENCE_BYTES) return NULL;
  uint8_t *words = undead_keep(count);
  if (!words) return NULL;
  undead_evidence_clear(map);
  undead_evidence_of_type(map, type, 0);
  undead_evidence_pad(map, map->end, ((stride + 7) & ~7ul) - map->end);
  words[0] = UNDEAD_EVIDENCE_NUMBER;
  for (uint32_t i = 0; whole ? i < count : i * 8 < map->end; i++) {
    uint8_t word = (uint8_t)undead_evidence_word(map, i * 8ul);
    if (whole) words[i] = word;
    else if (word != UNDEAD_EVIDENCE_NUMBER) words[0] = UNDEAD_EVIDENCE_RAW;
  }
  return words;
}

// `map` is that of the words.
static void keep_guards(undead_layout *layout, uint32_t which, undead_evidence_map *map) {
  undead_evidence_end_guards(map);
  if (layout->strides[which] % 8) return;   // one word says what all of them are
  size_t size = map->guard_count * sizeof map->guards[0];
  undead_guard *guards = size && layout->element_words[which] ? undead_keep(size) : NULL;
  if (!guards) return;
  layout->element_guards[which] = memcpy(guards, map->guards, size);
  layout->element_guard_count[which] = (uint16_t)map->guard_count;
}

static bool are_numbers(const uint8_t *words, uint32_t stride) {
  for (uint32_t i = 0; words && i < (stride % 8 ? 1 : stride / 8); i++)
    if (words[i] != UNDEAD_EVIDENCE_NUMBER) return false;
  return words != NULL;
}

static const undead_field *word_named(const undead_fields *fields, const char *name) {
  for (uint32_t i = 0; i < fields->count; i++)
    if (!strcmp(fields->field[i].name, name) && fields->field[i].size == 8) return &fields->field[i];
  return NULL;
}

// _DequeBuffer of _Concurrency (the buffers of AsyncStream) and of swift-collections, in whose header nothing else is.
static bool learn_ring(undead_layout *layout, const undead_fields *buffer) {
  const undead_field *header = buffer->count == 1 ? &buffer->field[0] : NULL;
  if (!header || strcmp(header->name, "header") || !header->type) return false;
  if (strcmp(undead_descriptor_name(undead_type_descriptor(header->type)), "_DequeBufferHeader")) return false;
  const undead_fields *fields = undead_fields_of(header->type);
  const undead_field *capacity = word_named(fields, "capacity"), *count = word_named(fields, "count");
  const undead_field *start = word_named(fields, "startSlot");
  if (fields->count != 3 || !capacity || !count || !start || !start->type) return false;
  const undead_fields *slot = undead_fields_of(start->type);
  if (slot->count != 1 || !word_named(slot, "position")) return false;
  layout->capacity = header->offset + capacity->offset;
  layout->count = header->offset + count->offset;
  layout->start = header->offset + start->offset;
  layout->first_element = header->offset + header->size;
  return true;
}

void undead_ring_layout_learn(undead_layout *layout, undead_evidence_map *map) {
  static const char *const modules[] = {"Swift", "_Concurrency", "DequeModule", "Collections"};
  uintptr_t descriptor = read_word(layout->isa + ABI_CLASS_DESCRIPTOR), buffer = read_word(layout->isa + ABI_CLASS_SUPER);
  if (strcmp(undead_descriptor_name(descriptor), "_DequeBuffer") || !buffer) return;
  bool known = false;
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
    known |= !strcmp(undead_descriptor_module(descriptor), modules[i]);
  if (!known || !undead_descriptor_is(read_word(buffer + ABI_CLASS_DESCRIPTOR), "Swift", "ManagedBuffer")) return;
  uintptr_t arguments = undead_class_arguments(buffer);
  uint32_t align_mask = 0, stride = arguments ? stride_of(arguments, 1, &align_mask) : 0;
  if (!stride || !learn_ring(layout, undead_fields_of(buffer))) return;
  if (read_u32(layout->isa + ABI_CLASS_INSTANCE_SIZE) > layout->first_element) return;
  layout->storage = UNDEAD_STORAGE_RING;
  layout->strides[0] = stride;
  layout->first_element = (layout->first_element + align_mask) & ~align_mask;
  // In use are two ranges of elements.
  layout->element_words[0] = layout->element_words[1] = words_of(map, read_word(arguments + 8), stride);
  keep_guards(layout, 0, map);
  layout->numbers[0] = layout->numbers[1] = are_numbers(layout->element_words[0], stride);
}

static uintptr_t managed_buffer_of(uintptr_t isa) {
  for (int depth = 0; isa && depth < 64; depth++, isa = read_word(isa + ABI_CLASS_SUPER))
    if (undead_descriptor_is(read_word(isa + ABI_CLASS_DESCRIPTOR), "Swift", "ManagedBuffer")) return isa;
  return 0;
}

// A moved-out element leaves its reference where it was.
static void doubt_words(uint8_t *words, uint32_t count) {
  for (uint32_t i = 0; words && i < count; i++) {
    if (words[i] == UNDEAD_EVIDENCE_COUNTED || words[i] == UNDEAD_EVIDENCE_TEXT) words[i] = UNDEAD_EVIDENCE_PERHAPS;
    else if (words[i] == UNDEAD_EVIDENCE_BUFFER || words[i] == UNDEAD_EVIDENCE_GUARDED) words[i] = UNDEAD_EVIDENCE_RAW;
  }
}

// Heirs of ManagedBuffer have no stored properties of their own: the elements follow the header.
void undead_tail_layout_learn(undead_layout *layout, undead_evidence_map *map) {
  uintptr_t buffer = layout->storage ? 0 : managed_buffer_of(layout->isa);
  uintptr_t arguments = buffer ? undead_class_arguments(buffer) : 0;
  uint32_t align_mask = 0, stride = arguments ? stride_of(arguments, 1, &align_mask) : 0;
  const undead_fields *fields = stride ? undead_fields_of(buffer) : NULL;
  const undead_field *header = fields && fields->count == 1 ? &fields->field[0] : NULL;
  if (!header || strcmp(header->name, "header") || !header->type || stride % 8) return;
  uint32_t first = (uint32_t)(header->offset + header->size + align_mask) & ~align_mask;
  if (first % 8 || read_u32(layout->isa + ABI_CLASS_INSTANCE_SIZE) > ((first + 7) & ~7u)) return;
  uint8_t *words = (uint8_t *)words_of(map, read_word(arguments + 8), stride);
  if (!words) return;
  doubt_words(words, stride / 8);
  layout->storage = UNDEAD_STORAGE_TAIL;
  layout->strides[0] = stride;
  layout->first_element = first;
  layout->element_words[0] = words;
}

void undead_storage_layout_learn(undead_layout *layout, undead_evidence_map *map) {
  uintptr_t descriptor = read_word(layout->isa + ABI_CLASS_DESCRIPTOR);
  static const struct {
    const char *name;
    undead_storage_kind kind;
    uint32_t arguments;
  } known[] = {
    {"_ContiguousArrayStorage", UNDEAD_STORAGE_ARRAY, 1},
    {"_SetStorage", UNDEAD_STORAGE_SET, 1},
    {"_DictionaryStorage", UNDEAD_STORAGE_DICTIONARY, 2},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (!undead_descriptor_is(descriptor, "Swift", known[i].name)) continue;
    uintptr_t arguments = undead_class_arguments(layout->isa);
    uint32_t align_mask = 0, strides[2] = {0, 0};
    if (!arguments) return;
    for (uint32_t k = 0; k < known[i].arguments; k++)
      if (!(strides[k] = stride_of(arguments, k, &align_mask))) return;
    layout->storage = known[i].kind;
    layout->strides[0] = strides[0];
    layout->strides[1] = strides[1];
    for (uint32_t k = 0; k < known[i].arguments; k++) {
      layout->element_words[k] = words_of(map, read_word(arguments + k * 8ul), strides[k]);
      keep_guards(layout, k, map);
      layout->numbers[k] = are_numbers(layout->element_words[k], strides[k]);
    }
    layout->first_element = (ABI_ARRAY_ELEMENTS + align_mask) & ~align_mask;   // of an array
  }
}
