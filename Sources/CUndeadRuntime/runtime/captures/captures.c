// The one reader of what closures capture: the list of captures in the context's metadata, and where each lies in the context.
// The scan and the names ask for fields, with types from the runtime. A thread of the program (weak_captures.c) asks for the list
// and decides by the forms of the names alone. Nothing is read that was not proved to be readable (memory_reader.h), and no offset
// is guessed.
#include "runtime/captures/captures.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "platform/system/read_text.h"
#include "platform/memory/spread.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/layout.h"
#include "runtime/runtime.h"
#include <stdlib.h>

enum { MAX_CAPTURES = 1024, MAX_PARAMETERS = 32, MAX_LEVELS = 8, MAX_BINDINGS = 64, MAX_FIRST_OFFSET = 4096 };

static const undead_fields no_captures;

bool undead_capture_list_of(uintptr_t isa, undead_capture_list *list) {
  undead_capture_list captures = {.address = read_word(isa + ABI_CONTEXT_CAPTURES)};
  *list = (undead_capture_list){0};
  if (!captures.address) return false;
  captures.types = read_u32(captures.address + ABI_CAPTURES_TYPE_COUNT);
  captures.sources = read_u32(captures.address + ABI_CAPTURES_SOURCE_COUNT);
  captures.bindings = read_u32(captures.address + ABI_CAPTURES_BINDING_COUNT);
  captures.first = read_u32(isa + ABI_CONTEXT_FIRST_CAPTURE);
  // The compiler writes 0 if it does not know how the first one is aligned: it then follows the header (GenHeap.cpp).
  if (captures.first == 0) captures.first = ABI_OBJECT_HEADER;
  bool sane = captures.types <= MAX_CAPTURES && captures.sources <= MAX_CAPTURES && captures.bindings <= MAX_CAPTURES
    && captures.first >= ABI_OBJECT_HEADER && captures.first <= MAX_FIRST_OFFSET
    && undead_is_readable(captures.address + ABI_CAPTURES_TYPES, captures.types * 4ul + captures.sources * 8ul);
  if (sane) *list = captures;
  return sane;
}

undead_mangled undead_capture_name(const undead_capture_list *captures, uint32_t index) {
  return undead_mangled_at(read_relative(captures->address + ABI_CAPTURES_TYPES + index * 4ul));
}

// A function that lives as long as its context, code and context; or an optional of one.
static undead_simple simple_of_form(const undead_capture_form *form, uint32_t *size) {
  if (form->kind != UNDEAD_FORM_FUNCTION || !form->sized || !form->escapes) return UNDEAD_SIMPLE_NOT;
  *size = form->size;
  return form->optional ? UNDEAD_SIMPLE_FUNCTION_OR_NIL : UNDEAD_SIMPLE_FUNCTION;
}

// TargetGenericEnvironment (GenericContext.h) for parameters that all have a metadata argument.
typedef struct {
  uint32_t levels;                     // GenericEnvironmentFlags: no requirements
  uint16_t data[MAX_LEVELS + MAX_PARAMETERS];   // cumulative counts, then a byte for each parameter
} generic_environment;

typedef struct {
  generic_environment environment;
  const void *arguments[MAX_PARAMETERS];
  uint32_t count;              // of them
  const undead_capture_list *captures;
  const uintptr_t *bindings;   // as they are in the context
} substitution;

static void describe_parameters(generic_environment *environment, uint32_t levels, uint32_t total) {
  memset(&environment->data[levels], ABI_GENERIC_PARAMETER_KEY_TYPE, total);
}

// Depth and index of a generic parameter: "x" (0, 0), "q_" (0, 1), "q0_" (0, 2), "qd__" (1, 0), "qd0_1_" (2, 3). What follows it,
// NULL if there is none.
static const char *parse_parameter(const char *text, uint32_t *depth, uint32_t *index) {
  *depth = *index = 0;
  if (*text == 'x') return text + 1;
  if (*text++ != 'q') return NULL;
  bool nested = *text == 'd';
  if (nested) {
    text++;
    *depth = *text == '_' ? 1 : (uint32_t)undead_read_number(text, 10, NULL) + 2;
    text = strchr(text, '_');
    if (!text++) return NULL;
  }
  if (*text != '_' && (*text < '0' || *text > '9')) return NULL;
  *index = (*text == '_' ? 0 : (uint32_t)undead_read_number(text, 10, NULL) + 1) + !nested;
  text = strchr(text, '_');
  return text && *depth < MAX_LEVELS && *index < MAX_PARAMETERS ? text + 1 : NULL;
}

