// What a closure knows weakly, asked on the program's thread before it is called. Its caller keeps the closure, the closure its
// captures: what is read lies in these contexts, in their metadata and in the images of types, at places that captures.c
// derives, and the kernel is asked for each page first. Whatever else a closure captures, it is not looked at.
#include "undead_objects.h"
#include "platform/memory/readable.h"
#include "runtime/abi.h"
#include "runtime/captures/captures.h"
#include "runtime/metadata/memory_reader.h"

// Exported by the runtime (include/swift/Runtime/HeapObject.h). Weak: not every program has it.
extern void *swift_weakLoadStrong(void *reference) __attribute__((weak));
extern void swift_release(void *object) __attribute__((weak));

enum { MAX_DEPTH = 4, MAX_TYPES = 32, MAX_PARENTS = 16 };

typedef struct {
  uint32_t gone, others;    // weak references to what has died, and captures of any other kind
  uintptr_t type;           // descriptor of the type of one of the former
  void *alive;              // an object that was found and retained
} finding;

static void look_at_weak(uintptr_t reference, const undead_mangled *name, finding *found) {
  bool is_set = read_word(reference) != 0;
  found->alive = is_set ? swift_weakLoadStrong((void *)reference) : NULL;
  // A reference that is nil was never set, or the program took it back.
  if (found->alive || !is_set) {
    found->others++;
  } else {
    found->gone++;
    found->type = undead_mangled_context(name);
  }
}

static void look_into(uintptr_t context, int depth, finding *found) {
  uintptr_t isa = context ? read_word(context) : 0;
  undead_capture_list captures;
  bool known = isa && read_word(isa) == ABI_KIND_HEAP_LOCAL_VARIABLE && undead_capture_list_of(isa, &captures);
  if (!known || depth == MAX_DEPTH || captures.types == 0 || captures.types > MAX_TYPES) {
    found->others++;
    return;
  }
  // The names of all that are passed say how large they are, in words.
  uintptr_t place = context + captures.first + captures.bindings * 8ul;
  for (uint32_t i = 0; i < captures.types && !found->others; i++) {
    undead_mangled name = undead_capture_name(&captures, i);
    undead_capture_form form = undead_capture_form_of(&name);
    bool weak = form.sized && form.kind == UNDEAD_FORM_REFERENCE && undead_mangled_ownership(&name) == UNDEAD_WEAK;
    if (weak && undead_is_readable(place, form.size)) look_at_weak(place, &name, found);
    else if (form.kind == UNDEAD_FORM_BOX) look_into(read_word(place), depth + 1, found);
    else if (form.kind == UNDEAD_FORM_FUNCTION && form.escapes) look_into(read_word(place + 8), depth + 1, found);
    else found->others++;
    place += form.size;
  }
}

static void add(char *text, size_t size, const char *more) {
  size_t length = strlen(text), bytes = strlen(more);
  if (length + bytes + 1 <= size) memcpy(text + length, more, bytes + 1);
}

// "Module.Outer.Name", as far as it fits.
static void add_type_path(char *text, size_t size, uintptr_t descriptor) {
  uintptr_t parents[MAX_PARENTS];
  uint32_t count = 0;
  while (descriptor && count < MAX_PARENTS && undead_descriptor_kind(descriptor) != UINT32_MAX) {
    parents[count++] = descriptor;
    if (undead_descriptor_kind(descriptor) == ABI_CONTEXT_MODULE) break;
    descriptor = read_relative_indirectable(descriptor + ABI_DESCRIPTOR_PARENT);
  }
  while (count > 0) {
    const char *name = undead_descriptor_name(parents[--count]);
    if (!*name) continue;
    if (*text) add(text, size, ".");
    add(text, size, name);
  }
}

bool undead_closure_knows_only_dead(const void *context, char *type, size_t size) {
  finding found = {0};
  if (!swift_weakLoadStrong || !swift_release || size == 0) return false;
  type[0] = 0;
  undead_ask_kernel_begin();
  look_into((uintptr_t)context, 0, &found);
  bool only_dead = !found.others && found.gone;
  if (only_dead) add_type_path(type, size, found.type);
  undead_ask_kernel_end();
  // It may be the last reference: what the program does then, down to another closure that is asked about, comes after all this.
  if (found.alive) swift_release(found.alive);
  return only_dead;
}
