#define _GNU_SOURCE
#include "platform/maps.h"
#include "runtime/abi.h"
#include "runtime/captures.h"
#include "runtime/layout.h"
#include "runtime/memory_reader.h"
#include "runtime/runtime.h"
#include "runtime/types.h"

enum { MAX_SKIPS = 1024, MAX_DEPTH = 16, MAX_CASE_BYTES = 512 };

static undead_word_map layouts;

// Offsets of words found so far, ascending.
typedef struct {
  uint32_t offset[MAX_SKIPS];
  uint32_t count;
} word_list;

typedef struct {
  word_list words;
  word_list buffers;   // of existentials, which may be partly unused
} skip_list;

static void add_word(word_list *list, size_t offset) {
  if (offset % 8 || offset > UINT32_MAX || list->count == MAX_SKIPS) return;
  uint32_t i = list->count;
  while (i > 0 && list->offset[i - 1] >= offset) i--;
  if (i < list->count && list->offset[i] == offset) return;
  memmove(&list->offset[i + 1], &list->offset[i], (list->count - i) * sizeof list->offset[0]);
  list->offset[i] = (uint32_t)offset;
  list->count++;
}

static void skip_word(skip_list *list, size_t offset) { add_word(&list->words, offset); }

static void skip_in_type(skip_list *list, uintptr_t type, size_t base, int depth);

static void skip_in_field(skip_list *list, const undead_field *field, size_t base, int depth) {
  if (field->ownership == UNDEAD_WEAK || field->ownership == UNDEAD_UNOWNED) skip_word(list, base + field->offset);
  else if (field->ownership == UNDEAD_STRONG && !field->indirect)
    skip_in_type(list, field->type, base + field->offset, depth + 1);
}

static void skip_in_enum(skip_list *list, uintptr_t type, size_t base, int depth) {
  const undead_fields *cases = undead_fields_of(type);
  const undead_field *only = NULL;
  for (uint32_t i = 0; i < cases->count; i++) {
    if (!cases->field[i].mangled.length) continue;
    // With several payloads a word may be strong in another case than the one that is looked at.
    if (only) return;
    only = &cases->field[i];
  }
  if (only) skip_in_field(list, only, base, depth);
}

static void skip_in_type(skip_list *list, uintptr_t type, size_t base, int depth) {
  if (!type || depth > MAX_DEPTH) return;
  uintptr_t descriptor = undead_type_descriptor(type);
  switch (undead_type_kind(type)) {
  case ABI_KIND_STRUCT:
    if (!undead_descriptor_may_skip(descriptor)) return;
    // fallthrough
  case ABI_KIND_TUPLE: {
    const undead_fields *fields = undead_fields_of(type);
    for (uint32_t i = 0; i < fields->count; i++) skip_in_field(list, &fields->field[i], base, depth);
    return;
  }
  case ABI_KIND_ENUM:
    if (!undead_descriptor_may_skip(descriptor)) return;
    // fallthrough
  case ABI_KIND_OPTIONAL:
    skip_in_enum(list, type, base, depth);
    return;
  case ABI_KIND_FIXED_ARRAY: {
    uintptr_t element = read_word(type + ABI_FIXED_ARRAY_ELEMENT), count = read_word(type + ABI_FIXED_ARRAY_COUNT);
    size_t size, stride;
    uint32_t flags;
    if (!undead_type_layout(element, &size, &stride, &flags) || !stride) return;
    for (uintptr_t i = 0; i < count && i < MAX_SKIPS; i++) skip_in_type(list, element, base + i * stride, depth + 1);
    return;
  }
  case ABI_KIND_EXISTENTIAL: case ABI_KIND_EXTENDED_EXISTENTIAL:
    if (undead_type_is_opaque_existential(type)) add_word(&list->buffers, base);
    return;
  default:
    return;
  }
}

// The seed of a hash table is its own address: a reference to itself for whoever does not know.
static void skip_hash_seed(skip_list *list, uintptr_t isa) {
  const char *name = undead_descriptor_name(read_word(isa + ABI_CLASS_DESCRIPTOR));
  if (!strcmp(name, "_DictionaryStorage") || !strcmp(name, "_SetStorage")) skip_word(list, ABI_HASH_SEED);
}

static void skip_in_class(skip_list *list, uintptr_t isa) {
  for (int depth = 0; isa && depth < 64; depth++, isa = read_word(isa + ABI_CLASS_SUPER)) {
    if (!undead_descriptor_may_skip(read_word(isa + ABI_CLASS_DESCRIPTOR))) continue;
    const undead_fields *fields = undead_fields_of(isa);
    for (uint32_t i = 0; i < fields->count; i++) skip_in_field(list, &fields->field[i], 0, 0);
  }
}

// Resolving captures is expensive: most contexts can be told to hold none by their names alone.
static bool captures_may_skip(uintptr_t isa) {
  uintptr_t captures = read_word(isa + ABI_CONTEXT_CAPTURES);
  uint32_t count = captures ? read_u32(captures + ABI_CAPTURES_TYPE_COUNT) : 0;
  for (uint32_t i = 0; i < count && i < 4096; i++) {
    undead_mangled name = undead_mangled_at(read_relative(captures + ABI_CAPTURES_TYPES + i * 4ul));
    if (undead_mangled_words(&name, false) != UNDEAD_WORDS_STRONG) return true;
  }
  return false;
}

static void skip_in_context(skip_list *list, uintptr_t isa) {
  if (!captures_may_skip(isa)) return;
  const undead_fields *captures = undead_captures_of(isa);
  for (uint32_t i = 0; i < captures->count && captures->field[i].offset != UINT32_MAX; i++)
    skip_in_field(list, &captures->field[i], 0, 0);
}

