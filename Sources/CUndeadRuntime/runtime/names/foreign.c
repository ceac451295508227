// Names of objects that Swift does not know: of CoreFoundation, libdispatch, and blocks of C. By the symbol that the first word
// refers to.
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/names/naming.h"
#include "runtime/runtime.h"
#include "platform/system/text.h"

enum { MAX_CF_TYPE_ID = 1024 };

static const char *name_of_cf_object(const undead_node *node) {
  uintptr_t info;
  const undead_layout *layout = undead_layout_of(node->isa);
  if (!layout || layout->category != UNDEAD_CATEGORY_CF || !undead_runtime.cf_class) return NULL;
  if (!undead_copy_memory(node->address + ABI_CF_INFO, &info, sizeof info)) return NULL;
  uintptr_t type_id = info >> ABI_CF_TYPE_SHIFT & ABI_CF_TYPE_MASK;
  if (type_id == 0 || type_id > MAX_CF_TYPE_ID) return NULL;
  uintptr_t description = (uintptr_t)undead_runtime.cf_class(type_id);
  return description ? read_text(read_word(description + ABI_CF_CLASS_NAME), 256) : NULL;
}

// "__OS_dispatch_queue_serial_vtable" -> "dispatch queue serial".
static void add_vtable_name(undead_text *text, const char *symbol) {
  const char *name = symbol + strlen("__OS_");
  size_t length = strlen(name) - strlen("_vtable");
  for (size_t i = 0; i < length; i++) undead_text_add_bytes(text, name[i] == '_' ? " " : &name[i], 1);
}

static bool add_dispatch_name(undead_text *text, uintptr_t first_word) {
  const undead_module *module = undead_module_of(first_word);
  if (!module || !(strstr(module->path, "libdispatch.") || module == undead_module_at(0))) return false;
  uintptr_t start;
  const char *symbol = undead_symbol_name(first_word, &start);
  size_t length = strlen(symbol);
  if (undead_starts_with(symbol, "__OS_dispatch_") && length > 20 && !strcmp(symbol + length - 7, "_vtable"))
    add_vtable_name(text, symbol);
  else if (undead_starts_with(symbol, "_dispatch_source_type_")) undead_text_add(text, "dispatch source refs");
  else if (undead_starts_with(symbol, "_dispatch_continuation_vtables")) undead_text_add(text, "dispatch continuation");
  else return false;
  return true;
}

// The memory of a source on a descriptor or signal starts with its link in the list of all that wait for the same.
static bool is_linked_unote(const undead_node *node) {
  uintptr_t word, start;
  if (node->size < ABI_UNOTE_LINKAGE_BYTES + ABI_SOURCE_HANDLERS) return false;
  if (!undead_copy_memory(node->address + ABI_UNOTE_LINKAGE_BYTES, &word, sizeof word)) return false;
  return undead_module_of(word) && undead_starts_with(undead_symbol_name(word, &start), "_dispatch_source_type_");
}

bool undead_is_block(const undead_node *node) {
  uintptr_t start;
  return undead_module_of(node->isa) && !strcmp(undead_symbol_name(node->isa, &start), "_NSConcreteMallocBlock");
}

bool undead_add_foreign_name(undead_text *text, const undead_node *node) {
  const char *cf_name = name_of_cf_object(node);
  if (cf_name) {
    undead_text_add(text, cf_name);
    return true;
  }
  if (node->kind != UNDEAD_KIND_OTHER) return false;
  if (is_linked_unote(node)) {
    undead_text_add(text, "dispatch source refs");
    return true;
  }
  if (!node->isa) return false;
  if (node->isa == undead_runtime.slab_isa) {
    undead_text_add(text, "async frames");
    return true;
  }
  if (node->isa == UNDEAD_MISUSE_MESSAGE) {
    undead_text_add(text, "messages about dropped continuations");
    return true;
  }
  if (add_dispatch_name(text, node->isa)) return true;
  if (!undead_is_block(node)) return false;
  undead_text_add(text, "C block");
  return true;
}

bool undead_name_foreign_edge(const undead_node *node, undead_text *label, uint32_t offset) {
  char name[64];
  undead_text text = undead_text_in(name, sizeof name);
  if (!undead_add_foreign_name(&text, node)) return false;
  if (!strcmp(name, "dispatch source") && offset == ABI_SOURCE_REFS) {
    undead_text_add(label, "refs");
    return true;
  }
  bool linked = is_linked_unote(node);
  if (linked) offset -= ABI_UNOTE_LINKAGE_BYTES;
  if (linked || !strcmp(name, "dispatch source refs")) {
    if (offset - ABI_SOURCE_HANDLERS > 8u || offset % 8) return false;
    undead_text_add(label, offset == ABI_SOURCE_HANDLERS ? "event handler" : "cancel handler");
    return true;
  }
  if (strcmp(name, "CFRunLoopTimer") || offset != ABI_CF_TIMER_INFO) return false;
  undead_text_add(label, "context.info");
  return true;
}
