// Premises about Foundation, in programs that have it as a library: a Data and a timer of Core Foundation are made and let go.
// A wrong number costs names and sizes in heap files.
#include "runtime/premises/premises_internal.h"
#include <string.h>

#define NAMES(holds, what) undead_premise(premises, UNDEAD_PREMISE_NAMES, holds, what)

enum { BYTES = 1000 };

static void check_data(undead_premises *premises) {
  uintptr_t make = undead_premise_symbol_of("libFoundationEssentials.", "$s20FoundationEssentials4DataV5countACSi_tcfC");
  uintptr_t release = undead_premise_symbol("swift_release");
  if (!make || !release) return;
  undead_pair data = ((SWIFT_CALL undead_pair(*)(intptr_t))make)(BYTES);
  NAMES(data.second >> ABI_DATA_TAG_SHIFT == ABI_DATA_SLICE, "the case of a Data");
  uintptr_t storage = data.second & UNDEAD_REFERENCE_BITS;
  NAMES(word_at(storage + ABI_DATA_LENGTH) == BYTES && word_at(storage + ABI_DATA_CAPACITY) >= BYTES
          && word_at(storage + ABI_DATA_CAPACITY) < 2 * BYTES, "the length of a Data");
  ((void (*)(uintptr_t))release)(storage);
}

typedef struct {
  intptr_t version;
  const void *info, *retain, *release, *describe;
} timer_context;

static void nothing(void *timer, void *info) { (void)timer, (void)info; }

static void check_timer(undead_premises *premises) {
  static const char library[] = "libFoundation.";
  uintptr_t create = undead_premise_symbol_of(library, "CFRunLoopTimerCreate"), release = undead_premise_symbol_of(library, "CFRelease");
  uintptr_t type_of = undead_premise_symbol_of(library, "CFRunLoopTimerGetTypeID");
  uintptr_t class_of = undead_premise_symbol_of(library, "_CFRuntimeGetClassWithTypeID");
  if (!create || !release || !type_of || !class_of) return;
  timer_context context = {.info = &nothing};
  uintptr_t timer = ((uintptr_t (*)(const void *, double, double, uintptr_t, intptr_t, const void *, timer_context *))create)(
    NULL, 1e15, 1.5, 0, 0, (const void *)nothing, &context);
  uintptr_t type = ((uintptr_t (*)(void))type_of)();
  if (!timer) return;
  NAMES((word_at(timer + ABI_CF_INFO) >> ABI_CF_TYPE_SHIFT & ABI_CF_TYPE_MASK) == type, "the type of an object of Core Foundation");
  const uintptr_t one_and_a_half = 0x3FF8000000000000;
  NAMES(word_at(timer + ABI_CF_TIMER_INTERVAL) == one_and_a_half, "how often a timer of Core Foundation fires");
  NAMES(!word_at(timer + ABI_CF_TIMER_LOOP), "the run loop of a timer of Core Foundation");
  NAMES(word_at(timer + ABI_CF_TIMER_INFO) == (uintptr_t)&nothing, "what a timer of Core Foundation refers to");
  const char *name = read_text(word_at(((uintptr_t (*)(uintptr_t))class_of)(type) + ABI_CF_CLASS_NAME), 64);
  NAMES(name && !strcmp(name, "CFRunLoopTimer"), "the name of a class of Core Foundation");
  ((void (*)(uintptr_t))release)(timer);
}

void undead_premises_of_foundation(undead_premises *premises) {
  check_data(premises);
  check_timer(premises);
}