// Only classes of the standard library and of Foundation have more behind their stored properties, and heirs of
// ManagedBuffer; a class all of whose ancestors are of the program has not.
static uint32_t size_of_class(uintptr_t isa) {
  uint32_t size = read_u32(isa + ABI_CLASS_INSTANCE_SIZE);
  for (int depth = 0; isa && depth < 64; depth++, isa = read_word(isa + ABI_CLASS_SUPER))
    if (undead_descriptor_is_toolchain(read_word(isa + ABI_CLASS_DESCRIPTOR))) return 0;
  return size;
}

static bool is_observer_table(uintptr_t isa) {
  if (!undead_descriptor_is(read_word(isa + ABI_CLASS_DESCRIPTOR), "Swift", "_DictionaryStorage")) return false;
  uintptr_t arguments = undead_class_arguments(isa);
  if (!arguments || read_word(arguments) != undead_runtime.uint64_type) return false;
  if (undead_type_kind(read_word(arguments + 8)) != ABI_KIND_FUNCTION) return false;
  undead_type_name_pair name = undead_runtime.type_name((const void *)isa, true);
  return name.text && strstr(name.text, "_DictionaryStorage<Swift.UInt64, @Sendable (Foundation")
    && strstr(name.text, "MessageBox) -> ()>");
}

static undead_category category_of_class(uintptr_t isa) {
  uintptr_t descriptor = read_word(isa + ABI_CLASS_DESCRIPTOR);
  static const struct { const char *module, *name; undead_category category; } known[] = {
    {"Foundation", "Timer", UNDEAD_CATEGORY_FOUNDATION_TIMER},
    {"Foundation", "__NSCFType", UNDEAD_CATEGORY_CF},
    {"Dispatch", "DispatchSource", UNDEAD_CATEGORY_DISPATCH_SOURCE},
    {"Swift", "__StringStorage", UNDEAD_CATEGORY_STRING_STORAGE},
  };
  const char *name = undead_descriptor_name(descriptor);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(name, known[i].name) && !strcmp(undead_descriptor_module(descriptor), known[i].module))
      return known[i].category;
  if (strstr(name, "NSNotificationObserverToken") && undead_descriptor_is_toolchain(descriptor))
    return UNDEAD_CATEGORY_OBSERVER_TOKEN;
  return is_observer_table(isa) ? UNDEAD_CATEGORY_OBSERVER_TABLE : UNDEAD_CATEGORY_NONE;
}

static bool is_of_program(uintptr_t descriptor) {
  return !undead_descriptor_is_toolchain(descriptor) && !undead_descriptor_is_own(descriptor);
}

static bool is_image_toolchain(uintptr_t address) {
  const undead_module *module = undead_module_of(address);
  return module && module->toolchain;
}

static void compute(undead_layout *layout, skip_list *list) {
  list->words.count = list->buffers.count = 0;
  switch (layout->kind) {
  case UNDEAD_KIND_CLASS:
    layout->category = (uint8_t)category_of_class(layout->isa);
    layout->user_type = is_of_program(read_word(layout->isa + ABI_CLASS_DESCRIPTOR));
    layout->size = size_of_class(layout->isa);
    skip_in_class(list, layout->isa);
    if (!layout->user_type) {
      skip_hash_seed(list, layout->isa);
      undead_storage_layout_learn(layout);
    }
    break;
  case UNDEAD_KIND_CONTEXT:
    layout->user_type = !is_image_toolchain(layout->isa);
    skip_in_context(list, layout->isa);
    break;
  case UNDEAD_KIND_GENERIC_BOX: {
    uintptr_t type = read_word(layout->isa + ABI_BOX_TYPE), descriptor = undead_type_descriptor(type);
    layout->user_type = descriptor && is_of_program(descriptor);
    skip_in_type(list, type, read_u32(layout->isa + ABI_BOX_VALUE_OFFSET), 0);
    break;
  }
  case UNDEAD_KIND_TASK:
    layout->category = UNDEAD_CATEGORY_TASK;
    break;
  default:
    if (layout->isa == undead_runtime.slab_isa) layout->category = UNDEAD_CATEGORY_TASK_SLAB;
    break;
  }
}

static const uint32_t *keep_words(const word_list *list, uint16_t *count) {
  uint32_t *kept = list->count ? undead_keep(list->count * sizeof *kept) : NULL;
  if (!kept) return NULL;
  memcpy(kept, list->offset, list->count * sizeof *kept);
  *count = (uint16_t)list->count;
  return kept;
}

static void add_layout(uintptr_t isa) {
  static skip_list list;
  undead_layout *layout = undead_keep(sizeof *layout);
  if (!layout) return;
  layout->isa = isa;
  layout->kind = (uint8_t)undead_classify(isa, UINT64_MAX);
  compute(layout, &list);
  layout->skip = keep_words(&list.words, &layout->skip_count);
  layout->buffers = keep_words(&list.buffers, &layout->buffer_count);
  undead_word_map_set(&layouts, isa, (uintptr_t)layout);
}

void undead_layouts_add(const uintptr_t *isas, size_t count) {
  if (!undead_runtime_find()) return;
  for (size_t i = 0; i < count; i++)
    if (isas[i] && !undead_layout_of(isas[i])) add_layout(isas[i]);
}

const undead_layout *undead_layout_of(uintptr_t isa) {
  uintptr_t layout;
  return isa && undead_word_map_get(&layouts, isa, &layout) ? (const undead_layout *)layout : NULL;
}
