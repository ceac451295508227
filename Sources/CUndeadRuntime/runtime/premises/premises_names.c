// Premises about mangled names with references in them (Demangler.cpp), shapes of constrained existentials (Metadata.h:
// TargetExtendedExistentialTypeShape) and environments of generic parameters (GenericContext.h). The names and shapes are made here,
// by what those headers say: what the runtime makes of them is compared with what the instrument reads.
#include "runtime/premises/premises_internal.h"
#include "platform/memory/own_data.h"
#include "runtime/captures/captures.h"
#include "runtime/descriptors.h"
#include "runtime/runtime.h"
#include "runtime/types.h"
#include <string.h>

#define LEAKS(holds, what) undead_premise(premises, UNDEAD_PREMISE_LEAKS, holds, what)
#define NAMES(holds, what) undead_premise(premises, UNDEAD_PREMISE_NAMES, holds, what)

// Control characters of references, as the compiler writes them.
enum { INDIRECTLY = 2, BY_FUNCTION = 9, BY_SHAPE = 10, BY_COPY_OF_SHAPE = 11 };

// A reference, and what may follow it. The runtime keeps some of what it is asked: all of this stays.
typedef struct {
  _Alignas(int32_t) char padding[3];
  char kind;
  int32_t distance;
  char rest[8];
} probe_name;

static uintptr_t start_of(const probe_name *name) { return (uintptr_t)&name->kind; }

static void make_name(probe_name *name, char kind, const void *target, const char *rest) {
  *name = (probe_name){.kind = kind, .distance = (int32_t)((intptr_t)target - (intptr_t)&name->distance)};
  memcpy(name->rest, rest, strlen(rest));
}

static uintptr_t ask(const probe_name *name) {
  return (uintptr_t)undead_runtime.type_by_mangled_name(&name->kind, 5 + strlen(name->rest), NULL, NULL);
}

// The last reference of a name, as undead_mangled_at reads it.
static undead_mangled read_name(const probe_name *name) { return undead_mangled_at(start_of(name)); }

static uintptr_t yielded;
static SWIFT_CALL uintptr_t yield_type(const void *const *arguments) {
  (void)arguments;
  return yielded;
}

static void check_references(undead_premises *premises, uintptr_t number) {
  static probe_name indirect, by_function;
  static uintptr_t place;
  place = undead_premise_symbol("$sSiMn");
  make_name(&indirect, INDIRECTLY, &place, "");
  undead_mangled name = read_name(&indirect);
  LEAKS(ask(&indirect) == number && undead_mangled_descriptor(&name) == place, "indirect references in mangled names");
  yielded = number;
  make_name(&by_function, BY_FUNCTION, (const void *)yield_type, "");
  NAMES(ask(&by_function) == number && by_function.kind == ABI_SYMBOLIC_ACCESSOR, "functions in mangled names");
}

// What a shape is made of: special kind, then flags (0x800: its parameters have no records of their own).
typedef struct {
  uint32_t flags;
  int32_t name;
  uint16_t parameters, requirements, arguments, header_flags;
} probe_shape;
typedef struct {
  int32_t cache;
  probe_shape shape;
} probe_copy;

enum { OPAQUE, OF_CLASS, METATYPE, KINDS, IMPLICIT_PARAMETERS = 0x800, TABLES = 2 };

static void make_shape(probe_shape *shape, uint32_t kind) {
  static const char text[] = "6Undead5Probe";
  *shape = (probe_shape){.flags = kind | IMPLICIT_PARAMETERS, .parameters = 1, .arguments = 1 + TABLES};
  shape->name = (int32_t)((intptr_t)text - (intptr_t)&shape->name);
}

static bool has_size_of(uintptr_t type, const probe_name *probe) {
  undead_mangled name = read_name(probe);
  undead_capture_form form = undead_capture_form_of(&name);
  size_t size, stride;
  uint32_t flags;
  return undead_type_is_readable(type) && undead_type_layout(type, &size, &stride, &flags) && form.sized && form.size == size;
}

static void check_shapes(undead_premises *premises) {
  static probe_shape shapes[KINDS];
  static probe_name names[KINDS], copied;
  static probe_copy copy;
  static uintptr_t cache[2];
  for (uint32_t kind = 0; kind < KINDS; kind++) {
    make_shape(&shapes[kind], kind);
    make_name(&names[kind], BY_SHAPE, &shapes[kind], "Xj");
    uintptr_t type = ask(&names[kind]);
    LEAKS(type && undead_type_kind(type) == ABI_KIND_EXTENDED_EXISTENTIAL, "the kind of constrained existentials");
    if (!type) return;
    LEAKS(word_at(type + ABI_EXTENDED_EXISTENTIAL_SHAPE) == (uintptr_t)&shapes[kind], "the shape of a constrained existential");
    LEAKS(has_size_of(type, &names[kind]), "the size of a constrained existential");
    LEAKS(undead_type_is_opaque_existential(type) == (kind == OPAQUE), "which constrained existentials may hold any value");
  }
  make_shape(&copy.shape, OPAQUE);
  copy.cache = (int32_t)((intptr_t)cache - (intptr_t)&copy.cache);
  make_name(&copied, BY_COPY_OF_SHAPE, &copy, "Xj");
  uintptr_t type = ask(&copied);
  LEAKS(type && has_size_of(type, &copied), "copies of shapes in mangled names");
}

void undead_premises_of_names(undead_premises *premises) {
  uintptr_t number = undead_premise_symbol("$sSiN");
  if (!number) return;
  check_references(premises, number);
  check_shapes(premises);
  if (undead_runtime.type_in_environment)
    NAMES(undead_capture_of_parameter(number) == number, "the types of generic parameters");
}
