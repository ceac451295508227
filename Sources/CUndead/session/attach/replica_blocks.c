// The blocks of a program that was not recorded.
#include "glibc/heap.h"
#include "platform/images/c_library.h"
#include "platform/maps/holes.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"
#include "platform/processor/registers.h"
#include "platform/maps/segments.h"
#include "platform/processor/thread_storage.h"
#include "record/registry.h"
#include "session/attach/replica.h"
#include "session/buffers/buffers.h"
#include "world/crew.h"
#include "world/helper.h"
#include "zombies/zombies.h"
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define MOST_ATTEMPTS 64

static undead_glibc_heap heap;

static int visit_image(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size, (void)context;
  uintptr_t own = (uintptr_t)__builtin_thread_pointer(), inside = (uintptr_t)gnu_get_libc_version;
  undead_segments segments = undead_segments_of(info->dlpi_phdr, info->dlpi_phnum);
  if (inside < info->dlpi_addr + segments.low || inside >= info->dlpi_addr + segments.high) return 0;
  undead_glibc_area data = {UINTPTR_MAX, 0};
  size_t storage = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uintptr_t low = info->dlpi_addr + segment->p_vaddr, high = low + segment->p_memsz;
    if (segment->p_type == PT_TLS) storage = segment->p_memsz;
    if (segment->p_type == PT_LOAD && segment->p_flags & PF_W) data = (undead_glibc_area){low, high};
  }
  heap.data = data;
  undead_storage_places(own, (uintptr_t)info->dlpi_tls_data, storage, &heap.storage_near, &heap.storage_far);
  return 1;
}

static bool list_threads(const undead_replica_request *request) {
  const undead_replica_thread *threads = (const undead_replica_thread *)request->threads;
  size_t room = request->thread_count + 1ull;
  uintptr_t *pointers = undead_map(2 * room * sizeof *pointers), *stacks = pointers + room;
  if (!pointers) return false;
  heap.thread_count = 0;
  heap.threads = pointers;
  heap.stack_pointers = stacks;
  for (uint32_t i = 0; i < request->thread_count; i++) {
    undead_user_registers registers;
    memcpy(&registers, threads[i].registers, sizeof registers);
    if (!undead_user_tp(&registers)) continue;
    stacks[heap.thread_count] = undead_user_sp(&registers);
    pointers[heap.thread_count++] = undead_user_tp(&registers);
  }
  return true;
}

static void tell(undead_replica_request *request, const char *what, const char *detail) {
  undead_text text = undead_text_in(request->message, sizeof(request->message));
  undead_text_join(&text, what, detail, "; glibc ", gnu_get_libc_version());
}

// Without locks, as in a program with one thread, only an instruction in libc's code says that somebody is at work there.
static bool is_somebody_in_libc(const undead_replica_request *request) {
  const undead_replica_thread *threads = (const undead_replica_thread *)request->threads;
  for (uint32_t i = 0; i < request->thread_count; i++) {
    undead_user_registers registers;
    memcpy(&registers, threads[i].registers, sizeof registers);
    char path[4096];
    bool in_call = threads[i].flags & UNDEAD_REPLICA_IN_CALL;
    if (!in_call && undead_mapping_path(undead_user_pc(&registers), path, sizeof path) && strstr(path, "/libc")) return true;
  }
  return false;
}

static void see_sampled(uintptr_t block, uintptr_t twin) {
  (void)twin;
  undead_registry_see(block);
}

static void forget_twin(uintptr_t block, uintptr_t twin) {
  (void)block;
  uint32_t *word = twin ? undead_registry_slot(twin) : NULL;
  if (word) *word = 0;
}

// What a second thread asks the kernel for: the pages of the registry that a walk of chunks is about to fill, which take about
// half of its time. Not all at once: a large free chunk needs none.
static struct {
  uintptr_t low, high;
  uint32_t walked;   // 1: no more is needed
} ahead;

static bool is_walked(void) { return __atomic_load_n(&ahead.walked, __ATOMIC_ACQUIRE) || undead_crew_leaves(); }

static void ask_for_pages(uintptr_t low, uintptr_t high) {
  undead_leaf *leaf = undead_registry_leaf(low);
  if (!leaf) return;
  uintptr_t from = (uintptr_t)&leaf->word[low >> 4 & (UNDEAD_LEAF_GRANULES - 1)];
  uintptr_t to = from + (high - low) / 16 * sizeof *leaf->word;
  uintptr_t page = undead_page_of(from);
  undead_raw3(SYS_madvise, (long)page, (long)(undead_page_from(to) - page), UNDEAD_MADV_POPULATE_WRITE);
}