// Fills in the generic arguments from the bindings at the head of a context, of which `bindings` are those that are types. False if the
// runtime could not be asked for a type with some of them.
static bool read_substitution(substitution *result, const undead_capture_list *captures, const uintptr_t *bindings) {
  const void *argument[MAX_LEVELS][MAX_PARAMETERS] = {{0}};
  uint32_t counts[MAX_LEVELS] = {0}, levels = 0, total = 0;
  for (uint32_t i = 0; i < captures->sources; i++) {
    uintptr_t pair = captures->address + ABI_CAPTURES_TYPES + captures->types * 4ul + i * 8ul;
    const char *parameter = read_text(read_relative(pair), 32), *source = read_text(read_relative(pair + 4), 32);
    uint32_t depth, index;
    if (!parameter || !source || source[0] != 'B') continue;
    // Packs and their shapes are no types.
    const char *end = parse_parameter(parameter, &depth, &index);
    if (!end || *end) continue;
    uint64_t binding = undead_read_number(source + 1, 10, NULL);
    if (binding >= captures->bindings || undead_type_kind(bindings[binding]) == UINT32_MAX) continue;
    argument[depth][index] = (const void *)bindings[binding];
    if (depth >= levels) levels = depth + 1;
    if (index >= counts[depth]) counts[depth] = index + 1;
  }
  memset(result, 0, sizeof *result);
  result->environment.levels = levels;
  for (uint32_t depth = 0; depth < levels; depth++) {
    for (uint32_t index = 0; index < counts[depth]; index++, total++) {
      // The runtime has no way to describe a hole.
      if (!argument[depth][index] || total == MAX_PARAMETERS) return false;
      result->arguments[total] = argument[depth][index];
    }
    result->environment.data[depth] = (uint16_t)total;
  }
  describe_parameters(&result->environment, levels, total);
  result->count = total;
  return true;
}

static bool is_known_parameter(const char *text, const substitution *generic) {
  uint32_t depth, index;
  if (!generic || !parse_parameter(text, &depth, &index) || depth >= generic->environment.levels) return false;
  return index < generic->environment.data[depth] - (depth ? generic->environment.data[depth - 1] : 0u);
}

// A symbolic reference to the shape of `any P<X>.Type`. The runtime makes a type of it that it cannot name (Swift 6.3).
static bool is_shape_of_metatype(const char *text) {
  uintptr_t shape = read_relative((uintptr_t)text + 1);
  if (shape && *text == ABI_SYMBOLIC_NONUNIQUE_EXISTENTIAL_SHAPE) shape += ABI_NONUNIQUE_SHAPE;
  return (read_u32(shape) & ABI_SHAPE_KIND_MASK) == ABI_SHAPE_METATYPE;
}

// The runtime aborts, or makes types of nothing, if it is asked for a name with parameters that it does not know, with
// a member type or a pack of a parameter ("Q"), with an accessor that expects arguments, or for any P<X> of a parameter. An
// identifier that looks like one of these costs the name of a type, nothing else.
static bool can_be_asked(const undead_mangled *name, const substitution *generic, bool *has_parameter) {
  const char *text = (const char *)name->address;
  bool has_shape = false, has_pack = false;
  *has_parameter = false;
  for (size_t i = 0; i < name->length;) {
    size_t reference = undead_reference_bytes((uint8_t)text[i]);
    if ((text[i] == 'Q' && text[i + 1] != 'P') || text[i] == ABI_SYMBOLIC_ACCESSOR) return false;
    has_pack |= text[i] == 'Q';
    if ((text[i] == 'x' || text[i] == 'q') && !is_known_parameter(text + i, generic)) return false;
    *has_parameter |= text[i] == 'x' || text[i] == 'q';
    bool shape = text[i] == ABI_SYMBOLIC_EXISTENTIAL_SHAPE || text[i] == ABI_SYMBOLIC_NONUNIQUE_EXISTENTIAL_SHAPE;
    if (shape && is_shape_of_metatype(text + i)) return false;
    has_shape |= shape;
    i += reference ? reference : 1;
  }
  return !(has_shape || has_pack) || !*has_parameter;
}

static uintptr_t type_of_capture(const undead_mangled *name, const substitution *generic) {
  bool has_parameter;
  uintptr_t pack = generic && generic->bindings ? undead_tuple_of_pack(generic->captures, name, generic->bindings) : 0;
  if (pack) return pack;
  if (!can_be_asked(name, generic && generic->count ? generic : NULL, &has_parameter)) return 0;
  if (!has_parameter) return undead_type_of_name(name, 0, 0);
  if (!undead_runtime.type_in_environment) return 0;
  uintptr_t type = (uintptr_t)undead_runtime.type_in_environment(
    (const char *)name->address, name->length, &generic->environment, generic->arguments);
  return undead_type_is_readable(type) ? type : 0;
}

uintptr_t undead_capture_of_parameter(uintptr_t type) {
  substitution one = {.environment = {.levels = 1, .data = {1}}, .arguments = {(const void *)type}, .count = 1};
  describe_parameters(&one.environment, 1, 1);
  undead_mangled name = {.address = (uintptr_t)"x", .length = 1};
  return type_of_capture(&name, &one);
}

