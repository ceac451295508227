// Types of captures are those of SIL, which the runtime only partly knows: it builds no lowered functions and no boxes, takes
// thin metatypes for thick ones, and ends the program if it is asked for some types of generic parameters. So the sizes that a
// name alone decides are read off the name here, from its end: mangled names are postfix (docs/ABI/Mangling.rst, ASTMangler.cpp).
// What is not certain is not sized. Called by the scan's thread and by threads of the program (memory_reader.h).
#include "runtime/captures/captures.h"
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"

enum { WORD = 8, MOST_OPERATORS = 4 };

// The first bytes of a name, up to the end of one of its elements.
typedef struct {
  const char *text;
  size_t length;
} name_part;

static size_t element_bytes(name_part part, size_t at) {
  size_t reference = undead_reference_bytes((uint8_t)part.text[at]);
  return reference ? reference : 1;
}

// True if the last elements are these operators, and no part of a reference.
static bool ends_with(name_part part, const char *operators) {
  size_t count = strlen(operators), at = 0;
  char last[MOST_OPERATORS] = {0};
  for (; at < part.length; at += element_bytes(part, at)) {
    memmove(last, last + 1, MOST_OPERATORS - 1);
    last[MOST_OPERATORS - 1] = undead_reference_bytes((uint8_t)part.text[at]) ? 0 : part.text[at];
  }
  return at == part.length && count < part.length && !memcmp(last + MOST_OPERATORS - count, operators, count);
}

static name_part without(name_part part, size_t bytes) { return (name_part){part.text, part.length - bytes}; }

// A reference or function that is nil lies in as many bytes: it has values that no object and no code has.
static name_part without_optionals(name_part part) {
  while (ends_with(part, "Sg")) part = without(part, 2);
  return part;
}

static undead_mangled mangled_of(name_part part) {
  return (undead_mangled){.address = (uintptr_t)part.text, .length = part.length};
}

static uint32_t kind_of_reference(name_part part) {
  undead_mangled name = mangled_of(part);
  return undead_descriptor_kind(undead_mangled_context(&name));
}

// Bytes of the name of a protocol at the start, 0 if there is none. One without a descriptor, such as Sendable, has no
// witness table, and the compiler leaves it out.
static size_t protocol_bytes(name_part part) {
  if (part.length < 2) return 0;
  if (undead_reference_bytes((uint8_t)part.text[0])) return kind_of_reference(part) == ABI_CONTEXT_PROTOCOL ? 5 : 0;
  // Those with a short name (StandardTypesMangling.def).
  if (part.text[0] != 'S') return 0;
  if (part.text[1] == 'c') return part.length > 2 && strchr("AFfhIi", part.text[2]) ? 3 : 0;
  return strchr("BEeFGHjKkLlMmQTtUXxYyZz", part.text[1]) ? 2 : 0;
}

// The list of protocols at the start, "P_QR" or "y" for none: what follows it. False if there is none.
static bool skip_protocols(name_part part, name_part *rest, uint32_t *count) {
  *count = 0;
  if (part.length > 1 && part.text[0] == 'y') {
    *rest = (name_part){part.text + 1, part.length - 1};
    return true;
  }
  for (size_t bytes; (bytes = protocol_bytes(part)); ++*count) {
    if (*count == 0 && (bytes >= part.length || part.text[bytes++] != '_')) return false;
    part = (name_part){part.text + bytes, part.length - bytes};
  }
  *rest = part;
  return *count > 0;
}

static bool part_is(name_part part, const char *text) {
  return part.length == strlen(text) && !memcmp(part.text, text, part.length);
}

static bool names_class(name_part part) {
  if (ends_with(part, "C")) return true;
  if (part.length < 5 || kind_of_reference(part) != ABI_CONTEXT_CLASS) return false;
  return part.length == 5 || (part.text[5] == 'y' && ends_with(part, "G"));
}

// A generic parameter, a member of one, or the type of `self`.
static bool is_parameter(name_part part) {
  if (part_is(part, "x") || ends_with(part, "Qz") || ends_with(part, "QZ") || ends_with(part, "Qy_")) return true;
  if (ends_with(part, "XD")) return true;
  return part.length > 1 && part.text[0] == 'q' && strspn(part.text, "qd0123456789_") == part.length
    && part.text[part.length - 1] == '_';
}

// Of `any P<X>`: its shape says how many witness tables a value has (Metadata.h: TargetExtendedExistentialTypeShape).
static uint32_t size_by_shape(name_part part, bool strong) {
  uint8_t kind = (uint8_t)part.text[0];
  uintptr_t shape = part.length > 5 ? read_relative((uintptr_t)part.text + 1) : 0;
  if (kind != ABI_SYMBOLIC_EXISTENTIAL_SHAPE && kind != ABI_SYMBOLIC_NONUNIQUE_EXISTENTIAL_SHAPE) return 0;
  if (shape && kind == ABI_SYMBOLIC_NONUNIQUE_EXISTENTIAL_SHAPE) shape += ABI_NONUNIQUE_SHAPE;
  uint32_t counts[2];
  if (!shape || !read_bytes(shape + ABI_SHAPE_PARAMETERS, counts, sizeof counts)) return 0;
  uint32_t parameters = counts[0] & 0xFFFF, arguments = counts[1] & 0xFFFF;
  if (arguments < parameters || arguments - parameters > UNDEAD_MOST_PROTOCOLS) return 0;
  uint32_t tables = arguments - parameters;
  uint32_t form = read_u32(shape) & ABI_SHAPE_KIND_MASK;
  if (form == ABI_SHAPE_CLASS) return WORD * (1 + tables);
  if (form == ABI_SHAPE_METATYPE) return strong ? WORD * (1 + tables) : 0;
  return form == ABI_SHAPE_OPAQUE && strong ? ABI_EXISTENTIAL_BUFFER_BYTES + WORD * (1 + tables) : 0;
}