static void work_ahead(void *unused, uint32_t index) {
  enum { PART = 4 << 20, MOST_AHEAD = 32 << 20 };
  const struct timespec moment = {0, 50000};
  (void)unused, (void)index;
  for (uintptr_t at = ahead.low & ~(uintptr_t)(PART - 1); at < ahead.high; at += PART) {
    uintptr_t walked;
    while ((walked = __atomic_load_n(&heap.walked, __ATOMIC_RELAXED)) + MOST_AHEAD < at && !is_walked())
      undead_raw3(SYS_nanosleep, (long)&moment, 0, 0);
    if (is_walked()) return;
    if (walked > at) at = walked & ~(uintptr_t)(PART - 1);
    ask_for_pages(at, at + PART);
  }
}

static void before_walk(uintptr_t low, uintptr_t high) {
  // The thread has no storage of its own, so it can map nothing.
  for (uintptr_t at = low; at < high; at += 1ull << UNDEAD_LEAF_SHIFT)
    if (!undead_registry_leaf(at)) undead_registry_leaf_slow(at);
  ahead.low = low;
  ahead.high = high;
  ahead.walked = undead_crew_size(false) < 2 || !undead_crew_start(1, work_ahead, NULL);
}

static void after_walk(void) {
  if (ahead.walked) return;
  __atomic_store_n(&ahead.walked, 1, __ATOMIC_RELEASE);
  undead_crew_join();
}

static int find_work(void *result) {
  undead_zombies_each_sampled(see_sampled);
  *(undead_glibc_result *)result = undead_glibc_find(&heap);
  undead_zombies_each_sampled(forget_twin);
  return 0;
}

// Pages of the map that cannot be read (guards, for one) show when they are met.
static undead_glibc_result find_blocks(void) {
  undead_glibc_result result = UNDEAD_GLIBC_NO_MEMORY;
  for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    undead_helper_report report = undead_helper_run(find_work, &result, 0);
    if (report.end == UNDEAD_HELPER_DONE) return result;
    bool hole = report.value == SIGSEGV || report.value == SIGBUS;
    if (!hole || !undead_hole_note(report.fault) || !undead_maps_refresh()) break;
    undead_glibc_start_again(&heap);
  }
  undead_text_copy(heap.message, sizeof heap.message, "they cannot be read");
  return UNDEAD_GLIBC_UNSETTLED;
}

// What the program calls by the name of malloc, if it is not libc's: the path of its file, else NULL.
static const char *other_allocator(void) {
  const undead_module *libc = undead_module_of((uintptr_t)gnu_get_libc_version);
  void *program = undead_open_library(NULL, RTLD_LAZY);   // not this library, which has its own functions first
  const undead_module *module = program ? undead_module_of((uintptr_t)undead_symbol(program, "malloc")) : NULL;
  return module && libc && module != libc ? module->path : NULL;
}

undead_replica_end undead_replica_find_blocks(undead_replica_request *request) {
  const char *other = other_allocator();
  if (other) {
    bool is_ours = strstr(other, "/libUndeadPreload.") != NULL;
    tell(request, is_ours ? "the program ran under undead, whose records hold all blocks; look at it while it runs, or take a core without: "
                          : "the program has another allocator than glibc's, whose blocks cannot be found: ", other);
    return UNDEAD_REPLICA_ALLOCATOR_UNKNOWN;
  }
  if (!dl_iterate_phdr(visit_image, NULL) || !list_threads(request)) {
    tell(request, "the C library was not found", "");
    return UNDEAD_REPLICA_ALLOCATOR_UNKNOWN;
  }
  heap.ended = request->flags & UNDEAD_REPLICA_CORE;
  heap.before_walk = before_walk;
  heap.after_walk = after_walk;
  switch (find_blocks()) {
  case UNDEAD_GLIBC_OK: return UNDEAD_REPLICA_DONE;
  case UNDEAD_GLIBC_LOCKED:
    // What has ended can not be looked at again.
    tell(request, heap.ended ? "malloc's tables do not agree: " : "malloc is at work: ", heap.message);
    return heap.ended ? UNDEAD_REPLICA_ALLOCATOR_UNKNOWN : UNDEAD_REPLICA_ALLOCATOR_BUSY;
  case UNDEAD_GLIBC_NO_MEMORY: tell(request, "there is no memory for the table of blocks", ""); return UNDEAD_REPLICA_FAILED;
  case UNDEAD_GLIBC_UNSETTLED:
    tell(request, "malloc's tables do not agree: ", heap.message);
    return !heap.ended && is_somebody_in_libc(request) ? UNDEAD_REPLICA_ALLOCATOR_BUSY : UNDEAD_REPLICA_ALLOCATOR_UNKNOWN;
  case UNDEAD_GLIBC_UNKNOWN: break;
  }
  // An arena some of whose lists are just changed is none by its looks.
  tell(request, "the allocator is not understood: ", heap.message);
  return !heap.ended && is_somebody_in_libc(request) ? UNDEAD_REPLICA_ALLOCATOR_BUSY : UNDEAD_REPLICA_ALLOCATOR_UNKNOWN;
}
