// The layouts of classes and contexts, by isa: kept once computed, in memory of their own. They are computed while the world
// runs, and only read while it stands still. Variants are of objects whose own words decide, as captures of generic closures.
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/evidence/evidence.h"
#include "runtime/evidence/evidence_internal.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/runtime.h"
#include "runtime/types.h"

static undead_word_map layouts;

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
    {"FoundationEssentials", "__DataStorage", UNDEAD_CATEGORY_DATA_STORAGE},
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

// Only classes of the standard library, and their heirs, have elements behind their fields. What Core Foundation makes is no class of
// the program's.
static uint32_t fixed_size_of_class(const undead_layout *layout) {
  if (!layout->user_type || layout->storage) return 0;
  for (uintptr_t isa = layout->isa; isa; isa = read_word(isa + ABI_CLASS_SUPER))
    if (!strcmp(undead_descriptor_module(read_word(isa + ABI_CLASS_DESCRIPTOR)), "Swift")) return 0;
  return read_u32(layout->isa + ABI_CLASS_INSTANCE_SIZE);
}

static void compute(undead_layout *layout, undead_evidence_map *map) {
  undead_evidence_clear(map);
  switch (layout->kind) {
  case UNDEAD_KIND_CLASS:
    layout->category = (uint8_t)category_of_class(layout->isa);
    layout->user_type = is_of_program(read_word(layout->isa + ABI_CLASS_DESCRIPTOR));
    if (!layout->user_type) undead_storage_layout_learn(layout, map);
    undead_ring_layout_learn(layout, map);
    undead_tail_layout_learn(layout, map);
    undead_evidence_clear(map);
    undead_evidence_of_class(map, layout->isa);
    layout->fixed_size = fixed_size_of_class(layout);
    undead_named_fields_learn(layout);
    break;
  case UNDEAD_KIND_CONTEXT:
    layout->user_type = !is_image_toolchain(layout->isa);
    undead_evidence_of_context(map, layout->isa);
    undead_named_fields_learn(layout);
    break;
  case UNDEAD_KIND_GENERIC_BOX: {
    uintptr_t type = read_word(layout->isa + ABI_BOX_TYPE), descriptor = undead_type_descriptor(type);
    layout->user_type = descriptor && is_of_program(descriptor);
    undead_evidence_of_type(map, type, read_u32(layout->isa + ABI_BOX_VALUE_OFFSET));
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

static const void *keep_copy(const void *bytes, size_t size) {
  void *kept = size ? undead_keep(size) : NULL;
  return kept ? memcpy(kept, bytes, size) : NULL;
}

static void keep_words(undead_layout *layout, undead_evidence_map *map) {
  static uint8_t words[UNDEAD_EVIDENCE_BYTES / 8];
  static uint32_t skips[UNDEAD_EVIDENCE_BYTES / 8];
  uint32_t count = 0, skip_count = 0;
  // What begins behind the last byte begins with the next word.
  undead_evidence_pad(map, map->end, -map->end & 7);
  for (; count * 8ul < map->end && count < UNDEAD_EVIDENCE_BYTES / 8; count++) {
    words[count] = (uint8_t)undead_evidence_word(map, count * 8ul);
    if (words[count] == UNDEAD_EVIDENCE_NONE) skips[skip_count++] = count * 8;
  }
  if ((layout->words = keep_copy(words, count))) layout->word_count = count;
  if ((layout->skip = keep_copy(skips, skip_count * sizeof *skips))) layout->skip_count = (uint16_t)skip_count;
  undead_evidence_end_guards(map);
  if ((layout->guards = keep_copy(map->guards, map->guard_count * sizeof *map->guards)))
    layout->guard_count = (uint16_t)map->guard_count;
  if ((layout->buffers = keep_copy(map->buffers, map->buffer_count * sizeof *map->buffers)))
    layout->buffer_count = (uint16_t)map->buffer_count;
}

static void add_layout(uintptr_t isa) {
  static undead_evidence_map map;
  undead_layout *layout = undead_keep(sizeof *layout);
  if (!layout) return;
  layout->isa = isa;
  layout->kind = (uint8_t)undead_classify(isa, UINT64_MAX);
  layout->deciding = undead_deciding_words_of(isa, layout->kind);
  compute(layout, &map);
  keep_words(layout, &map);
  undead_word_map_set(&layouts, isa, (uintptr_t)layout);
}

void undead_layouts_add(const uintptr_t *isas, size_t count) {
  if (!undead_runtime_find()) return;
  for (size_t i = 0; i < count; i++)
    if (isas[i] && !undead_layout_of(isas[i])) add_layout(isas[i]);
}

static void compute_variant(const undead_variant *variant, undead_kind kind, undead_evidence_map *map) {
  size_t size, stride;
  uint32_t flags;
  undead_evidence_clear(map);
  if (kind == UNDEAD_KIND_CONTEXT) {
    undead_evidence_of_context_with(map, variant->isa, variant->words);
  } else if (undead_is_certainly_type(variant->words[0]) && undead_type_layout(variant->words[0], &size, &stride, &flags)) {
    size_t align = flags & ABI_WITNESS_ALIGN_MASK, value = (ABI_ERROR_VALUE + align) & ~align;
    undead_evidence_set(map, ABI_OBJECT_HEADER, ABI_ERROR_VALUE - ABI_OBJECT_HEADER, BYTE_RAW);
    undead_evidence_of_type(map, variant->words[0], value);
  }
}

static void add_variant(const undead_variant *variant) {
  static undead_evidence_map map;
  const undead_layout *base = undead_layout_of(variant->isa);
  uintptr_t key = undead_variant_key(variant->isa, variant->words, variant->count);
  if (!base || base->deciding.count != variant->count || undead_layout_of(key)) return;
  undead_layout *layout = undead_keep(sizeof *layout);
  if (!layout) return;
  *layout = (undead_layout){.isa = base->isa, .kind = base->kind, .category = base->category, .user_type = base->user_type,
                            .deciding = base->deciding};
  compute_variant(variant, layout->kind, &map);
  keep_words(layout, &map);
  undead_word_map_set(&layouts, key, (uintptr_t)layout);
}

void undead_layouts_add_variants(const undead_variant *variants, size_t count) {
  if (!undead_runtime_find()) return;
  for (size_t i = 0; i < count; i++) add_variant(&variants[i]);
}

const undead_layout *undead_layout_in(const undead_layout *layout, uintptr_t block, size_t size) {
  undead_deciding_words deciding = layout->deciding;
  if (size < deciding.offset + deciding.count * 8ul) return layout;
  uintptr_t key = undead_variant_key(layout->isa, (const uintptr_t *)(block + deciding.offset), deciding.count);
  const undead_layout *variant = undead_layout_of(key);
  return variant && variant->isa == layout->isa ? variant : layout;
}

const undead_layout *undead_layout_of(uintptr_t isa) {
  uintptr_t layout;
  return isa && undead_word_map_get(&layouts, isa, &layout) ? (const undead_layout *)layout : NULL;
}
