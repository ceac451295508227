// Why this copy of the instrument must not work here: a sanitizer in the program, or another copy that is in charge.
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"
#include "record/allocator.h"
#include "session/state/session.h"
#include "session/buffers/buffers.h"
#include <dlfcn.h>

// Weak references cost nothing when they are not there; a failing dlsym would leave an error for dlerror().
extern void __asan_init(void) __attribute__((weak));
extern void __hwasan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));
extern void __lsan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));

// Bounds of the image that this copy of the instrument is linked into, defined by the linker.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static const char *sanitizer(void) {
  if (__asan_init) return "AddressSanitizer";
  if (__hwasan_init) return "HWAddressSanitizer";
  if (__tsan_init) return "ThreadSanitizer";
  if (__lsan_init) return "LeakSanitizer";
  if (__msan_init) return "MemorySanitizer";
  return NULL;
}

static bool is_own_address(const void *address) {
  return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

static const char *explain(const char *before, const char *subject, const char *after) {
  static char reason[512];
  undead_text text = undead_text_in(reason, sizeof(reason));
  undead_text_join(&text, before, subject, after);
  return reason;
}

static const char *owner_of(const void *function) {
  Dl_info info;
  return undead_find_address(function, &info) && info.dli_fname ? info.dli_fname : "an unknown library";
}

// The hooks work only if the program calls them first.
static const char *foreign_allocator(void) {
  const void *first = undead_symbol(RTLD_DEFAULT, "malloc");
  if (first && !is_own_address(first))
    return explain("memory is allocated by ", owner_of(first), ", which comes before the recorder of allocations");
  const char *why = undead_allocator_refusal();
  if (why) return explain(undead_allocator_name(), " allocates the memory, which cannot be recorded with ", why);
  return NULL;
}

const char *undead_sanitizer_reason(void) {
  const char *name = sanitizer();
  return name ? explain("the program is built with or runs under ", name, ", which replaces the allocator") : NULL;
}

const char *undead_stand_aside_reason(void) {
  const char *why = undead_sanitizer_reason();
  return why ? why : foreign_allocator();
}
