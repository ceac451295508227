// Premises about collections and text of the standard library (ContiguousArrayBuffer.swift, StringStorage.swift,
// DictionaryStorage.swift, SetStorage.swift): the library makes one of each, of a size that is known.
#include "runtime/premises/premises_internal.h"
#include "runtime/types.h"
#include <string.h>

#define LEAKS(holds, what) undead_premise(premises, UNDEAD_PREMISE_LEAKS, holds, what)
#define NAMES(holds, what) undead_premise(premises, UNDEAD_PREMISE_NAMES, holds, what)

static void let_go(uintptr_t object) {
  uintptr_t release = undead_premise_symbol("swift_release");
  if (release) ((void (*)(uintptr_t))release)(object);
}

static void check_array(undead_premises *premises) {
  uintptr_t make = undead_premise_symbol("$ss27_allocateUninitializedArrayySayxG_BptBwlF");
  if (!undead_premise_found(premises, make, "the function that makes arrays")) return;
  uintptr_t number = undead_premise_symbol("$sSiN");
  undead_pair array = ((SWIFT_CALL undead_pair(*)(uintptr_t, uintptr_t))make)(3, number);
  uintptr_t isa = word_at(array.first), arguments = undead_class_arguments(isa);
  LEAKS(word_at(array.first + ABI_ARRAY_COUNT) == 3, "the count of an array");
  NAMES(word_at(array.first + ABI_ARRAY_CAPACITY) >> 1 == 3, "the capacity of an array");
  LEAKS(array.second - array.first == ABI_ARRAY_ELEMENTS, "the elements of an array");
  LEAKS(arguments && word_at(arguments) == number, "the arguments of a generic class");
  let_go(array.first);
}

static void check_text(undead_premises *premises, uintptr_t make, const char *text, bool long_one) {
  size_t length = strlen(text);
  undead_pair string = ((SWIFT_CALL undead_pair(*)(const char *))make)(text);
  uintptr_t storage = string.second & UNDEAD_REFERENCE_BITS;
  uint64_t capacity = word_at(storage + ABI_STRING_CAPACITY);
  NAMES((word_at(storage + ABI_STRING_COUNT) & ABI_STRING_CAPACITY_MASK) == length, "the count of a string");
  LEAKS((capacity & ABI_STRING_CAPACITY_MASK) >= length && (capacity & ABI_STRING_CAPACITY_MASK) < length + 64,
        "the capacity of a string");
  LEAKS(!(capacity & ABI_STRING_HAS_BREADCRUMBS) == !long_one, "which strings have breadcrumbs");
  LEAKS(!memcmp((const void *)(storage + ABI_STRING_CODE_UNITS), text, length), "the text of a string");
  let_go(storage);
}

static void check_texts(undead_premises *premises) {
  static const char text[] = "Texts of more than fifteen bytes have a storage of their own; those of more than sixty-four, which "
                             "are not plain ASCII (\xc3\xa4), also have a place for breadcrumbs.";
  uintptr_t make = undead_premise_symbol("$sSS7cStringSSSPys4Int8VG_tcfC");
  if (!undead_premise_found(premises, make, "the function that makes strings")) return;
  check_text(premises, make, text, true);
  check_text(premises, make, text + sizeof text - 30, false);
}

typedef SWIFT_CALL uintptr_t (*allocate_function)(uintptr_t capacity, __attribute__((swift_context)) void *class);

static uintptr_t make_table(const char *allocate, uintptr_t class) {
  uintptr_t function = undead_premise_symbol(allocate);
  return function && class ? ((allocate_function)function)(3, (void *)class) : 0;
}

static void check_table(undead_premises *premises, uintptr_t table) {
  NAMES(word_at(table + ABI_HASH_COUNT) == 0 && word_at(table + ABI_HASH_CAPACITY) == 3, "the capacity of a hash table");
  LEAKS(*(const uint8_t *)(table + ABI_HASH_SCALE) == 2, "the number of buckets of a hash table");
}

static void check_tables(undead_premises *premises) {
  uintptr_t number = undead_premise_symbol("$sSiN"), hashable = undead_premise_symbol("$sSiSHsWP");
  uintptr_t dictionaries = undead_premise_symbol("$ss18_DictionaryStorageCMa"), sets = undead_premise_symbol("$ss11_SetStorageCMa");
  if (!undead_premise_found(premises, number && hashable && dictionaries && sets, "the classes of hash tables")) return;
  uintptr_t class = ((SWIFT_CALL uintptr_t(*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t))dictionaries)(0, number, number, hashable);
  uintptr_t table = make_table("$ss18_DictionaryStorageC8allocate8capacityAByxq_GSi_tFZ", class);
  if (undead_premise_found(premises, table, "the function that makes dictionaries")) {
    check_table(premises, table);
    // Behind the header is one word of bits, then four keys and four values.
    LEAKS(word_at(table + ABI_DICTIONARY_KEYS) == table + ABI_DICTIONARY_HEADER + 8, "the keys of a dictionary");
    LEAKS(word_at(table + ABI_DICTIONARY_VALUES) == table + ABI_DICTIONARY_HEADER + 40, "the values of a dictionary");
    let_go(table);
  }
  class = ((SWIFT_CALL uintptr_t(*)(uintptr_t, uintptr_t, uintptr_t))sets)(0, number, hashable);
  table = make_table("$ss11_SetStorageC8allocate8capacityAByxGSi_tFZ", class);
  if (!undead_premise_found(premises, table, "the function that makes sets")) return;
  check_table(premises, table);
  LEAKS(word_at(table + ABI_SET_ELEMENTS) == table + ABI_SET_HEADER + 8, "the members of a set");
  let_go(table);
}

void undead_premises_of_collections(undead_premises *premises) {
  check_array(premises);
  check_texts(premises);
  check_tables(premises);
}
