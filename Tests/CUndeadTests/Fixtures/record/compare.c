// UNDEAD_COMPARE=N: compares each Nth backtrace with libunwind's, frame by frame, and prints the differences when the program ends.
#include "platform/system/environment.h"
#include "platform/images/c_library.h"
#include "platform/system/read_text.h"
#include "platform/memory/thread_state.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "record/mode.h"
#include "record/way.h"
#include "unwind/backtrace.h"
#include "unwind/pc_table.h"
#include "unwind/rules/libunwind.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FRAMES 256u
#define MAX_REFERENCE (MAX_FRAMES + 16)   // with the recorder's own
#define KEPT_DIFFERENCES 16u

typedef struct {
  uint32_t own_count, reference_count, first_difference;
  uintptr_t own[MAX_FRAMES], reference[MAX_FRAMES];
} difference;

static difference *differences;
static uint64_t captured, compared, differing, interval = 1;

static void keep_difference(const difference *found) {
  uint64_t index = __atomic_fetch_add(&differing, 1, __ATOMIC_RELAXED);
  if (differences && index < KEPT_DIFFERENCES) differences[index] = *found;
}

// The address after a signal trampoline is one further here, see walk_x86_64.c.
static bool is_equal(const difference *found, uint32_t index) {
  uintptr_t own = found->own[index], reference = found->reference[index];
  return own == reference || (index > 0 && own == reference + 1);
}

static int read_unload_count(struct dl_phdr_info *info, size_t size, void *count) {
  (void)size;
  *(unsigned long long *)count = info->dlpi_subs;
  return 1;
}

// The reference must not depend on what is compared with it, so that it asks the loader itself for unloaded images.
static void keep_reference_fresh(void) {
  static unsigned long long known_unloads;
  unsigned long long unloads = 0;
  dl_iterate_phdr(read_unload_count, &unloads);
  if (__atomic_exchange_n(&known_unloads, unloads, __ATOMIC_RELAXED) != unloads) undead_libunwind_images_unloaded();
}

// libunwind does not get out of functions without unwind information and frame pointer: no reference from there on.
static void cut_where_reference_ends(difference *found) {
  undead_rule rule = 0;
  uint32_t index = 0;
  while (index < found->own_count && undead_pc_find(found->own[index], &rule) != UNDEAD_PC_NONE &&
         !(rule & UNDEAD_RULE_FOLLOWED))
    index++;
  if (index == found->own_count) return;
  found->own_count = index + 1;
  if (found->reference_count > found->own_count) found->reference_count = found->own_count;
}

static void compare(difference *found, uintptr_t *reference, uint32_t id, uintptr_t pc) {
  keep_reference_fresh();
  uint32_t count = undead_backtrace_libunwind(reference, MAX_REFERENCE), first = 0;
  while (first < count && reference[first] != pc) first++;
  if (first == count) return;
  found->reference_count = count - first < MAX_FRAMES ? count - first : MAX_FRAMES;
  memcpy(found->reference, reference + first, found->reference_count * sizeof *reference);
  found->own_count = undead_backtrace_frames(id, found->own, MAX_FRAMES);
  cut_where_reference_ends(found);
  uint32_t shorter = found->own_count < found->reference_count ? found->own_count : found->reference_count;
  uint32_t index = 0;
  while (index < shorter && is_equal(found, index)) index++;
  found->first_difference = index;
  __atomic_fetch_add(&compared, 1, __ATOMIC_RELAXED);
  if (index < shorter || found->own_count != found->reference_count) keep_difference(found);
}

static void watch(uint32_t id, uintptr_t pc) {
  if (undead_record_mode != UNDEAD_RECORD_BACKTRACES) return;
  if (__atomic_fetch_add(&captured, 1, __ATOMIC_RELAXED) % interval != 0 || undead_thread.ignored) return;
  undead_thread.ignored++;
  difference *found = undead_map(sizeof *found);
  uintptr_t *reference = undead_map(MAX_REFERENCE * sizeof *reference);
  // Without memory it counts as captured, and not as compared.
  if (found && reference) compare(found, reference, id, pc);
  if (reference) undead_unmap(reference, MAX_REFERENCE * sizeof *reference);
  if (found) undead_unmap(found, sizeof *found);
  undead_thread.ignored--;
}

static void print_frames(const char *title, const uintptr_t *frames, uint32_t count, uint32_t from) {
  uint32_t start = from > 2 ? from - 2 : 0;
  for (uint32_t index = start; index < count && index < start + 6; index++) {
    Dl_info info = {0};
    bool known = undead_find_address((void *)(frames[index] - 1), &info) != 0;
    dprintf(STDERR_FILENO, "  %s[%u] %#lx %s %s\n", title, index, frames[index], known ? info.dli_fname : "?",
            known && info.dli_sname ? info.dli_sname : "?");
  }
}

__attribute__((constructor)) static void prepare(void) {
  const char *text = undead_setting("UNDEAD_COMPARE");
  uint64_t wanted = text ? undead_read_number(text, 10, NULL) : 0;
  if (!wanted || undead_record_decide() != UNDEAD_RECORD_BACKTRACES) return;
  interval = wanted;
  differences = undead_map(KEPT_DIFFERENCES * sizeof *differences);
  undead_backtrace_load_libunwind();
  undead_capture_watcher = watch;
  undead_way_choose();
}

__attribute__((destructor)) static void report(void) {
  if (!undead_capture_watcher) return;
  undead_record_stop();
  dprintf(STDERR_FILENO, "undead: compared %lu of %lu backtraces, %lu differ\n", compared, captured, differing);
  for (uint64_t index = 0; index < differing && index < KEPT_DIFFERENCES && differences; index++) {
    const difference *found = &differences[index];
    dprintf(STDERR_FILENO, " difference at frame %u of %u, reference has %u\n", found->first_difference,
            found->own_count, found->reference_count);
    print_frames("own", found->own, found->own_count, found->first_difference);
    print_frames("ref", found->reference, found->reference_count, found->first_difference);
  }
}