// Size and alignment of a capture: by the form of its name, or by its type where the two cannot differ. False if they are not
// known, or the two contradict each other.
static bool measure(const undead_field *field, const undead_capture_form *form, size_t *size, size_t *align) {
  size_t of_type, stride;
  uint32_t flags = 0;
  bool typed = !form->unlike_type && field->type && undead_type_layout(field->type, &of_type, &stride, &flags);
  if (form->sized) {
    *size = form->size;
    *align = undead_form_align_mask(form);
    return !typed || of_type == form->size;
  }
  *size = typed ? of_type : 0;
  *align = flags & ABI_WITNESS_ALIGN_MASK;
  return typed;
}

static void read_capture(undead_field *field, const undead_mangled *name, const substitution *generic, bool lazily,
                         size_t *next, bool *certain) {
  undead_capture_form form = undead_capture_form_of(name);
  uint32_t simple_size = 0;
  field->mangled = *name;
  field->ownership = (uint8_t)undead_mangled_ownership(name);
  field->indirect = form.kind == UNDEAD_FORM_BOX;
  field->name = "";
  if (lazily && !field->indirect) {
    undead_simple simple = undead_mangled_simple(name, &simple_size);
    field->simple = (uint8_t)(simple ? simple : simple_of_form(&form, &simple_size));
  }
  bool lowered = field->indirect || form.kind == UNDEAD_FORM_FUNCTION || form.kind == UNDEAD_FORM_CODE;
  if (!field->simple && !lowered) field->type = type_of_capture(name, generic);
  size_t size = simple_size, align = (simple_size < 8 ? simple_size : 8) - 1;
  if (!field->simple && !measure(field, &form, &size, &align)) *certain = false;
  if (*certain) *next = (*next + align) & ~align;
  field->offset = *certain ? (uint32_t)*next : UINT32_MAX;
  field->size = *certain ? (uint32_t)size : 0;
  *next += size;
}

// The compiler lays captures out in order, each aligned for its type (GenHeap.cpp, HeapLayout). What lies behind one of unknown
// size is unknown.
static const undead_fields *read_captures(const undead_capture_list *captures, const substitution *generic, bool lazily) {
  if (!captures->types) return &no_captures;
  undead_fields *fields = undead_new_fields(captures->types);
  size_t next = captures->first + captures->bindings * 8ul;
  bool certain = true;
  for (uint32_t i = 0; fields && i < captures->types; i++) {
    undead_mangled name = undead_capture_name(captures, i);
    read_capture(&fields->field[i], &name, generic, lazily, &next, &certain);
  }
  return fields ? fields : &no_captures;
}

static const undead_fields *find_captures(undead_word_map *known, uintptr_t isa, bool lazily) {
  uintptr_t found;
  if (undead_word_map_get(known, isa, &found)) return (const undead_fields *)found;
  undead_capture_list captures;
  undead_capture_list_of(isa, &captures);
  const undead_fields *fields = read_captures(&captures, NULL, lazily);
  undead_word_map_set(known, isa, (uintptr_t)fields);
  return fields;
}

const undead_fields *undead_captures_of(uintptr_t isa) {
  static undead_word_map known;
  return find_captures(&known, isa, false);
}

const undead_fields *undead_captures_lazily(uintptr_t isa) {
  static undead_word_map known;
  return find_captures(&known, isa, true);
}

const undead_fields *undead_captures_with(uintptr_t isa, const uintptr_t *bindings) {
  undead_capture_list captures;
  uintptr_t certain[UNDEAD_MOST_DECIDING] = {0};
  undead_capture_list_of(isa, &captures);
  for (uint32_t i = 0; i < captures.bindings && i < UNDEAD_MOST_DECIDING; i++)
    if (undead_is_certainly_type(bindings[i])) certain[i] = bindings[i];
  substitution generic;
  if (captures.bindings > UNDEAD_MOST_DECIDING || !read_substitution(&generic, &captures, certain))
    return undead_captures_lazily(isa);
  generic.captures = &captures;
  generic.bindings = bindings;
  return read_captures(&captures, &generic, true);
}

const undead_fields *undead_captures_in(uintptr_t isa, uintptr_t address) {
  static undead_word_map known;
  const undead_fields *fields = undead_captures_of(isa);
  undead_capture_list captures;
  undead_capture_list_of(isa, &captures);
  uintptr_t bindings[MAX_BINDINGS], found;
  size_t bytes = captures.bindings * sizeof bindings[0];
  if (!captures.bindings || captures.bindings > MAX_BINDINGS) return fields;
  if (!undead_copy_memory(address + captures.first, bindings, bytes)) return fields;
  uint64_t key = isa;
  for (uint32_t i = 0; i < captures.bindings; i++) key = undead_spread(key ^ bindings[i]);
  if (undead_word_map_get(&known, key | 1, &found)) return (const undead_fields *)found;
  substitution generic;
  if (read_substitution(&generic, &captures, bindings)) {
    generic.captures = &captures;
    generic.bindings = bindings;
    fields = read_captures(&captures, &generic, false);
  }
  undead_word_map_set(&known, key | 1, (uintptr_t)fields);
  return fields;
}
