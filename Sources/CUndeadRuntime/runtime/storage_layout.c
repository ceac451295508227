// Which part of the storage of a collection its elements use: the rest holds what the memory held before.
#include "runtime/abi.h"
#include "runtime/layout.h"
#include "runtime/memory_reader.h"
#include "runtime/types.h"

static uint32_t stride_of(uintptr_t arguments, uint32_t index, uint32_t *align_mask) {
  size_t size, stride;
  uint32_t flags;
  if (!undead_type_layout(read_word(arguments + index * 8ul), &size, &stride, &flags) || stride > UINT32_MAX) return 0;
  *align_mask = flags & ABI_WITNESS_ALIGN_MASK;
  return (uint32_t)stride;
}

void undead_storage_layout_learn(undead_layout *layout) {
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
    layout->first_element = (ABI_ARRAY_ELEMENTS + align_mask) & ~align_mask;   // of an array
  }
}
