// Premises about metadata: classes, value types, their descriptors and witnesses (Metadata.h, MetadataValues.h, ValueWitness.def).
// The known objects are types of the standard library.
#include "runtime/premises/premises_internal.h"
#include "runtime/descriptors.h"
#include "runtime/layout.h"
#include "runtime/types.h"

#define LEAKS(holds, what) undead_premise(premises, UNDEAD_PREMISE_LEAKS, holds, what)
#define NAMES(holds, what) undead_premise(premises, UNDEAD_PREMISE_NAMES, holds, what)

static bool is_symbol(uintptr_t address, const char *name) { return address && address == undead_premise_symbol(name); }

// The storage of empty arrays is of a class with three superclasses, the first of which has one field.
void undead_premises_of_classes(undead_premises *premises, uintptr_t isa) {
  LEAKS(ABI_KIND_READ(word_at(isa)) == ABI_KIND_CLASS, "the kind of class metadata");
  LEAKS(is_symbol(word_at(isa + ABI_METADATA_DESTROY), "$ss19__EmptyArrayStorageCfD"), "the deallocating function of a class");
  LEAKS(is_symbol(word_at(isa + ABI_METADATA_VALUE_WITNESSES), "$sBoWV"), "the value witnesses of a class");
  LEAKS(is_symbol(word_at(isa + ABI_CLASS_SUPER), "$ss28__ContiguousArrayStorageBaseCN"), "the superclass of a class");
  LEAKS(is_symbol(word_at(isa + ABI_CLASS_DESCRIPTOR), "$ss19__EmptyArrayStorageCMn"), "the descriptor of a class");
  LEAKS(u32_at(isa + ABI_CLASS_ADDRESS_POINT) == 0 && u32_at(isa + ABI_CLASS_ADDRESS_POINT - 4) != 0, "the address point of instances");
  LEAKS(u32_at(isa + ABI_CLASS_INSTANCE_SIZE) == ABI_ARRAY_ELEMENTS, "the size of instances");
  LEAKS(*(const uint16_t *)(isa + ABI_CLASS_ALIGN_MASK) == 7, "the alignment of instances");
  LEAKS(undead_classify(isa, ABI_ARRAY_ELEMENTS) == UNDEAD_KIND_CLASS && !undead_classify(isa, ABI_OBJECT_HEADER),
        "what makes a first word that of an object");
  if (premises->failed[UNDEAD_PREMISE_LEAKS]) return;
  uintptr_t super = word_at(isa + ABI_CLASS_SUPER), descriptor = word_at(isa + ABI_CLASS_DESCRIPTOR);
  uint32_t negative = u32_at(descriptor + ABI_CLASS_DESCRIPTOR_BOUNDS) * 8;
  uint32_t positive = u32_at(descriptor + ABI_CLASS_DESCRIPTOR_POSITIVE) * 8;
  uint32_t above = u32_at(word_at(super + ABI_CLASS_DESCRIPTOR) + ABI_CLASS_DESCRIPTOR_POSITIVE) * 8;
  LEAKS(u32_at(isa + ABI_CLASS_CLASS_ADDRESS_POINT) == negative && negative == 24, "the address point of a class");
  LEAKS(u32_at(isa + ABI_CLASS_SIZE) == negative + positive, "the size of class metadata");
  LEAKS(positive - u32_at(descriptor + ABI_CLASS_DESCRIPTOR_MEMBERS) * 8 == above, "the members of a class");
  LEAKS(u32_at(word_at(super + ABI_CLASS_DESCRIPTOR) + ABI_CLASS_DESCRIPTOR_FIELD_COUNT) == 1, "the number of fields of a class");
  uintptr_t root = super;
  for (int depth = 0; depth < 8 && word_at(root + ABI_CLASS_SUPER); depth++) root = word_at(root + ABI_CLASS_SUPER);
  uintptr_t last = word_at(root + ABI_CLASS_DESCRIPTOR);
  uint32_t header = (u32_at(last + ABI_CLASS_DESCRIPTOR_POSITIVE) - u32_at(last + ABI_CLASS_DESCRIPTOR_MEMBERS)) * 8;
  LEAKS(header == ABI_CLASS_HEADER_BYTES, "the header of class metadata");
}

