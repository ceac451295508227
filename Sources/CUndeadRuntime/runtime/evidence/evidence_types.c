// Goes down through a type to its words, and notes for each byte what it may hold: a counted reference, a number, text. What is
// not understood stays raw: it is followed as if it were a reference. The cases of an enum are merged. Called by layouts.c, with
// the world running: the runtime is asked.
#include "runtime/abi.h"
#include "platform/memory/own_data.h"
#include "runtime/captures/captures.h"
#include "runtime/evidence/evidence_internal.h"
#include "runtime/metadata/memory_reader.h"

enum { MAX_DEPTH = 16, MAX_CLASSES = 64, MAX_MERGED = 65536, MAX_EMPTY_CASES = 64, MAX_PROBE = 1024, MAX_CHOICES = 256 };

static void add_type(undead_evidence_map *map, uintptr_t type, size_t base, int depth);

static size_t size_of(uintptr_t type) {
  size_t size, stride;
  uint32_t flags;
  return undead_type_layout(type, &size, &stride, &flags) ? size : 0;
}

// Of the compiler's own types, which have no fields.
static uint8_t evidence_of_builtin(const undead_mangled *mangled) {
  const char *name = (const char *)mangled->address;
  size_t length = mangled->length;
  if (length < 2 || name[0] != 'B') return BYTE_RAW;
  if (length == 2) return name[1] == 'o' ? BYTE_COUNTED /* NativeObject */ : name[1] == 'b' ? BYTE_TEXT /* BridgeObject */
                        : name[1] == 'w' ? BYTE_NUMBER /* Word */ : BYTE_RAW;
  // "Bi64_", "Bf32_", and vectors of them: "Bf32_Bv4_".
  for (size_t i = 0; i < length; i++) {
    if (name[i++] != 'B' || i >= length || !strchr("ifv", name[i])) return BYTE_RAW;
    for (i++; i < length && name[i] >= '0' && name[i] <= '9';) i++;
    if (i >= length || name[i] != '_') return BYTE_RAW;
  }
  return BYTE_NUMBER;
}

static void add_simple(undead_evidence_map *map, const undead_field *field, size_t at) {
  switch ((undead_simple)field->simple) {
  case UNDEAD_SIMPLE_OBJECT: undead_evidence_reference(map, at, BYTE_COUNTED); return;
  case UNDEAD_SIMPLE_NUMBER: undead_evidence_set(map, at, field->size, BYTE_NUMBER); return;
  case UNDEAD_SIMPLE_TEXT:
    undead_evidence_set(map, at, 8, BYTE_NUMBER);
    undead_evidence_reference(map, at + 8, BYTE_TEXT);
    return;
  case UNDEAD_SIMPLE_FUNCTION: undead_evidence_reference(map, at + 8, BYTE_COUNTED); return;
  case UNDEAD_SIMPLE_FUNCTION_OR_NIL: {
    undead_guard no_code = {.guard = (uint32_t)at, .mask = UINT64_MAX};
    undead_evidence_reference(map, at + 8, BYTE_COUNTED);
    undead_evidence_guard_all(map, at, 16, &no_code);
    return;
  }
  case UNDEAD_SIMPLE_NOT: return;
  }
}

static void add_field(undead_evidence_map *map, const undead_field *field, size_t base, int depth) {
  if (field->offset == UINT32_MAX) return;
  size_t at = base + field->offset;
  undead_evidence_set(map, at, field->size, BYTE_RAW);
  if (field->simple) {
    add_simple(map, field, at);
  } else if (field->ownership == UNDEAD_WEAK || field->ownership == UNDEAD_UNOWNED) {
    undead_evidence_reference(map, at, BYTE_NONE);
  } else if (field->indirect) {
    undead_evidence_reference(map, at, BYTE_COUNTED);
  } else if (field->ownership == UNDEAD_STRONG && field->type) {
    uint8_t builtin = evidence_of_builtin(&field->mangled);
    if (builtin == BYTE_RAW) add_type(map, field->type, at, depth + 1);
    else if (builtin == BYTE_NUMBER) undead_evidence_set(map, at, field->size, builtin);
    else undead_evidence_reference(map, at, builtin);
  }
}

static void add_fields(undead_evidence_map *map, const undead_fields *fields, size_t base, int depth) {
  for (uint32_t i = 0; i < fields->count; i++) add_field(map, &fields->field[i], base, depth);
}

