#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// What a closure knows weakly, asked while it is being called: its metadata is in use, and can be trusted.
#include "undead_objects.h"
#include "platform/words.h"
#include "runtime/abi.h"
#include <string.h>

// Exported by the runtime (include/swift/Runtime/HeapObject.h). Weak: not every program has it.
extern void *swift_weakLoadStrong(void *reference) __attribute__((weak));
extern void swift_release(void *object) __attribute__((weak));

enum { MAX_DEPTH = 4, MAX_TYPES = 32, MAX_PARENTS = 16 };

typedef struct {
  uint32_t gone, others;    // weak references to what has died, and captures of any other kind
  uintptr_t type;           // descriptor of the type of one of the former
} finding;

typedef struct {
  const uint8_t *first;     // after a symbolic reference at its beginning
  uintptr_t context;        // where that leads to, 0 if there is none
  char last[3];
} capture_name;

static uintptr_t relative_at(uintptr_t address) {
  int32_t distance;
  memcpy(&distance, (const void *)address, sizeof distance);
  return distance ? address + (uintptr_t)(intptr_t)distance : 0;
}

// Bytes of an element of a mangled name.
static uintptr_t element_bytes(uint8_t byte) {
  if (byte > ABI_SYMBOLIC_LAST) return 1;
  return byte > ABI_SYMBOLIC_RELATIVE_LAST ? 9 : 5;
}

static capture_name read_name(uintptr_t address) {
  capture_name name = {.first = (const uint8_t *)address};
  if (*name.first == ABI_SYMBOLIC_DIRECT_CONTEXT) name.context = relative_at(address + 1);
  if (*name.first == ABI_SYMBOLIC_INDIRECT_CONTEXT) name.context = word_at(relative_at(address + 1));
  if (name.context) name.first += element_bytes(*name.first);
  for (const uint8_t *byte = name.first; *byte; byte += element_bytes(*byte)) {
    name.last[0] = name.last[1];
    name.last[1] = (char)*byte;
  }
  return name;
}

static void look_at_weak(uintptr_t reference, const capture_name *name, finding *found) {
  void *object = word_at(reference) ? swift_weakLoadStrong((void *)reference) : NULL;
  if (object) swift_release(object);
  // A reference that is nil was never set, or the program took it back.
  if (object || !word_at(reference)) {
    found->others++;
  } else {
    found->gone++;
    found->type = name->context;
  }
}

static void look_into(uintptr_t context, int depth, finding *found) {
  uintptr_t isa = context ? word_at(context) : 0;
  uintptr_t captures = isa && word_at(isa) == ABI_KIND_HEAP_LOCAL_VARIABLE ? word_at(isa + ABI_CONTEXT_CAPTURES) : 0;
  uint32_t types = captures ? u32_at(captures + ABI_CAPTURES_TYPE_COUNT) : 0;
  if (depth == MAX_DEPTH || types == 0 || types > MAX_TYPES) {
    found->others++;
    return;
  }
  // All that are looked at are pointers; behind one that is not, the places would not be known.
  uintptr_t bindings = u32_at(captures + ABI_CAPTURES_BINDING_COUNT);
  uintptr_t place = context + u32_at(isa + ABI_CONTEXT_FIRST_CAPTURE) + bindings * 8;
  for (uint32_t i = 0; i < types && !found->others; i++, place += 8) {
    capture_name name = read_name(relative_at(captures + ABI_CAPTURES_TYPES + 4ul * i));
    bool box = name.last[0] == 'X' && name.last[1] && strchr("bxX", name.last[1]);
    // A reference to an existential is followed by its witness tables.
    bool one_word = name.context && (u32_at(name.context) & ABI_CONTEXT_KIND_MASK) == ABI_CONTEXT_CLASS;
    if (!strcmp(name.last, "Xw") && (types == 1 || one_word)) look_at_weak(place, &name, found);
    else if (box) look_into(word_at(place), depth + 1, found);
    else if (name.last[1] == '_' && types == 1) look_into(word_at(place + 8), depth + 1, found);   // a Swift function
    else found->others++;
  }
}

static void add(char *text, size_t size, const char *more) {
  size_t length = strlen(text), bytes = strlen(more);
  if (length + bytes + 1 <= size) memcpy(text + length, more, bytes + 1);
}

// "Module.Outer.Name", as far as it fits.
static void add_type(char *text, size_t size, uintptr_t descriptor) {
  uintptr_t parents[MAX_PARENTS];
  uint32_t count = 0;
  while (descriptor && count < MAX_PARENTS) {
    parents[count++] = descriptor;
    if ((u32_at(descriptor) & ABI_CONTEXT_KIND_MASK) == ABI_CONTEXT_MODULE) break;
    uintptr_t parent = relative_at(descriptor + ABI_DESCRIPTOR_PARENT);
    descriptor = parent & 1 ? word_at(parent & ~(uintptr_t)1) : parent;
  }
  while (count > 0) {
    uintptr_t context = parents[--count];
    uint32_t kind = u32_at(context) & ABI_CONTEXT_KIND_MASK;
    if (kind != ABI_CONTEXT_MODULE && kind != ABI_CONTEXT_PROTOCOL && kind < ABI_CONTEXT_CLASS) continue;
    if (*text) add(text, size, ".");
    add(text, size, (const char *)relative_at(context + ABI_DESCRIPTOR_NAME));
  }
}

bool undead_closure_knows_only_dead(const void *context, char *type, size_t size) {
  finding found = {0};
  if (!swift_weakLoadStrong || !swift_release || size == 0) return false;
  look_into((uintptr_t)context, 0, &found);
  if (found.others || !found.gone) return false;
  type[0] = 0;
  add_type(type, size, found.type);
  return true;
}
#endif