static void check_record(undead_premises *premises, uintptr_t descriptor) {
  uintptr_t fields = read_relative(descriptor + ABI_DESCRIPTOR_FIELDS), record = fields + ABI_FIELDS_RECORDS;
  LEAKS(fields && read_u32(fields + ABI_FIELDS_COUNT) == 1, "the number of fields in reflection metadata");
  const char *name = fields ? read_text(read_relative(record + ABI_FIELD_RECORD_NAME), 64) : NULL;
  LEAKS(name && !strcmp(name, "_value"), "the name of a field in reflection metadata");
  const char *type = fields ? read_text(read_relative(record + ABI_FIELD_RECORD_TYPE), 64) : NULL;
  LEAKS(type && !strcmp(type, "Bi64_"), "the type of a field in reflection metadata");
  LEAKS(read_u32(record + ABI_FIELD_RECORD_FLAGS) == 2, "the flags of a field in reflection metadata");   // IsVar
}

void undead_premises_of_descriptors(undead_premises *premises) {
  uintptr_t number = undead_premise_symbol("$sSiMn"), array = undead_premise_symbol("$sSaMn");
  uintptr_t never = undead_premise_symbol("$ss5NeverOMn"), hashable = undead_premise_symbol("$sSHMp");
  if (!undead_premise_found(premises, number && array && never && hashable, "descriptors that the runtime exports")) return;
  LEAKS(undead_descriptor_kind(number) == ABI_CONTEXT_STRUCT && undead_descriptor_kind(never) == ABI_CONTEXT_ENUM
          && undead_descriptor_kind(word_at(word_at(undead_premise_symbol("_swiftEmptyArrayStorage")) + ABI_CLASS_DESCRIPTOR))
               == ABI_CONTEXT_CLASS
          && undead_descriptor_kind(hashable) == ABI_CONTEXT_PROTOCOL,
        "the kinds of descriptors");
  LEAKS((read_u32(array) & ABI_CONTEXT_GENERIC) && !(read_u32(number) & ABI_CONTEXT_GENERIC), "which types are generic");
  LEAKS(!strcmp(undead_descriptor_name(number), "Int"), "the name of a type");
  LEAKS(!strcmp(undead_descriptor_module(number), "Swift"), "the module of a type");
  uintptr_t module = read_relative_indirectable(number + ABI_DESCRIPTOR_PARENT);
  LEAKS(module && (read_u32(module) & ABI_CONTEXT_KIND_MASK) == ABI_CONTEXT_MODULE, "the module's descriptor");
  LEAKS(is_symbol(read_relative(number + ABI_DESCRIPTOR_ACCESS), "$sSiMa"), "the function that yields a type");
  check_record(premises, number);
  undead_records records = undead_records_of(undead_premise_symbol("$ss11AnySequenceVMn"));
  undead_mangled box = records.count ? undead_mangled_at(read_relative(records.first_record + ABI_FIELD_RECORD_TYPE))
                                     : (undead_mangled){0};
  LEAKS(records.count == 1 && is_symbol(undead_mangled_descriptor(&box), "$ss15_AnySequenceBoxCMn"), "references in mangled names");
  LEAKS(undead_mangled_is_one_object(&box), "which mangled names are of one reference");
}

static bool is_word_sized(uintptr_t type, size_t *size, uint32_t *flags) {
  size_t stride = 0;
  return undead_type_layout(type, size, &stride, flags) && stride == ((*size + 7) & ~7ul);
}

static bool enum_witnesses_work(uintptr_t optional) {
  uintptr_t witnesses = word_at(optional + ABI_METADATA_VALUE_WITNESSES);
  uintptr_t tag = word_at(witnesses + ABI_WITNESS_GET_ENUM_TAG), project = word_at(witnesses + ABI_WITNESS_PROJECT_ENUM);
  uintptr_t inject = word_at(witnesses + ABI_WITNESS_INJECT_TAG);
  uint64_t some[2] = {5, 0}, none[2] = {0, 1}, other[2] = {5, 0};
  if (!undead_is_executable(tag) || !undead_is_executable(project) || !undead_is_executable(inject)) return false;
  if (((uint32_t (*)(const void *, uintptr_t))tag)(some, optional) != 0) return false;
  if (((uint32_t (*)(const void *, uintptr_t))tag)(none, optional) != 1) return false;
  // The witness behind it would write the case that its second argument says.
  ((void (*)(void *, uintptr_t, uintptr_t))project)(some, optional, optional);
  ((void (*)(void *, uint32_t, uintptr_t))inject)(other, 1, optional);
  return some[0] == 5 && some[1] == 0 && other[0] == 0 && other[1] == 1;
}

static bool store_tag_works(uintptr_t type) {
  uintptr_t store = word_at(word_at(type + ABI_METADATA_VALUE_WITNESSES) + ABI_WITNESS_STORE_TAG);
  uint64_t value = 1;
  if (!undead_is_executable(store)) return false;
  ((void (*)(void *, uint32_t, uint32_t, uintptr_t))store)(&value, 1, 1, type);   // of an optional Bool: none
  return value == 2;
}