// Mutex<Value> keeps the value in raw storage, of a type that cannot be copied.
static void add_mutex(undead_evidence_map *map, uintptr_t type, size_t base, int depth) {
  const undead_fields *fields = undead_fields_lazily(type);
  for (uint32_t i = 0; i < fields->count; i++) {
    const undead_field *field = &fields->field[i];
    if (!strcmp(field->name, "value")) add_type(map, read_word(type + ABI_VALUE_GENERIC_ARGUMENTS), base + field->offset, depth + 1);
  }
}

// Types of the toolchain whose fields do not show what they are.
static bool add_known_struct(undead_evidence_map *map, uintptr_t type, size_t base, int depth) {
  uintptr_t descriptor = read_word(type + ABI_VALUE_DESCRIPTOR);
  const char *name = undead_descriptor_name(descriptor), *module = undead_descriptor_module(descriptor);
  if (!strcmp(module, "Swift")) {
    if (strcmp(name, "ObjectIdentifier")) return false;
    undead_evidence_set(map, base, 8, BYTE_NUMBER);
    return true;
  }
  // C hides references in integers; its unions and bit fields have no records.
  static const char *const plain[] = {"_SwiftArrayBodyStorage", "timespec", "timeval"};
  if (!strcmp(module, "__C")) {
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
      if (!strcmp(name, plain[i])) return false;
    return true;
  }
  if (strcmp(module, "Synchronization")) return false;
  // It owns the object from the first store to its end.
  if (!strcmp(name, "AtomicLazyReference")) undead_evidence_reference(map, base, BYTE_COUNTED);
  // What atomics keep may be a reference, whatever its type.
  if (!strcmp(name, "_Cell")) add_type(map, read_word(type + ABI_VALUE_GENERIC_ARGUMENTS), base, depth + 1);
  if (!strcmp(name, "Mutex")) add_mutex(map, type, base, depth);
  return true;
}

// The address of a slice's first element: its owner is in the word before.
static void refine_slice(undead_evidence_map *map, uintptr_t descriptor, const undead_fields *fields, size_t base) {
  if (!undead_descriptor_is(descriptor, "Swift", "_SliceBuffer")) return;
  for (uint32_t i = 0; i < fields->count; i++)
    if (!strcmp(fields->field[i].name, "subscriptBaseAddress"))
      undead_evidence_set(map, base + fields->field[i].offset, 8, BYTE_NUMBER);
}

static void add_struct(undead_evidence_map *map, uintptr_t type, size_t base, int depth) {
  uintptr_t descriptor = read_word(type + ABI_VALUE_DESCRIPTOR);
  if (undead_descriptor_is_toolchain(descriptor) && add_known_struct(map, type, base, depth)) return;
  uint32_t count = read_u32(descriptor + ABI_STRUCT_DESCRIPTOR_FIELD_COUNT);
  const undead_fields *fields = undead_fields_lazily(type);
  // Raw storage and stripped records: nothing is known.
  if (count == 0 || fields->count != count) return;
  undead_evidence_pad(map, base, size_of(type));
  add_fields(map, fields, base, depth);
  refine_slice(map, descriptor, fields, base);
}

typedef void (*store_tag)(void *value, unsigned which, unsigned empty_cases, const void *type);

// The bytes that are written for case `which` (from 1) of an enum without this payload: the offset of their word, a mask of
// them, and their values in it. False if they are of several words.
static bool probe(uintptr_t type, size_t size, unsigned which, unsigned cases, undead_guard *guard) {
  static _Alignas(64) uint8_t bytes[2][MAX_PROBE + 64];
  uintptr_t store = read_word(read_word(type + ABI_METADATA_VALUE_WITNESSES) + ABI_WITNESS_STORE_TAG);
  if (size > MAX_PROBE || !undead_is_executable(store)) return false;
  for (int i = 0; i < 2; i++) {
    memset(bytes[i], i ? 0xA5 : 0x5A, sizeof bytes[i]);
    ((store_tag)store)(bytes[i], which, cases, (const void *)type);
  }
  *guard = (undead_guard){0};
  size_t first = 0, last = size;
  while (first < size && bytes[0][first] != bytes[1][first]) first++;
  while (last > first && bytes[0][last - 1] != bytes[1][last - 1]) last--;
  if (first == last || first / 8 != (last - 1) / 8) return false;
  guard->guard = (uint32_t)(first & ~7ul);
  for (size_t at = first; at < last; at++)
    if (bytes[0][at] == bytes[1][at]) guard->mask |= 0xFFull << at % 8 * 8;
  uint64_t value;
  memcpy(&value, bytes[0] + guard->guard, 8);
  guard->first = guard->last = value & guard->mask;
  return true;
}