// Bytes of a reference to an object of this type, 0 if they are not known. Only objects are referred to weakly; a strong value of
// a protocol's type or of a generic parameter may be anything.
static uint32_t size_of_reference(name_part part, bool strong) {
  part = without_optionals(part);
  uint32_t protocols;
  name_part rest;
  if (names_class(part) || part_is(part, "Bo")) return WORD;
  if (!strong && is_parameter(part)) return WORD;
  if (ends_with(part, "Xj")) return size_by_shape(part, strong);
  if (!skip_protocols(part, &rest, &protocols) || protocols > UNDEAD_MOST_PROTOCOLS) return 0;
  bool objects = part_is(rest, "Xl") || (!strong && protocols && part_is(rest, "p"));
  if (!objects && ends_with(rest, "Xc")) objects = names_class(without(rest, 2));
  return objects ? WORD * (1 + protocols) : 0;
}

// Of a metatype, as SIL lowers it: a thin one is nothing, since there is only one value.
static bool size_of_metatype(name_part part, uint32_t *size) {
  uint32_t protocols;
  name_part rest;
  *size = 0;
  if (ends_with(part, "XMt")) return true;
  *size = WORD;
  part = without_optionals(part);
  if (ends_with(part, "XMT") || ends_with(part, "XMo")) return true;
  if (!ends_with(part, "XmT") || !skip_protocols(part, &rest, &protocols) || !part_is(rest, "pXmT")) return false;
  *size = WORD * (1 + protocols);
  return true;
}

// Attributes of a lowered function type ("Ieg_": I, attributes, _), NULL if the name is not of one.
static const char *lowered_function(name_part part) {
  if (!ends_with(part, "_")) return NULL;
  size_t attributes = 0;
  for (size_t at = 0; at + 1 < part.length; at += element_bytes(part, at)) {
    char element = part.text[at];
    bool letter = (element >= 'a' && element <= 'z') || (element >= 'A' && element <= 'Z');
    if (element == 'I') attributes = at + 1;
    else if (!letter) attributes = 0;
  }
  return attributes ? part.text + attributes : NULL;
}

// Callee convention, then the representation: Swift functions have a context, all others are one word. In this order:
// FUNC-ATTRIBUTES in docs/ABI/Mangling.rst.
static bool add_function_form(undead_capture_form *form, const char *attributes) {
  if (*attributes == 's') attributes++;
  if (*attributes == 'P') attributes++;
  form->escapes = *attributes == 'e';
  if (form->escapes) attributes++;
  if (*attributes == 'A') attributes++;
  // A differentiable function is several.
  if (!*attributes || !strchr("gxyt", *attributes)) return false;
  bool thin = *attributes++ == 't';
  thin |= *attributes && strchr("BCMJKW", *attributes);
  form->kind = thin ? UNDEAD_FORM_CODE : UNDEAD_FORM_FUNCTION;
  form->size = thin ? WORD : 2 * WORD;
  return true;
}

// Some type within is a thin metatype or a lowered function, whose size the runtime gets wrong or does not know.
static bool has_lowered_part(name_part part) {
  static const char thin[] = "XMt";
  size_t matched = 0;
  for (size_t at = 0; at < part.length; at += element_bytes(part, at)) {
    if (undead_reference_bytes((uint8_t)part.text[at])) matched = 0;
    else matched = part.text[at] == thin[matched] ? matched + 1 : part.text[at] == thin[0];
    if (matched == sizeof thin - 1) return true;
  }
  return false;
}

undead_capture_form undead_capture_form_of(const undead_mangled *name) {
  undead_capture_form form = {0};
  name_part part = {(const char *)name->address, name->length};
  if (!part.length) return form;
  undead_ownership ownership = undead_mangled_ownership(name);
  form.optional = ownership == UNDEAD_STRONG && ends_with(part, "Sg");
  const char *attributes = lowered_function(without_optionals(part));
  if (name->operators[0] == 'X' && name->operators[1] && strchr("bxX", name->operators[1])) {
    form.kind = UNDEAD_FORM_BOX;
    form.size = WORD;
  } else if (attributes) {
    form.unlike_type = true;
    form.sized = add_function_form(&form, attributes);
    return form;
  } else if (ownership != UNDEAD_STRONG) {
    form.kind = UNDEAD_FORM_REFERENCE;
    form.size = size_of_reference(without(part, 2), false);
  } else if (undead_mangled_is_one_object(name)) {
    form.kind = UNDEAD_FORM_REFERENCE;
    form.size = WORD;
  } else if (size_of_metatype(part, &form.size)) {
    form.sized = true;
    form.unlike_type = form.size == 0;
    return form;
  } else {
    form.size = size_of_reference(part, true);
  }
  form.unlike_type = has_lowered_part(part) && form.kind != UNDEAD_FORM_BOX;
  form.sized = form.size != 0;
  return form;
}