void undead_premises_of_witnesses(undead_premises *premises) {
  uintptr_t number = undead_premise_symbol("$sSiN"), truth = undead_premise_symbol("$sSbN"), text = undead_premise_symbol("$sSSN");
  uintptr_t optional = undead_premise_type("SiSg"), large = undead_premise_type("Si_S3it");
  if (!undead_premise_found(premises, number && truth && text && optional && large, "types that the runtime has")) return;
  size_t size = 0;
  uint32_t flags = 0;
  uintptr_t witnesses = word_at(optional + ABI_METADATA_VALUE_WITNESSES);
  LEAKS(word_at(witnesses + ABI_WITNESS_SIZE) == 9 && word_at(witnesses + ABI_WITNESS_STRIDE) == 16, "the size of values");
  LEAKS(is_word_sized(text, &size, &flags) && size == 16, "the size of values that are in memory");
  LEAKS(is_word_sized(number, &size, &flags) && size == 8 && (flags & ABI_WITNESS_ALIGN_MASK) == 7
          && !(flags & (ABI_WITNESS_NON_INLINE | ABI_WITNESS_HAS_ENUM)), "the flags of value witnesses");
  LEAKS(is_word_sized(large, &size, &flags) && size == 32 && flags & ABI_WITNESS_NON_INLINE, "which values need a box");
  LEAKS(u32_at(witnesses + ABI_WITNESS_FLAGS) & ABI_WITNESS_HAS_ENUM, "which value witnesses are those of an enum");
  LEAKS(u32_at(word_at(truth + ABI_METADATA_VALUE_WITNESSES) + ABI_WITNESS_EXTRA_INHABITANTS) == 254, "unused values of a type");
  LEAKS(store_tag_works(truth), "the value witness that writes a case");
  LEAKS(enum_witnesses_work(optional), "the value witnesses of an enum");
}

static void check_functions(undead_premises *premises, uintptr_t plain, uintptr_t of_c, uintptr_t scoped) {
  LEAKS(plain && of_c && scoped && undead_type_kind(plain) == ABI_KIND_FUNCTION, "the kind of function types");
  if (!plain || !of_c || !scoped) return;
  uintptr_t flags = word_at(plain + ABI_FUNCTION_FLAGS);
  LEAKS(flags & ABI_FUNCTION_ESCAPING && !(word_at(scoped + ABI_FUNCTION_FLAGS) & ABI_FUNCTION_ESCAPING), "which functions escape");
  LEAKS(!(flags & ABI_FUNCTION_CONVENTION_MASK) && (word_at(of_c + ABI_FUNCTION_FLAGS) & ABI_FUNCTION_CONVENTION_MASK) == 0x30000,
        "the convention of functions");
  uintptr_t block = undead_premise_type("yyXB"), differentiable = undead_premise_type("S2fYjrc");
  if (block) LEAKS((word_at(block + ABI_FUNCTION_FLAGS) & ABI_FUNCTION_CONVENTION_MASK) == ABI_FUNCTION_CONVENTION_BLOCK,
                   "the convention of blocks");
  if (differentiable) LEAKS(word_at(differentiable + ABI_FUNCTION_FLAGS) & ABI_FUNCTION_DIFFERENTIABLE
          && !(flags & ABI_FUNCTION_DIFFERENTIABLE), "which functions are differentiable");
}

static void check_existentials(undead_premises *premises) {
  uintptr_t any = undead_premise_type("yp"), object = undead_premise_type("yXl"), error = undead_premise_type("s5Error_p");
  LEAKS(any && object && error && undead_type_kind(any) == ABI_KIND_EXISTENTIAL, "the kind of existential types");
  if (!any || !object || !error) return;
  uint32_t flags = u32_at(any + ABI_EXISTENTIAL_FLAGS);
  size_t size = 0, stride = 0;
  uint32_t unused;
  LEAKS(flags & ABI_EXISTENTIAL_NOT_CLASS && !(u32_at(object + ABI_EXISTENTIAL_FLAGS) & ABI_EXISTENTIAL_NOT_CLASS),
        "which existentials are of classes");
  LEAKS((u32_at(error + ABI_EXISTENTIAL_FLAGS) & ABI_EXISTENTIAL_SPECIAL_MASK) == ABI_EXISTENTIAL_ERROR
          && !(flags & ABI_EXISTENTIAL_SPECIAL_MASK), "which existential is that of errors");
  LEAKS(undead_type_layout(any, &size, &stride, &unused) && size == ABI_EXISTENTIAL_TYPE + 8
          && ABI_EXISTENTIAL_TYPE == ABI_EXISTENTIAL_BUFFER_BYTES, "the buffer of an existential");
}

