// Whether a new block may be a leak that an assertion reports, before any scan: by its first word, and by the frames that
// allocated it. What test libraries make for themselves is none. What was found out of a backtrace or library is kept.
#include "session/check/check.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "record/registry.h"
#include "runtime/abi.h"
#include "scan/graph.h"
#include "unwind/backtrace.h"
#include "unwind/settings.h"
#include <string.h>

typedef struct {
  bool runner;         // only a test library, for itself: no code of the program took part
  bool test_library;   // a test library, while it did something for the program
  bool direct;         // the program's own code, which called nothing but an allocator
} maker;

// Libraries that matter here; many frames are asked about.
enum { KNOWN = 1, TEST_LIBRARY = 2, HAS_ALLOCATORS = 4, HAS_CLOSURES_OF_C = 8, MOST_MODULES = 1024 };

static uint8_t find_kind(const undead_module *module) {
  uint8_t kind = KNOWN;
  if (!module->toolchain) return kind;
  if (strstr(module->path, "/libXCTest.so")) kind |= TEST_LIBRARY;
  // Functions of these return memory that then belongs to their caller (scan/paths/decide.c has their names).
  if (strstr(module->path, "/libswiftCore.so") || strstr(module->path, "/libc.so")) kind |= HAS_ALLOCATORS;
  if (strstr(module->path, "/libdispatch.so") || strstr(module->path, "/libBlocksRuntime.so")) kind |= HAS_CLOSURES_OF_C;
  return kind;
}

// Under the lock of checks.
static bool is_library(const undead_module *module, uint8_t kind) {
  static uint8_t kinds[MOST_MODULES];
  static uint32_t generation;
  size_t index = (size_t)(module - undead_module_at(0));
  if (index >= MOST_MODULES) return find_kind(module) & kind;
  if (generation != undead_modules_generation) memset(kinds, 0, sizeof kinds);
  generation = undead_modules_generation;
  if (!kinds[index]) kinds[index] = find_kind(module);
  return kinds[index] & kind;
}

// The main function of a test program, which does nothing but call XCTest, is no code of the program.
static maker find_maker(uint32_t backtrace) {
  uintptr_t frames[UNDEAD_DEPTH_LIMIT];
  uint32_t count = undead_backtrace_frames(backtrace, frames, UNDEAD_DEPTH_LIMIT);
  bool in_library = false, in_main = false;
  maker result = {.direct = true};
  for (uint32_t i = 0; i < count; i++) {
    const undead_module *module = undead_module_of(frames[i] - 1);
    if (!module) return (maker){.direct = true};
    if (!module->toolchain && !in_main && !in_library) return result;
    in_main |= !module->toolchain;
    in_library = is_library(module, TEST_LIBRARY);
    result.test_library |= in_library && !in_main;
    result.direct &= is_library(module, HAS_ALLOCATORS);
    if (in_main && in_library) return result;
  }
  result.runner = count > 0;
  return result;
}

// What a test library allocates for itself comes from the same places in each test. Under the lock of checks.
static maker maker_of(uint32_t backtrace) {
  enum { KNOWN_MAKERS = 512 };
  static struct {
    uint32_t backtrace;
    maker made;
  } known[KNOWN_MAKERS];
  static uint32_t generation, epoch;
  uint32_t now = undead_backtrace_epoch();
  if (generation != undead_modules_generation || epoch != now) memset(known, 0, sizeof known);
  generation = undead_modules_generation;
  epoch = now;
  backtrace = undead_backtrace_unscoped(backtrace);
  size_t place = (backtrace ^ backtrace >> 9) % KNOWN_MAKERS;
  if (known[place].backtrace != backtrace) {
    known[place].made = find_maker(backtrace);
    known[place].backtrace = backtrace;
  }
  return known[place].made;
}

enum { LARGEST_KIND = 4096 };   // of metadata, and more

// Metadata can be read, and begins with a small number. Tables of C++, values' witnesses and what else lies in an image begin with an
// address. The kernel has copied a word of the block: if it does not copy this one, there is no memory.
static bool begins_like_metadata(uintptr_t word) {
  uintptr_t kind;
  return undead_copy_memory(word, &kind, sizeof kind) && kind < LARGEST_KIND;
}

// The address of a type's metadata, perhaps: what libdispatch and others have there is known not to be one. Bytes may look like an
// address: the runtime's tables of types begin with what the addresses of these types make of them (ConcurrentReadableHashMap).
static bool may_be_metadata(uintptr_t word) {
  if ((word & 7) || word < 4096 || word >> UNDEAD_ADDRESS_BITS) return false;
  // Lists and side tables begin with the address of another block; no metadata lies at the start of one.
  if (undead_registry_knows(word)) return false;
  const undead_module *module = undead_module_of(word);
  return !(module && is_library(module, HAS_CLOSURES_OF_C)) && begins_like_metadata(word);
}

// Such as an XCTestExpectation that the program asked for, other than what the library needs for it.
static bool is_class_of_test_library(uintptr_t metadata) {
  const undead_module *module = undead_module_of(metadata);
  uintptr_t kind;
  // Between the segments of an image there may be pages that cannot be read.
  return module && is_library(module, TEST_LIBRARY) && undead_copy_memory(metadata, &kind, sizeof kind) && kind == ABI_KIND_CLASS;
}

// Exported by the concurrency library: what each piece of a task's memory begins with (stdlib/public/Concurrency/Debug.h).
extern const void *const _swift_concurrency_debug_asyncTaskSlabMetadata __attribute__((weak));

// It goes with its task, which is a block of its own and leaks with it; what lies in it is none.
static bool is_memory_of_task(uintptr_t word) {
  return &_swift_concurrency_debug_asyncTaskSlabMetadata && word == (uintptr_t)_swift_concurrency_debug_asyncTaskSlabMetadata;
}

bool undead_may_be_leak(uintptr_t block, uint32_t backtrace) {
  if (undead_module_count() == 0) undead_modules_refresh();
  maker made = maker_of(backtrace);
  if (made.runner) return false;
  uintptr_t word;
  if (!undead_copy_memory(block, &word, sizeof(word))) return true;   // another thread may have freed it
  if (is_memory_of_task(word)) return false;
  bool object = may_be_metadata(word);
  if (made.test_library) return object && is_class_of_test_library(word);
  // Of the rest a look reports what is of Swift code; what the runtime keeps for itself, such as its tables of types, is not.
  return object || (made.direct && undead_graph_is_raw_of_swift(backtrace));
}