// How an enum with `cases` others says that it has no payload of this type.
static bool find_guard(uintptr_t type, size_t base, uint32_t cases, undead_guard *guard) {
  size_t size = size_of(type);
  uint32_t inhabitants = read_u32(read_word(type + ABI_METADATA_VALUE_WITNESSES) + ABI_WITNESS_EXTRA_INHABITANTS);
  if (base % 8 || cases == 0 || cases > MAX_EMPTY_CASES || cases > inhabitants) return false;
  for (unsigned which = 1; which <= cases; which++) {
    undead_guard other;
    if (!probe(type, size, which, cases, which == 1 ? guard : &other)) return false;
    if (which == 1) continue;
    uint64_t step = guard->mask & -guard->mask;   // of the values of cases that follow one another
    if (other.guard != guard->guard || other.mask != guard->mask || other.first != guard->last + step) return false;
    guard->last = other.last;
  }
  guard->guard += (uint32_t)base;
  return true;
}

static void add_single_payload(undead_evidence_map *map, const undead_field *payload, uint32_t empty_cases, size_t base,
                               int depth) {
  undead_guard guard;
  add_field(map, payload, base, depth);
  // A box has no other word than the one that is null without it.
  if (empty_cases == 0 || payload->indirect) return;
  // The one word that matters, of an object or of a string, says itself whether it is there.
  if (payload->simple ? payload->simple < UNDEAD_SIMPLE_FUNCTION : payload->size <= 8) return;
  // The first places in memory, which are no code, stand for the others.
  undead_guard no_code = {.guard = (uint32_t)base, .mask = UINT64_MAX, .last = empty_cases - 1};
  if (payload->simple == UNDEAD_SIMPLE_FUNCTION && empty_cases <= MAX_EMPTY_CASES)
    undead_evidence_guard_all(map, base, payload->size, &no_code);
  else if (payload->type && find_guard(payload->type, base, empty_cases, &guard))
    undead_evidence_guard_all(map, base, payload->size, &guard);
  else
    undead_evidence_distrust(map, base, payload->size);
}

// How words of a payload are counted in some of the cases.
typedef struct {
  undead_guard guards[MAX_CHOICES];
  uint32_t count, choice;
} payload_choices;

static void note_choices(payload_choices *choices, const undead_evidence_map *map, const undead_enum_tags *tags, uint32_t number, size_t base,
                         size_t size) {
  uint64_t value = tags->values[number];
  undead_guard tag = {.guard = (uint32_t)(base + tags->offset), .mask = tags->mask, .first = value, .last = value, .within = true};
  for (size_t word = base; word + 8 <= base + size && choices->choice < UINT32_MAX / 2; word += 8) {
    uint32_t left = MAX_CHOICES - choices->count, most = left < UNDEAD_MOST_CHOICES ? left : UNDEAD_MOST_CHOICES;
    if (left < 2) return;
    choices->count += undead_evidence_choices(map, word, &tag, choices->choice, choices->guards + choices->count, most);
    choices->choice += UNDEAD_MOST_CHOICES;
  }
}

static void choose(undead_evidence_map *map, const payload_choices *choices, size_t base, size_t size) {
  for (size_t word = base; word + 8 <= base + size; word += 8) {
    undead_guard guards[UNDEAD_MOST_CHOICES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < choices->count && count < UNDEAD_MOST_CHOICES; i++)
      if (choices->guards[i].word == word) {
        guards[count] = choices->guards[i];
        // What has many cases in few words does not get all its numbers distinguished further out.
        guards[count].choice = count && choices->guards[i].choice == choices->guards[i - 1].choice ? guards[count - 1].choice : count;
        count++;
      }
    if (count && count < UNDEAD_MOST_CHOICES && undead_evidence_word(map, word) == UNDEAD_EVIDENCE_RAW)
      undead_evidence_choose(map, word, guards, count);
  }
}