static void check_tuple(undead_premises *premises, uintptr_t tuple, uintptr_t number) {
  LEAKS(tuple && undead_type_kind(tuple) == ABI_KIND_TUPLE, "the kind of tuple types");
  if (!tuple) return;
  const undead_fields *fields = undead_fields_of(tuple);
  LEAKS(word_at(tuple + ABI_TUPLE_COUNT) == 2 && fields->count == 2, "the number of a tuple's elements");
  LEAKS(fields->count == 2 && fields->field[0].type == number && fields->field[1].type == undead_premise_symbol("$sSSN")
          && fields->field[1].offset == 8, "the elements of a tuple");
  NAMES(fields->count == 2 && !strcmp(fields->field[0].name, "a") && !strcmp(fields->field[1].name, "b"), "the labels of a tuple");
}

void undead_premises_of_types(undead_premises *premises) {
  uintptr_t number = undead_premise_symbol("$sSiN"), never = undead_premise_symbol("$ss5NeverON");
  uintptr_t optional = undead_premise_type("SiSg"), fixed = undead_premise_type("$2_SiBV");
  if (!undead_premise_found(premises, number && never && optional, "types that the runtime has")) return;
  LEAKS(undead_type_kind(number) == ABI_KIND_STRUCT, "the kind of structs");
  LEAKS(undead_type_kind(never) == ABI_KIND_ENUM, "the kind of enums");
  LEAKS(undead_type_kind(optional) == ABI_KIND_OPTIONAL, "the kind of optionals");
  LEAKS(is_symbol(word_at(number + ABI_VALUE_DESCRIPTOR), "$sSiMn"), "the descriptor of a value type");
  LEAKS(word_at(optional + ABI_VALUE_GENERIC_ARGUMENTS) == number, "the arguments of a generic value type");
  const undead_fields *fields =
    undead_fields_of(word_at(word_at(undead_premise_symbol("_swiftEmptyArrayStorage")) + ABI_CLASS_SUPER));
  LEAKS(fields->count == 1 && fields->field[0].offset == ABI_OBJECT_HEADER && fields->field[0].size == 16, "the fields of a class");
  fields = undead_fields_of(optional);
  LEAKS(fields->count == 2 && !strcmp(fields->field[0].name, "some") && fields->field[0].type == number
          && !strcmp(fields->field[1].name, "none"), "the cases of an enum");
  uintptr_t cases = word_at(optional + ABI_VALUE_DESCRIPTOR), result = undead_premise_symbol("$ss6ResultOMn");
  LEAKS((read_u32(cases + ABI_ENUM_DESCRIPTOR_PAYLOAD_CASES) & ABI_ENUM_PAYLOAD_CASES_MASK) == 1
          && read_u32(cases + ABI_ENUM_DESCRIPTOR_EMPTY_CASES) == 1
          && (!result || (read_u32(result + ABI_ENUM_DESCRIPTOR_PAYLOAD_CASES) & ABI_ENUM_PAYLOAD_CASES_MASK) == 2),
        "the numbers of an enum's cases");
  uintptr_t structure = word_at(number + ABI_VALUE_DESCRIPTOR);
  LEAKS(read_u32(structure + ABI_STRUCT_DESCRIPTOR_FIELD_COUNT) == 1
          && read_u32(structure + ABI_STRUCT_DESCRIPTOR_FIELD_VECTOR) * 8 == ABI_VALUE_GENERIC_ARGUMENTS, "the fields of a struct");
  uintptr_t dictionary = undead_premise_symbol("$sSDMn");   // two parameters, one of which conforms to a protocol
  NAMES(!dictionary || ((read_u32(dictionary + ABI_VALUE_DESCRIPTOR_PARAMETERS) & 0xFFFF) == 2
          && (read_u32(dictionary + ABI_VALUE_DESCRIPTOR_KEY_ARGUMENTS) & 0xFFFF) == 3), "the parameters of a generic type");
  check_tuple(premises, undead_premise_type("Si1a_SS1bt"), number);
  check_functions(premises, undead_premise_type("yyc"), undead_premise_type("yyXC"), undead_premise_type("yyXE"));
  check_existentials(premises);
  if (!fixed) return;   // runtimes before 6.2
  LEAKS(undead_type_kind(fixed) == ABI_KIND_FIXED_ARRAY, "the kind of fixed arrays");
  LEAKS(word_at(fixed + ABI_FIXED_ARRAY_COUNT) == 3 && word_at(fixed + ABI_FIXED_ARRAY_ELEMENT) == number, "a fixed array's elements");
}