// Each byte is what all cases say, or raw.
static void add_payloads(undead_evidence_map *map, uintptr_t type, const undead_fields *cases, size_t base, size_t size, int depth) {
  static uint8_t merged_pool[MAX_MERGED];
  static size_t used;
  if (base + size > UNDEAD_EVIDENCE_BYTES || size > MAX_MERGED - used) {
    undead_evidence_set(map, base, size, BYTE_RAW);
    return;
  }
  uint8_t *merged = merged_pool + used;
  undead_enum_tags tags;
  payload_choices choices = {0};
  bool tagged = base % 8 == 0 && undead_enum_tags_of(type, cases, &tags);
  uint32_t guards = map->guard_count, buffers = map->buffer_count;
  bool first = true;
  used += size;
  for (uint32_t i = 0; i < cases->count; i++) {
    if (!cases->field[i].mangled.length) continue;
    undead_evidence_pad(map, base, size);
    add_field(map, &cases->field[i], base, depth);
    for (size_t at = 0; at < size; at++)
      merged[at] = first ? map->byte[base + at] : undead_evidence_merge(merged[at], map->byte[base + at]);
    if (tagged) note_choices(&choices, map, &tags, i, base, size);
    first = false;
    map->guard_count = guards;
    map->buffer_count = buffers;
  }
  if (!first) memcpy(map->byte + base, merged, size);
  used -= size;
  if (!first) choose(map, &choices, base, size);
}

static void add_enum(undead_evidence_map *map, uintptr_t type, size_t base, int depth) {
  uintptr_t descriptor = read_word(type + ABI_VALUE_DESCRIPTOR);
  uint32_t payloads = read_u32(descriptor + ABI_ENUM_DESCRIPTOR_PAYLOAD_CASES) & ABI_ENUM_PAYLOAD_CASES_MASK;
  uint32_t empty = read_u32(descriptor + ABI_ENUM_DESCRIPTOR_EMPTY_CASES), described = 0;
  const undead_fields *cases = undead_fields_lazily(type);
  const undead_field *payload = NULL;
  for (uint32_t i = 0; i < cases->count; i++) {
    if (!cases->field[i].mangled.length) continue;
    payload = &cases->field[i];
    described++;
  }
  if (described != payloads || cases->count != payloads + empty || cases->count == 0) return;
  size_t size = size_of(type);
  undead_evidence_set(map, base, size, BYTE_NUMBER);
  if (payloads == 1) add_single_payload(map, payload, empty, base, depth);
  else if (payloads > 1) add_payloads(map, type, cases, base, size, depth);
}

static void add_existential(undead_evidence_map *map, uintptr_t type, size_t base) {
  if (undead_type_is_opaque_existential(type)) {
    if (base % 8) return;
    undead_evidence_set(map, base, ABI_EXISTENTIAL_BUFFER_BYTES, BYTE_BUFFER);
    undead_evidence_add_buffer(map, base);
    return;
  }
  bool reference;
  if (undead_type_kind(type) == ABI_KIND_EXTENDED_EXISTENTIAL) {
    uintptr_t shape = read_word(type + ABI_EXTENDED_EXISTENTIAL_SHAPE);
    reference = shape && (read_u32(shape) & ABI_SHAPE_KIND_MASK) == ABI_SHAPE_CLASS;
  } else {
    uint32_t flags = read_u32(type + ABI_EXISTENTIAL_FLAGS), special = flags & ABI_EXISTENTIAL_SPECIAL_MASK;
    reference = special == ABI_EXISTENTIAL_ERROR || (special == 0 && !(flags & ABI_EXISTENTIAL_NOT_CLASS));
  }
  if (reference) undead_evidence_reference(map, base, BYTE_COUNTED);
}

// A function value is its code and, in the second word, its context.
static void add_function_value(undead_evidence_map *map, uintptr_t type, size_t base) {
  uintptr_t flags = read_word(type + ABI_FUNCTION_FLAGS);
  // A block in the sense of C has a count of its own.
  if (size_of(type) == 8 && (flags & ABI_FUNCTION_CONVENTION_MASK) == ABI_FUNCTION_CONVENTION_BLOCK && flags & ABI_FUNCTION_ESCAPING) {
    undead_evidence_reference(map, base, BYTE_COUNTED);
    return;
  }
  if (size_of(type) != 16 || !(flags & ABI_FUNCTION_ESCAPING)) return;
  if (flags & (ABI_FUNCTION_CONVENTION_MASK | ABI_FUNCTION_DIFFERENTIABLE)) return;
  undead_evidence_reference(map, base + 8, BYTE_COUNTED);
}

static void add_fixed_array(undead_evidence_map *map, uintptr_t type, size_t base, int depth) {
  uintptr_t element = read_word(type + ABI_FIXED_ARRAY_ELEMENT), count = read_word(type + ABI_FIXED_ARRAY_COUNT);
  size_t size, stride;
  uint32_t flags;
  if (!undead_type_layout(element, &size, &stride, &flags) || !stride) return;
  for (uintptr_t i = 0; i < count && base + i * stride < UNDEAD_EVIDENCE_BYTES; i++)
    add_type(map, element, base + i * stride, depth + 1);
}

static void add_type(undead_evidence_map *map, uintptr_t type, size_t base, int depth) {
  if (!type) return;
  size_t size = size_of(type);
  undead_evidence_set(map, base, size, BYTE_RAW);
  if (depth > MAX_DEPTH || size == 0) return;
  switch (undead_type_kind(type)) {
  case ABI_KIND_CLASS: undead_evidence_reference(map, base, BYTE_COUNTED); return;
  case ABI_KIND_STRUCT: add_struct(map, type, base, depth); return;
  case ABI_KIND_TUPLE:
    undead_evidence_pad(map, base, size);
    add_fields(map, undead_fields_lazily(type), base, depth);
    return;
  case ABI_KIND_ENUM: case ABI_KIND_OPTIONAL: add_enum(map, type, base, depth); return;
  case ABI_KIND_EXISTENTIAL: case ABI_KIND_EXTENDED_EXISTENTIAL: add_existential(map, type, base); return;
  case ABI_KIND_FUNCTION: add_function_value(map, type, base); return;
  case ABI_KIND_FIXED_ARRAY: add_fixed_array(map, type, base, depth); return;
  default: return;
  }
}

void undead_evidence_of_type(undead_evidence_map *map, uintptr_t type, size_t base) {
  add_type(map, type, base, 0);
  map->end = base + size_of(type);
}

// The storage of hash tables refers to its own parts.
static void refine_storage(undead_evidence_map *map, uintptr_t isa) {
  static const char *const own[] = {"_rawKeys", "_rawValues", "_rawElements"};
  uintptr_t descriptor = read_word(isa + ABI_CLASS_DESCRIPTOR);
  if (!undead_descriptor_is(descriptor, "Swift", "__RawDictionaryStorage")
      && !undead_descriptor_is(descriptor, "Swift", "__RawSetStorage"))
    return;
  const undead_fields *fields = undead_fields_lazily(isa);
  for (uint32_t i = 0; i < fields->count; i++) {
    const undead_field *field = &fields->field[i];
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
      if (!strcmp(field->name, own[k])) undead_evidence_set(map, field->offset, 8, BYTE_NUMBER);
    // It is the address of the storage itself.
    if (!strcmp(field->name, "_seed")) undead_evidence_reference(map, field->offset, BYTE_NONE);
  }
}

void undead_evidence_of_class(undead_evidence_map *map, uintptr_t isa) {
  uintptr_t chain[MAX_CLASSES];
  uint32_t count = 0;
  bool complete = true;
  size_t size = read_u32(isa + ABI_CLASS_INSTANCE_SIZE);
  for (; isa && count < MAX_CLASSES; isa = read_word(isa + ABI_CLASS_SUPER)) {
    uintptr_t descriptor = read_word(isa + ABI_CLASS_DESCRIPTOR);
    if (undead_fields_lazily(isa)->count == read_u32(descriptor + ABI_CLASS_DESCRIPTOR_FIELD_COUNT)) chain[count++] = isa;
    else complete = false;
  }
  if (complete && !isa) undead_evidence_pad(map, ABI_OBJECT_HEADER, size - ABI_OBJECT_HEADER);
  while (count > 0) {
    add_fields(map, undead_fields_lazily(chain[--count]), 0, 0);
    refine_storage(map, chain[count]);
  }
  map->end = size;
}

static void add_captures(undead_evidence_map *map, const undead_fields *captures) {
  size_t end = 0;
  for (uint32_t i = 0; i < captures->count && captures->field[i].offset != UINT32_MAX; i++) {
    const undead_field *capture = &captures->field[i];
    if (end && capture->offset > end) undead_evidence_pad(map, end, capture->offset - end);
    end = capture->offset + capture->size;
    add_field(map, capture, 0, 0);
    bool object = !capture->type && !capture->simple && !capture->indirect && capture->ownership == UNDEAD_STRONG
      && undead_mangled_is_one_object(&capture->mangled);
    if (object) undead_evidence_reference(map, capture->offset, BYTE_COUNTED);
  }
  map->end = end;
}

void undead_evidence_of_context(undead_evidence_map *map, uintptr_t isa) { add_captures(map, undead_captures_lazily(isa)); }

void undead_evidence_of_context_with(undead_evidence_map *map, uintptr_t isa, const uintptr_t *bindings) {
  add_captures(map, undead_captures_with(isa, bindings));
}
